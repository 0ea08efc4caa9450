"""Lemmas on powers that several ledgers share, themselves proved by induction."""

from sympy import Integer

from theory.language.law import at
from theory.language.statement import eq, le
from theory.language.terms.vectors import j, m
from theory.language.vocabulary import symbols
from theory.proof.steps import induction

(lam,) = symbols("lam")

POWER_SUM = induction("power of a sum", eq(lam ** (j + m), lam**j * lam**m), forall=(j, m))
POWER_NOT_NEGATIVE = induction("power not negative", le(Integer(0), lam**j), forall=(j,))
POWER_AT_MOST_ONE = induction(
    "power at most one",
    le(lam**j, Integer(1)),
    step=("contractive", at("power not negative", j)),
    forall=(j,),
)
POWER_AT_LEAST_ONE = induction(
    "power at least one", le(Integer(1), lam**j), step="expansive", forall=(j,)
)
