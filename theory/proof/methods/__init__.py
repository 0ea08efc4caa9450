"""The ways to prove a step; each raises `Gap` when it does not, for whatever reason."""

from theory.proof.methods.ball import BallMaximum
from theory.proof.methods.base import GIVEN, RANGE, Direct, Gap, Method, Scope
from theory.proof.methods.elementary import Elementary
from theory.proof.methods.exact import Exact
from theory.proof.methods.identity import Identity
from theory.proof.methods.induction import HYPOTHESIS, Induction
from theory.proof.methods.monotone import Monotone
from theory.proof.methods.smt import Smt
from theory.proof.methods.words import Words

__all__ = [
    "GIVEN", "HYPOTHESIS", "RANGE", "BallMaximum", "Direct", "Elementary", "Exact", "Gap",
    "Identity", "Induction", "Method", "Monotone", "Scope", "Smt", "Words",
]  # fmt: skip
