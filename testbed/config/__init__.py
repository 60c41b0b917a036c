"""Experiment files: YAML to a validated tree, and from there to plans."""
