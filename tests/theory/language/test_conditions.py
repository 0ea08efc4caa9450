"""Statements with side conditions on k, T and λ, and what is no side condition."""

import pytest

from rnnbounds.theory.errors import StatementError
from rnnbounds.theory.language.parse import parse_conditional, parse_statement


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("h_gap <= S_0", []),
        ("h_gap <= S_0, k >= 1", ["1 <= k"]),
        ("h_gap <= min(S_0, k), k < T, lam > 0", ["k < T", "0 < lam"]),
        ("‖h_T − h_T^(k)‖ ≤ S_0 λ^k, λ < 1/2, k ≤ T − 1", ["lam < 1/2", "k <= T - 1"]),
        (r"\lVert h_T-h_T^{(k)}\rVert \le \min(S_0, 1), k \geq 1", ["1 <= k"]),
        ("h_norm <= S_0, T >= 2", ["2 <= T"]),
        ("h_gap <= max(S_0, 1)", []),
    ],
)
def test_conditions(text, conditions):
    """Commas in brackets separate arguments, all others conditions; the text reads back."""
    found = parse_conditional(text)
    assert found.conditions == tuple(map(parse_statement, conditions))
    assert parse_conditional(found.text) == found


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("h_gap <= 1, S_0 > 0", "may compare k, T, lam with numbers"),
        ("h_gap <= 1, h_norm < 1", "may compare k, T, lam with numbers"),
        ("h_gap <= 1, 1 <= 2", "may compare k, T, lam with numbers"),
        ("h_norm <= S_0, k >= 1", "the statement has no windows"),
        ("h_gap <= 1, k", "write it as lhs <= rhs"),
        ("h_gap <= 1,", "is empty; write it as lhs <= rhs"),
        ("h_gap <= 1, 1 <= k < T", "one at a time"),
        ("h_gap <= 1, __import__('os')", "unknown quantity '__import__'"),
        ("h_gap <= 1" + ", k >= 1" * 9, "at most 8 are read"),
        ("h_gap <= 1" + ", k >= 1" * 5_000, "at most 10000 are read"),
    ],
)
def test_what_is_no_condition(text, fault):
    """One line each, for whatever else stands behind a comma."""
    with pytest.raises(StatementError, match=fault):
        parse_conditional(text)
