"""Lemmas on powers that several ledgers share, themselves proved by induction."""

from sympy import Integer

from theory.language.law import at
from theory.language.statement import eq, le
from theory.language.terms.vectors import j, m
from theory.language.vocabulary import symbols
from theory.proof.methods import Induction, Smt
from theory.proof.methods.induction import HYPOTHESIS
from theory.proof.proof import Step

(lam,) = symbols("lam")

POWER_SUM = Step(
    "power of a sum",
    eq(lam ** (j + m), lam**j * lam**m),
    Induction(j, base=Smt(), step=Smt(HYPOTHESIS)),
    forall=(j, m),
)
POWER_NOT_NEGATIVE = Step(
    "power not negative",
    le(Integer(0), lam**j),
    Induction(j, base=Smt(), step=Smt(HYPOTHESIS)),
    forall=(j,),
)
POWER_AT_MOST_ONE = Step(
    "power at most one",
    le(lam**j, Integer(1)),
    Induction(
        j,
        base=Smt(),
        step=Smt(HYPOTHESIS, "contractive", at("power not negative", j)),
    ),
    forall=(j,),
)
POWER_AT_LEAST_ONE = Step(
    "power at least one",
    le(Integer(1), lam**j),
    Induction(j, base=Smt(), step=Smt(HYPOTHESIS, "expansive")),
    forall=(j,),
)
