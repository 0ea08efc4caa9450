"""The ways to prove a step; each raises `Gap` when it does not, for whatever reason."""

from rnnbounds.theory.proof.methods.base import GIVEN, RANGE, Direct, Gap, Method, Scope
from rnnbounds.theory.proof.methods.calculus import BallMaximum, Elementary, Exact, Monotone
from rnnbounds.theory.proof.methods.identity import Identity, Words
from rnnbounds.theory.proof.methods.induction import HYPOTHESIS, Induction
from rnnbounds.theory.proof.methods.smt import Smt

__all__ = [
    "GIVEN", "HYPOTHESIS", "RANGE", "BallMaximum", "Direct", "Elementary", "Exact", "Gap",
    "Identity", "Induction", "Method", "Monotone", "Scope", "Smt", "Words",
]  # fmt: skip
