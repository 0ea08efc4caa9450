"""Lemmas on powers that several ledgers share: how λ^j decays, and which windows are long."""

from sympy import Expr, Integer, log

from rnnbounds.theory.axioms.base import EXPONENTIAL, LOGARITHM
from rnnbounds.theory.axioms.powers import GELFAND
from rnnbounds.theory.language import ZERO, Assumption, Statement, Use, at, eq, le, symbols
from rnnbounds.theory.language.terms.unitary import ratio
from rnnbounds.theory.language.terms.variables import j, m, s
from rnnbounds.theory.language.terms.vectors import exponential
from rnnbounds.theory.proof import Step, step

(lam,) = symbols("lam")


def power_nonnegative(lam: Expr) -> Step:
    """Step: λ^j ≥ 0."""
    return step("power not negative", le(Integer(0), lam**j), forall=(j,)).by_induction()


def power_of_sum(lam: Expr) -> Step:
    """Step: λ^{j+m} = λ^j λ^m."""
    return step("power of a sum", eq(lam ** (j + m), lam**j * lam**m), forall=(j, m)).by_induction()


def power_at_most_one(lam: Expr) -> Step:
    """Step: λ^j ≤ 1."""
    return step("power at most one", le(lam**j, Integer(1)), forall=(j,)).by_induction(
        step="contractive"
    )


POWER_NOT_NEGATIVE = power_nonnegative(lam)
POWER_AT_LEAST_ONE = step("power at least one", le(Integer(1), lam**j), forall=(j,)).by_induction(
    step="expansive"
)


def fading(A: Expr, v: Expr, *stable: Use) -> tuple[Step, ...]:
    """0 ≤ q^j, and q^{s+j+1} ≤ q^s, of the q < 1 with ‖A^j v‖ ≤ c q^j; `stable` bounds the spectral
    radius of A below 1."""
    q, known = ratio(A), (*stable, GELFAND.at(A, v, 0))
    return (
        step("powers of the ratio", le(ZERO, q**j), forall=(j,)).by_induction(step=known),
        step("later powers", le(q ** (s + j + 1), q**s), forall=(s, j)).by_induction(
            base=(*known, at("powers of the ratio", s)),
            step=(*known, at("powers of the ratio", s + j + 1)),
        ),
    )


def decay_rate(lam: Expr) -> Expr:
    """The rate ln(1/λ) at which λ^j decays."""
    return log(1 / lam)


def decay_step(lam: Expr) -> Step:
    """Step: exp(j ln(1/λ)) λ^j = 1."""
    rate = decay_rate(lam)
    return step("decay", eq(exponential(j * rate) * lam**j, 1), forall=(j,)).by_induction(
        base=EXPONENTIAL.at(0, 0),
        step=(EXPONENTIAL.at(j * rate, rate), LOGARITHM.at(1 / lam), "memory"),
    )


def positive_rate_uses(lam: Expr) -> tuple[Use, ...]:
    """Uses: ln(1/λ) > 0, since exp(ln(1/λ)) = 1/λ > 1 = exp(0)."""
    rate = decay_rate(lam)
    return (EXPONENTIAL.at(rate, 0), LOGARITHM.at(1 / lam), "memory", "contractive")


def long_window(text: str, condition: Statement) -> Assumption:
    """Assumption that the window k has at least so many steps."""
    return Assumption("long window", f"the window is long enough: k ≥ {text}", condition)
