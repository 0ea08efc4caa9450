"""Constructors keep the value, where 1/0 and the roots of what is negative are 0."""

from collections.abc import Mapping
from fractions import Fraction

import pytest
from drawn import (
    BITS,
    MOST,
    NAMES,
    A,
    Tree,
    alike,
    draw,
    numbers,
    points,
    trees,
    v,
    value,
    value_of,
    x,
    y,
)
from flint import ctx
from hypothesis import assume, example, given, settings

from rnnbounds.theory.kernel import heads
from rnnbounds.theory.kernel.algebra import (
    apply,
    expanded,
    fully_expanded,
    minus,
    plus,
    power,
    rebuilt,
    times,
)
from rnnbounds.theory.kernel.rewriting import words
from rnnbounds.theory.kernel.terms import HALF, ONE, Gap, Term, TermError, number, variable

POLE: Tree = ("*", ("name", "x"), ("^", ("name", "x"), -1))
ROOTS: Tree = ("*", ("root", ("name", "x")), ("root", ("name", "x")))
ORIGIN = dict.fromkeys(NAMES, Fraction(0))
BELOW = dict.fromkeys(NAMES, Fraction(-2))


@given(trees, points)
@example(POLE, ORIGIN)
@example(ROOTS, BELOW)
@example(("root", ("*", ("number", Fraction(-9, 4)), ("name", "x"))), BELOW)
@example(("^", ("*", ("name", "x"), ("name", "y")), -1), ORIGIN)
@example(("^", ("^", ("name", "x"), 2), -1), BELOW)
@settings(deadline=None, derandomize=True, max_examples=MOST)
def test_constructors_keep_the_value(tree: Tree, point: Mapping[str, Fraction]) -> None:
    """Sums, products, powers, roots, moduli, maxima and minima, and what is written out of them."""
    term = draw(tree)
    with ctx.workprec(BITS):
        at = numbers(point)
        for one in (term, expanded(term), fully_expanded(term)):
            assert alike(value(tree, at), value_of(one, at)), one


def test_words_are_sums_of_operators() -> None:
    """No number is added to one."""
    with pytest.raises(Gap, match="the number 1 stands where an operator is needed"):
        words(plus(ONE, A))


@given(trees, trees, trees, points)
@example(POLE, ("+", ("name", "y"), ("number", Fraction(-2))), ("name", "x"), ORIGIN)
@settings(deadline=None, derandomize=True, max_examples=MOST)
def test_substitution_keeps_the_value(
    tree: Tree, first: Tree, second: Tree, point: Mapping[str, Fraction]
) -> None:
    """All at once, and into all parts."""
    term, one, two = map(draw, (tree, first, second))
    try:
        put = rebuilt(term, {x: one, y: two})
    except TermError:
        assume(False)
        raise
    with ctx.workprec(BITS):
        at = numbers(point)
        there = {**at, "x": value(first, at), "y": value(second, at)}
        assert alike(value(tree, there), value_of(put, at)), put


@pytest.mark.parametrize(
    ("term", "reason"),
    [
        (plus(x, v), "adds number and vector"),
        (times(v, A), "v in v\\*A is no operator"),
        (power(v, number(2)), "is a power of a vector"),
    ],
)
def test_sorts_are_asked_for(term: Term, reason: str) -> None:
    """What is added, multiplied or raised to a power has sorts that fit."""
    with pytest.raises(TermError, match=reason):
        _ = term.sort


@pytest.mark.parametrize(
    ("base", "exponent", "reason"),
    [
        (x, number(Fraction(1, 3)), "has no translation"),
        (x, power(number(2), HALF), "not shown to be a natural number"),
        (x, apply(heads.ABS, power(number(2), HALF)), "not shown to be a natural number"),
        (number(3), number(1001), "more than 1000 factors"),
        (power(number(3), number(1000)), number(900), "more than 14000 bits"),
    ],
    ids=str,
)
def test_other_powers_are_refused(base: Term, exponent: Term, reason: str) -> None:
    """Cubic roots, powers by irrational numbers, and numbers too long to be written."""
    with pytest.raises(TermError, match=reason):
        power(base, exponent)


def test_equal_terms_are_one() -> None:
    """However they were made."""
    assert plus(x, y) is plus(y, x)
    assert minus(plus(x, y), y) is x
    assert times(x, x) is power(x, number(2))
    assert times(A, plus(x, y)) is times(plus(y, x), A)
    assert times(A, A) is power(A, number(2))
    assert variable("x", "real", mark=1) is not x
