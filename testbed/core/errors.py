"""Every error of the testbed, sorted by whose fault it is.

    CausalbedError
      BadInput            the user: names file, key, what it got, what it takes   (exit 64)
      DamagedRun          a run directory or trace that cannot be trusted          (exit 3)
      MalformedFrame      a peer: bytes that are not a packet; the node lives on
      ContractViolation   an algorithm: it asked its shell for something forbidden (exit 3)
      EngineError         us: the harness failed                                   (exit 3)

A causal violation is none of these: it is a result, with a witness.
"""

from __future__ import annotations


class CausalbedError(Exception):
    """Base of all; raise one of the leaves, which say whose fault it is."""

    exit_code = 3


class BadInput(CausalbedError):
    """The user can mend this; the text is one sentence that says how."""

    exit_code = 64


class DamagedRun(CausalbedError):
    """A trace or manifest is missing, truncated or of another shape."""


class MalformedFrame(CausalbedError):
    """Bytes arrived that no sender of this algorithm can have encoded."""


class ContractViolation(CausalbedError):
    """An algorithm broke a rule of the Node contract: which node, which rule."""

    def __init__(self, algorithm: str, node: int, rule: str) -> None:
        super().__init__(f"algorithm {algorithm} at node {node}: {rule}")


class EngineError(CausalbedError):
    """The harness failed; the run says nothing about the algorithm."""
