"""causalbed: causal ordering algorithms, run live, traced and audited."""

__version__ = "0.1.0"
