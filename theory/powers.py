"""Lemmas on powers that several ledgers share, themselves proved by induction."""

from sympy import Integer

from theory.law import at
from theory.methods import Induction, Smt
from theory.methods.induction import HYPOTHESIS
from theory.proof import Step
from theory.statement import eq, le
from theory.terms import j, m
from theory.vocabulary import symbols

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
