"""Language of claims: statements, laws, the symbols of the vocabulary.

Terms, printing and parsing are in the modules of their names.
"""

from rnnbounds.theory.language.definitions import define
from rnnbounds.theory.language.law import (
    Assumption,
    Axiom,
    Clause,
    Instance,
    Law,
    Use,
    assume,
    at,
    axioms_in,
    law,
)  # fmt: skip
from rnnbounds.theory.language.statement import ONE, ZERO, Statement, eq, exists, le, lt, ne
from rnnbounds.theory.language.vocabulary import enter, symbols

__all__ = [
    "ONE", "ZERO", "Assumption", "Axiom", "Clause", "Instance", "Law", "Statement", "Use",
    "assume", "at", "axioms_in", "define", "enter", "eq", "exists", "law", "le", "lt",
    "ne", "symbols"
]  # fmt: skip
