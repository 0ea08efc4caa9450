"""The ways to prove a step; each raises `Gap` when it does not, for whatever reason."""

from rnnbounds.theory.proof.methods.base import GIVEN, RANGE, Direct, Gap, Method, Scope
from rnnbounds.theory.proof.methods.calculus import BallMaximum
from rnnbounds.theory.proof.methods.cases import Cases
from rnnbounds.theory.proof.methods.induction import HYPOTHESIS, Induction
from rnnbounds.theory.proof.methods.smt import Smt, Words

# All there are; a part of a composite one, the fields named, is a direct one.
DIRECT: frozenset[type] = frozenset((Smt, Words))
COMPOSITE: dict[type, tuple[str, ...]] = {
    BallMaximum: (), Cases: (), Induction: ("base", "step")
}  # fmt: skip

__all__ = [
    "COMPOSITE", "DIRECT", "GIVEN", "HYPOTHESIS", "RANGE", "BallMaximum", "Cases", "Direct", "Gap",
    "Induction", "Method", "Scope", "Smt", "Words",
]  # fmt: skip
