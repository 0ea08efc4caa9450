"""The ways to prove a step; each raises `Gap` when it does not, for whatever reason."""

from rnnbounds.theory.proof.methods.base import GIVEN, RANGE, Direct, Gap, Method, Scope
from rnnbounds.theory.proof.methods.calculus import BallMaximum, Elementary, Exact, Monotone
from rnnbounds.theory.proof.methods.cases import Cases
from rnnbounds.theory.proof.methods.identity import Identity, Words
from rnnbounds.theory.proof.methods.induction import HYPOTHESIS, Induction
from rnnbounds.theory.proof.methods.smt import Smt

# All there are; a part of a composite one, the fields named, is a direct one.
DIRECT: frozenset[type] = frozenset((Elementary, Exact, Identity, Smt, Words))
COMPOSITE: dict[type, tuple[str, ...]] = {
    BallMaximum: (), Cases: (), Induction: ("base", "step"), Monotone: ("base", "slope", "inside"),
}  # fmt: skip

__all__ = [
    "COMPOSITE", "DIRECT", "GIVEN", "HYPOTHESIS", "RANGE", "BallMaximum", "Cases", "Direct",
    "Elementary", "Exact", "Gap", "Identity", "Induction", "Method", "Monotone", "Scope", "Smt",
    "Words",
]  # fmt: skip
