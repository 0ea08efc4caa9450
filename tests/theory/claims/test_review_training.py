"""Attacks on what the claims about training brought: each proved something without a meaning.

Or something false: of ReLU, and of operators.
"""

import numpy as np
import pytest
from flint import arb, fmpq
from sympy import Abs, Expr, Integer, Rational, sqrt

from theory.axioms.base import AXIOMS
from theory.language.functions import RealPower
from theory.language.law import Assumption, law
from theory.language.statement import Statement, le
from theory.language.terms.vectors import (
    curvature,
    derivative,
    max_norm,
    norm,
    row_norm,
    v,
    vector,
    y,
    z,
)
from theory.language.vocabulary import symbols
from theory.models.slopes import CURVATURES, SLOPES, EachActivation
from theory.numbers.evaluate import ball, enclose, rational
from theory.numbers.interval import Interval, exact
from theory.proof.methods import Monotone, Smt
from theory.proof.methods.base import Gap, Method
from theory.proof.proof import Proof, Step, check
from theory.proof.scope import Known

lam, S_0, T, k, beta_rho, L_rho = symbols("lam S_0 T k beta_rho L_rho")
ZERO, ONE = Integer(0), Integer(1)
RISES = Monotone(S_0, ZERO, base=Smt(), slope=Smt(), inside=Smt())


def why_not(goal: Statement, method: Method, *assumptions: Assumption) -> str:
    """Why the goal is not proved in one step; empty if it is."""
    ledger = check(Proof((Step("claim", goal, method),)), goal, assumptions, minimal=False)
    return "".join(result.detail for result in ledger.failures)


@pytest.mark.parametrize(
    ("goal", "reason"),
    [
        # λ/λ at the start and in the derivative, which SymPy cancels, also at λ = 0
        (le(1, (lam * S_0 + lam) / lam), "do not give lam != 0"),
        (le(lam - 1, (sqrt(lam - 1) * S_0 + sqrt(lam - 1)) * sqrt(lam - 1)), "lam - 1 >= 0"),
        (le(1, (lam ** (T - k) * S_0 + lam ** (T - k)) * lam ** (k - T)), "natural"),
        (le(S_0 * v, S_0 * v + S_0), "compares vectors"),
    ],
    ids=str,
)
def test_monotone_functions_have_values(goal: Statement, reason: str) -> None:
    """What cancels at the start and in the derivative must have a value too."""
    assert reason in why_not(goal, RISES)


def test_monotone_functions_with_constants_that_have_values() -> None:
    """A quotient that the slope's facts give a meaning is no obstacle."""
    memory = Assumption("memory", "", le(Rational(1, 2), lam))
    method = Monotone(S_0, ZERO, base=Smt(), slope=Smt("memory"), inside=Smt())
    assert why_not(le(1, (lam * S_0 + lam) / lam), method, memory) == ""


@pytest.mark.parametrize("bound", [ONE, 2 * beta_rho / 2 + 1, lam])
def test_relu_has_no_curvature(bound: Expr) -> None:
    """All activations with a finite β_ρ have |ρ''| ≤ 1, but ρ' of ReLU jumps."""
    with pytest.raises(Gap, match="where beta_rho is infinite"):
        EachActivation(2).prove(le(Abs(curvature(z)), bound), Known({}))


def test_what_the_tables_of_activations_show() -> None:
    """|ρ'| ≤ L_ρ and |ρ''| ≤ β_ρ; of slopes, which are all finite, any bound."""
    for step in (SLOPES, CURVATURES):
        assert isinstance(step.method, EachActivation)
        step.method.prove(step.conclusion, Known({}))
    EachActivation().prove(le(Abs(derivative(z)), 2), Known({}))


@pytest.mark.parametrize(("base", "exponent"), [(0, 0), (0, 1), (-1, 2), (-1, 3), (-2, 1)])
def test_real_powers_have_positive_bases(base: int, exponent: int) -> None:
    """exp(z ln y) has no value at y ≤ 0, also where a whole power has one."""
    power = RealPower(y, z)
    floats = {"y": exact(float(base)), "z": exact(float(exponent))}
    value = enclose(power, floats)
    assert np.isnan(value.lo)
    assert np.isnan(value.hi)
    assert ball(power, {"y": arb(base), "z": arb(exponent)}).is_nan()
    assert rational(power, {"y": fmpq(base), "z": fmpq(exponent)}) is None
    around = Interval(np.array(-1e-300), np.array(2.0))
    assert np.isnan(enclose(power, floats | {"y": around}).hi)


def test_the_largest_row_bounds_no_row_sum() -> None:
    """W = [1 1]/√2 has rows of norm 1, and W I has the row sum √2."""
    W, V = vector("W"), vector("V")
    assert np.abs(np.array([[1, 1]]) / np.sqrt(2) @ np.eye(2)).sum(axis=1).max() > 1
    unit = Assumption("unit", "", law=law("unit", (), le(row_norm(W), ONE), le(norm(V), ONE)))
    about_rows = [a for a in AXIOMS if any(c.conclusion.rhs.has(row_norm) for c in a.clauses)]
    for axiom in about_rows:
        assert why_not(le(max_norm(W * V), 1), Smt("unit", axiom.at(W, V)), unit)
    assert about_rows
