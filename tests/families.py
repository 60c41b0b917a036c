"""The algorithms by family: what runs on processes, and what runs on stations and hosts."""

from __future__ import annotations

from testbed.algorithms import algorithms

STATIC = {name: algorithm for name, algorithm in algorithms().items() if not algorithm.is_mobile}
MOBILE = {name: algorithm for name, algorithm in algorithms().items() if algorithm.is_mobile}
