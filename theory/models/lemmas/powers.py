"""Lemmas on the powers of a number that several ledgers share, themselves proved by induction."""

from sympy import Expr, Integer

from theory.language.statement import eq, le
from theory.language.terms.vectors import j, m
from theory.language.vocabulary import symbols
from theory.proof.proof import Step
from theory.proof.steps import step

(lam,) = symbols("lam")


def power(lam: Expr) -> Step:
    """λ^j ≥ 0."""
    return step("power not negative", le(Integer(0), lam**j), forall=(j,)).by_induction()


def power_sum(lam: Expr) -> Step:
    """λ^{j+m} = λ^j λ^m."""
    return step("power of a sum", eq(lam ** (j + m), lam**j * lam**m), forall=(j, m)).by_induction()


def power_at_most_one(lam: Expr) -> Step:
    """λ^j ≤ 1."""
    return step("power at most one", le(lam**j, Integer(1)), forall=(j,)).by_induction(
        step="contractive"
    )


POWER_NOT_NEGATIVE = power(lam)
POWER_AT_LEAST_ONE = step("power at least one", le(Integer(1), lam**j), forall=(j,)).by_induction(
    step="expansive"
)
