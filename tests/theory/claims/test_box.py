"""Cells in the norm of the box: what their laws say, in numbers, and what the proofs rest on."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from sympy import Expr

from rnnbounds.theory.language.terms.jets import (
    ACTIVATION,
    MIXTURE,
    PRODUCT,
    STATES,
    bend_most,
    bent,
    highest,
    lowest,
    size,
    slope_most,
    spread,
    steep,
)
from rnnbounds.theory.language.terms.variables import c, v
from rnnbounds.theory.models.jets.model import RULES, g, has_kind, p, q

Array = npt.NDArray[np.float64]
GRID = np.linspace(-1, 1, 4001)


def sigmoid(s: Array) -> Array:
    """σ."""
    return 1 / (1 + np.exp(-s))


def most(values: Array) -> float:
    """Its largest absolute value on the box |s| ≤ 1."""
    return float(np.abs(values).max())


def derivatives(values: Array) -> tuple[float, float]:
    """sup |u′| and sup |u″| of one unit of one state, by central differences."""
    first = np.gradient(values, GRID)
    return most(first[2:-2]), most(np.gradient(first, GRID)[2:-2])


def by_rules(number: int, numbers: dict[Expr, float]) -> dict[Expr, float]:
    """ℓ and s of a unit, no larger than the rules of its kind ask for."""
    found: dict[Expr, float] = {}
    assert RULES.law is not None
    for clause in (clause.replace({c: STATES}) for clause in RULES.law.clauses):
        if clause.given == (has_kind(number),):
            lhs = float(clause.conclusion.lhs.xreplace(numbers))
            found[clause.conclusion.rhs] = max(found.get(clause.conclusion.rhs, 0.0), lhs)
    return found


P, Q, G = sigmoid(3 * GRID + 1), np.tanh(2 * GRID), sigmoid(2 * GRID)
LINE = GRID.copy()


def jets(unit: Expr, values: Array) -> dict[Expr, float]:
    """What is known of an operand."""
    first, second = derivatives(values)
    return {size(unit): most(values), steep(unit, STATES): first, bent(unit, STATES): second}


def product(one: Array, other: Array) -> tuple[Array, int, dict[Expr, float]]:
    """u w."""
    return one * other, PRODUCT, jets(p, one) | jets(q, other)


def mixture(gate: Array, one: Array, other: Array) -> tuple[Array, int, dict[Expr, float]]:
    """g u + (1 − g) w."""
    ends = {lowest(g): float(gate.min()), highest(g): float(gate.max())}
    known = jets(g, gate) | jets(p, one) | jets(q, other) | ends
    return gate * one + (1 - gate) * other, MIXTURE, known | {spread(v): most(one - other)}


def squashed(one: Array) -> tuple[Array, int, dict[Expr, float]]:
    """Tanh u."""
    steepest = {slope_most(v): 1.0, bend_most(v): 4 / (3 * np.sqrt(3))}
    return np.tanh(one), ACTIVATION, jets(p, one) | steepest


@pytest.mark.parametrize(
    ("unit", "tight"),
    [
        (lambda: product(P, Q), 0.5),
        (lambda: product(LINE, LINE), 0.999),
        (lambda: mixture(G, P, Q), 0.3),
        (lambda: mixture(G, LINE, -LINE), 0.6),
        (lambda: squashed(3 * LINE), 0.999),
        (lambda: squashed(Q), 0.5),
    ],
)
def test_rules_in_numbers(
    unit: Callable[[], tuple[Array, int, dict[Expr, float]]], tight: float
) -> None:
    """What the rules say of a unit bounds its slope and its bend, without being far from them."""
    values, number, known = unit()
    told = by_rules(number, known)
    first, second = derivatives(values)
    assert first <= told[steep(v, STATES)] * (1 + 1e-5)
    assert second <= told[bent(v, STATES)] * (1 + 1e-5)
    assert second >= tight * told[bent(v, STATES)]


def test_rules_need_their_cross_terms() -> None:
    """s² has the second derivative 2, and its factors have none."""
    values, _, known = product(LINE, LINE)
    straight = known[size(p)] * known[bent(q, STATES)] + known[size(q)] * known[bent(p, STATES)]
    assert straight < 1e-6
    assert derivatives(values)[1] == pytest.approx(2)
