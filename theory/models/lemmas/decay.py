"""How fast λ^j decays: λ^j = exp(−j ln(1/λ))."""

from sympy import Expr, log

from theory.axioms.base import EXPONENTIAL, LOGARITHM
from theory.language.law import Assumption, Use
from theory.language.statement import Statement, eq
from theory.language.terms.vectors import exponential, j
from theory.proof.proof import Step
from theory.proof.steps import step


def rate_of(lam: Expr) -> Expr:
    """ln(1/λ)."""
    return log(1 / lam)


def decay(lam: Expr) -> Step:
    """exp(j ln(1/λ)) λ^j = 1."""
    rate = rate_of(lam)
    return step("decay", eq(exponential(j * rate) * lam**j, 1), forall=(j,)).by_induction(
        base=EXPONENTIAL.at(0, 0),
        step=(EXPONENTIAL.at(j * rate, rate), LOGARITHM.at(1 / lam), "memory"),
    )


def positive_rate(lam: Expr) -> tuple[Use, ...]:
    """ln(1/λ) > 0, since exp(ln(1/λ)) = 1/λ > 1 = exp(0)."""
    rate = rate_of(lam)
    return (EXPONENTIAL.at(rate, 0), LOGARITHM.at(1 / lam), "memory", "contractive")


def long_window(text: str, condition: Statement) -> Assumption:
    """The window has at least so many steps."""
    return Assumption("long window", f"the window is long enough: k ≥ {text}", condition)
