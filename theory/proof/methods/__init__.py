"""The ways to prove a step; each raises `Gap` when it does not, for whatever reason."""

from theory.proof.methods.base import Gap, Method
from theory.proof.methods.exact import Exact
from theory.proof.methods.identity import Identity
from theory.proof.methods.induction import Induction
from theory.proof.methods.monotone import Monotone
from theory.proof.methods.smt import Smt
from theory.proof.methods.words import Words

__all__ = ["Exact", "Gap", "Identity", "Induction", "Method", "Monotone", "Smt", "Words"]
