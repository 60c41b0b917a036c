"""Saved schedules, each made as small as it gets, of printed steps that fail."""

from __future__ import annotations

from pathlib import Path

TRACES = Path(__file__).parent
