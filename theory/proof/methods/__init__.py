"""The ways to prove a step; each raises `Gap` when it does not, for whatever reason."""

from rnnbounds.theory.proof.methods.ball import BallMaximum
from rnnbounds.theory.proof.methods.base import GIVEN, RANGE, Direct, Gap, Method, Scope
from rnnbounds.theory.proof.methods.elementary import Elementary
from rnnbounds.theory.proof.methods.exact import Exact
from rnnbounds.theory.proof.methods.identity import Identity
from rnnbounds.theory.proof.methods.induction import HYPOTHESIS, Induction
from rnnbounds.theory.proof.methods.monotone import Monotone
from rnnbounds.theory.proof.methods.smt import Smt
from rnnbounds.theory.proof.methods.words import Words

__all__ = [
    "GIVEN", "HYPOTHESIS", "RANGE", "BallMaximum", "Direct", "Elementary", "Exact", "Gap",
    "Identity", "Induction", "Method", "Monotone", "Scope", "Smt", "Words",
]  # fmt: skip
