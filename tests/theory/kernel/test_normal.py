"""What has normal form 0 is 0 where quotients and roots have a value."""

from collections.abc import Mapping
from fractions import Fraction

import pytest
from drawn import BITS, MOST, NAMES, A, Tree, alike, draw, numbers, points, trees, value_of, x, y
from flint import ctx
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from rnnbounds.theory.kernel.algebra import apply, minus, plus, power, times
from rnnbounds.theory.kernel.normal import difference, divisors, radicands, words
from rnnbounds.theory.kernel.powers import Powers
from rnnbounds.theory.kernel.statements import Statement, eq
from rnnbounds.theory.kernel.terms import ABS, HALF, ONE, ZERO, Gap, Term, TermError, number

BELOW = dict.fromkeys(NAMES, Fraction(-2))
SUMMED, INVERSE = plus(x, y), number(-1)


def is_shown(statement: Statement) -> bool:
    """Whether the difference of both sides has normal form 0."""
    return difference(statement, Powers(statement.sides)) is ZERO


@given(trees, trees, trees, st.sampled_from(range(6)), points)
@example(("name", "x"), ("name", "x"), ("name", "y"), 2, BELOW)
@settings(deadline=None, derandomize=True, max_examples=MOST)
def test_what_has_normal_form_0_is_equal(
    first: Tree, second: Tree, third: Tree, which: int, point: Mapping[str, Fraction]
) -> None:
    """Where no divisor is 0 and no radicand negative; identities and what only looks like one."""
    try:
        p, q, r = map(draw, (first, second, third))
        root = power(p, HALF)
        sides = [
            (times(p, plus(q, r)), plus(times(p, q), times(p, r))),
            (times(plus(p, q), plus(p, q)), plus(times(p, p), times(number(2), p, q), times(q, q))),
            (times(root, root), p),
            (times(r, p, power(p, number(-1))), r),
            (apply(ABS, times(p, q)), times(p, q)),
            (power(plus(p, q), HALF), plus(root, power(q, HALF))),
        ]
        statement = eq(*sides[which])
        shown = is_shown(statement)
    except TermError:
        assume(False)
        raise
    with ctx.workprec(BITS):
        at = numbers(point)
        defined = all(value_of(one, at) != 0 for one in divisors(statement))
        defined &= all(value_of(one, at) >= 0 for one in radicands(statement))
        if defined and shown:
            assert alike(*(value_of(side, at) for side in statement.sides)), statement


@pytest.mark.parametrize(
    ("lhs", "rhs", "wanted"),
    [
        (times(SUMMED, SUMMED), plus(times(x, x), times(number(2), x, y), times(y, y)), True),
        (power(plus(x, y, ONE), number(3)), times(*[plus(ONE, y, x)] * 3), True),
        (times(x, power(x, number(-1))), ONE, True),
        (power(power(x, HALF), number(2)), x, True),
        (plus(power(plus(x, ONE), INVERSE), power(minus(x, ONE), INVERSE)), ZERO, False),
        (apply(ABS, x), x, False),
        (power(power(x, number(2)), HALF), x, False),
        (times(power(x, HALF), power(y, HALF)), power(times(x, y), HALF), False),
        (power(plus(x, y), number(2)), plus(power(x, number(2)), power(y, number(2))), False),
    ],
    ids=str,
)
def test_normal_forms(lhs: Term, rhs: Term, wanted: bool) -> None:
    """Identities of polynomials, quotients and roots, and none of moduli."""
    assert is_shown(eq(lhs, rhs)) is wanted


def test_words_are_sums_of_operators() -> None:
    """No number is added to one."""
    with pytest.raises(Gap, match="the number 1 stands where an operator is needed"):
        words(plus(ONE, A))
