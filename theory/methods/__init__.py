"""The ways to prove a step; each raises `Gap` when it does not, for whatever reason."""

from theory.methods.base import Gap, Method
from theory.methods.exact import Exact
from theory.methods.identity import Identity
from theory.methods.induction import Induction
from theory.methods.monotone import Monotone
from theory.methods.smt import Smt
from theory.methods.words import Words

__all__ = ["Exact", "Gap", "Identity", "Induction", "Method", "Monotone", "Smt", "Words"]
