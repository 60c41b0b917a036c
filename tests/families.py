"""The algorithms by family: on processes, on stations and hosts, and those that know deadlines."""

from __future__ import annotations

from testbed.algorithms import algorithms
from testbed.core.algorithm import Guarantee

MOBILE = {name: algorithm for name, algorithm in algorithms().items() if algorithm.is_mobile}
DEADLINE = {
    name: algorithm
    for name, algorithm in algorithms().items()
    if algorithm.guarantee is Guarantee.DEADLINE
}
STATIC = {
    name: algorithm
    for name, algorithm in algorithms().items()
    if name not in MOBILE and name not in DEADLINE
}
