"""Decide checks of the output gap from y = C h alone, without running a system.

y_gap = ‖C(h_T − h_Tᵏ)‖₂ ≤ ‖C‖₂ h_gap, with equality for some gap. So y_gap p ≤ h_gap b holds for
all states if ‖C‖₂ p ≤ b; that is decided exactly, from the weights C and the rationals p and b,
whatever the certified norm of C is.
"""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Expr, Mul

from rnnbounds.impl.numbers.spectra.exact_norm import rational_norm_at_most
from rnnbounds.properties.judging.exact_decision import rational_values
from rnnbounds.properties.judging.simplification import h_gap, y_gap
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.theory.numbers.evaluate import rational
from rnnbounds.theory.proof.claim import Statement


def windows_held_by_outputs(statement: Statement, pair: Batch, ks: Sequence[int]) -> list[int]:
    """The windows among `ks` at which the statement holds for every state; others are open."""
    coefficients = _gap_coefficients(statement)
    if coefficients is None or not pair.is_vanilla:
        return []
    return [k for k in ks if _is_bounded(*coefficients, pair, k)]


def _gap_coefficients(statement: Statement) -> tuple[Expr, Expr] | None:
    """The p and b of y_gap p ≤ h_gap b; None for other statements."""
    left, right = ([*Mul.make_args(side)] for side in (statement.lhs, statement.rhs))
    if statement.relation != "<=" or y_gap not in left or h_gap not in right:
        return None
    left.remove(y_gap)
    right.remove(h_gap)
    return Mul(*left), Mul(*right)


def _is_bounded(p: Expr, b: Expr, pair: Batch, k: int) -> bool:
    """True if p ≥ 0 and ‖C‖₂ p ≤ b, exactly; False if p or b has no known rational value."""
    numbers = [rational_values(side, pair, k) for side in (p, b)]
    if numbers[0] is None or numbers[1] is None:
        return False
    scale, bound = rational(p, numbers[0]), rational(b, numbers[1])
    if scale is None or bound is None or scale < 0 or bound < 0:
        return False
    return scale == 0 or rational_norm_at_most(pair.C[0], bound / scale)
