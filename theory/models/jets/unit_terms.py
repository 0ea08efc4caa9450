"""Statements about the value and the slope of one unit of a jet."""

from sympy import Abs, Expr

from rnnbounds.theory.language import Statement, le
from rnnbounds.theory.language.terms.jets import (
    STATES,
    bent,
    gap,
    one,
    steep,
    two,
    unit_slope,
    unit_value,
)
from rnnbounds.theory.language.terms.variables import c
from rnnbounds.theory.language.terms.vectors import weighted


def value_change(u: Expr) -> Statement:
    """Statement |u(s) − u(s′)| ≤ ℓ_s ‖s − s′‖."""
    return le(Abs(unit_value(u, one) - unit_value(u, two)), steep(u, STATES) * gap)


def slope_bound(u: Expr, state: Expr = one) -> Statement:
    """Statement ‖∂_c u‖ ≤ ℓ_c."""
    return le(weighted(unit_slope(u, state, c)), steep(u, c))


def slope_change(u: Expr) -> Statement:
    """Statement ‖∂_c u(s) − ∂_c u(s′)‖ ≤ s_sc ‖s − s′‖."""
    return le(weighted(unit_slope(u, one, c) - unit_slope(u, two, c)), bent(u, c) * gap)
