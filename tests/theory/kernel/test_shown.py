"""What is printed of a term, read as Python, has the value of the term."""

import re
from collections.abc import Callable, Mapping
from fractions import Fraction

import pytest
from drawn import BITS, MOST, NAMES, OF, Tree, alike, draw, numbers, points, trees, value_of, x, y
from flint import arb, ctx
from hypothesis import example, given, settings

from rnnbounds.theory.kernel.algebra import minus, plus, power, times
from rnnbounds.theory.kernel.terms import ABS, HALF, MAX, MIN, ONE, POWER, Term, make, number

FUNCTIONS: dict[str, Callable[..., arb]] = {
    "sqrt": OF["root"], ABS.name: abs, MAX.name: OF["max"], MIN.name: OF["min"],
}  # fmt: skip
THIRD, INVERSE = number(Fraction(1, 3)), number(-1)
ONES = dict.fromkeys(NAMES, Fraction(3))


def read(text: str, at: Mapping[str, arb]) -> arb:
    """The value of a text, whose whole numbers are balls."""
    return eval(re.sub(r"\d+", r"arb(\g<0>)", text), {**FUNCTIONS, **at, "arb": arb})


@given(trees, points)
@example(("*", ("number", Fraction(-9, 4)), ("^", ("name", "x"), -2), ("name", "y")), ONES)
@example(("+", ("number", Fraction(-2)), ("^", ("+", ("name", "x"), ("name", "y")), -1)), ONES)
@settings(deadline=None, derandomize=True, max_examples=MOST)
def test_the_text_has_the_value(tree: Tree, point: Mapping[str, Fraction]) -> None:
    """Signs, parentheses, quotients and roots; where a divisor is 0 the text has no value."""
    term = draw(tree)
    with ctx.workprec(BITS):
        at = numbers(point)
        found = read(repr(term), at)
        assert alike(found, value_of(term, at)) or not found.is_finite(), term


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (minus(x, number(2)), "x - 2"),
        (times(number(-2), x), "-2*x"),
        (times(number(2), THIRD, x), "2*x/3"),
        (times(THIRD, power(x, INVERSE)), "1/(3*x)"),
        (times(x, power(plus(x, y), INVERSE)), "x/(x + y)"),
        (power(x, INVERSE), "1/x"),
        (make(POWER, (x, times(number(-1), THIRD))), "x**(-1/3)"),
        (power(power(x, HALF), number(3)), "(sqrt(x))**3"),
        (power(plus(x, ONE), number(2)), "(x + 1)**2"),
    ],
    ids=str,
)
def test_terms_are_typed_as_one_types_them(term: Term, text: str) -> None:
    """What is added stands first, numbers last; a factor of 1 is left out."""
    assert repr(term) == text
