"""The ways to prove a step; each raises `Gap` when it does not, for whatever reason."""

from rnnbounds.theory.proof.methods.base import (
    GIVEN,
    HYPOTHESIS,
    RANGE,
    Direct,
    Gap,
    Induction,
    Method,
    Scope,
    Smt,
    Words,
)
from rnnbounds.theory.proof.methods.calculus import BallMaximum
from rnnbounds.theory.proof.methods.cases import Cases

# All there are; a part of a composite one, the fields named, is a direct one.
DIRECT: frozenset[type] = frozenset((Smt, Words))
COMPOSITE: dict[type, tuple[str, ...]] = {
    BallMaximum: (), Cases: (), Induction: ("base", "step")
}  # fmt: skip

__all__ = [
    "COMPOSITE", "DIRECT", "GIVEN", "HYPOTHESIS", "RANGE", "BallMaximum", "Cases", "Direct", "Gap",
    "Induction", "Method", "Scope", "Smt", "Words",
]  # fmt: skip
