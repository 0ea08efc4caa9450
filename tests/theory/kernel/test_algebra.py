"""Constructors and normal forms keep the value, where 1/0 and the roots of what is negative are 0.

Values are balls of so many bits that what is not told from 0 is 0: the terms drawn are small.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from typing import TypeAlias

import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from theory.kernel.algebra import (
    apply,
    expanded,
    fully_expanded,
    minus,
    plus,
    power,
    rebuilt,
    times,
)
from theory.kernel.normal import difference, divisors, radicands, words
from theory.kernel.powers import Powers
from theory.kernel.statements import Statement, eq
from theory.kernel.terms import (
    ABS,
    HALF,
    MAX,
    MIN,
    NUMBER,
    ONE,
    POWER,
    PRODUCT,
    SUM,
    ZERO,
    Gap,
    Term,
    TermError,
    number,
    variable,
)

Tree: TypeAlias = tuple[object, ...]  # an operation and what it is of, as it was drawn
MOST = 300  # of the examples drawn
BITS, ALIKE = 4000, arb(2) ** -1500
NAMES = ("x", "y", "z")
x, y, z = (variable(name, "real") for name in NAMES)
A, v = variable("A", "operator"), variable("v", "vector")
NUMBERS = [Fraction(n) for n in (-2, -1, 0, 1, 2, 3, 4)] + [Fraction(1, 2), Fraction(-9, 4)]


def grown(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    """Operations on smaller trees."""
    many = st.lists(inner, min_size=2, max_size=3).map(tuple)
    joined = st.tuples(st.sampled_from(["+", "*", "max", "min"]), many).map(lambda t: (t[0], *t[1]))
    single = st.tuples(st.sampled_from(["root", "abs"]), inner)
    return joined | single | st.tuples(st.just("^"), inner, st.sampled_from([-2, -1, 0, 1, 2, 3]))


leaves = st.sampled_from(NAMES).map(lambda n: ("name", n)) | st.sampled_from(NUMBERS).map(
    lambda n: ("number", n)
)
trees = st.recursive(leaves, grown, max_leaves=7)
points = st.fixed_dictionaries({name: st.sampled_from(NUMBERS) for name in NAMES})
MAKE: dict[str, Callable[..., Term]] = {
    "+": plus,
    "*": times,
    "max": lambda *args: apply(MAX, *args),
    "min": lambda *args: apply(MIN, *args),
    "abs": lambda arg: apply(ABS, arg),
    "root": lambda arg: power(arg, HALF),
}


def made(tree: Tree) -> Term:
    """The tree by the constructors."""
    match tree:
        case ("name", str(name)):
            return variable(name, "real")
        case ("number", Fraction() as value):
            return number(value)
        case ("^", tuple() as base, int(n)):
            return power(made(base), number(n))
    kind, *args = tree
    return MAKE[str(kind)](*map(made, args))  # type: ignore[arg-type]


def settled(value: arb) -> arb:
    """0 where it is not told from 0."""
    return arb(0) if value.contains(0) else value


def raised(base: arb, n: int) -> arb:
    """A whole power; 1/0 is 0."""
    if n < 0:
        return arb(0) if base == 0 else settled(1 / base ** (-n))
    return settled(base**n)


def rooted(base: arb) -> arb:
    """The root; 0 of what is negative."""
    return base.sqrt() if base > 0 else arb(0)


def larger(one: arb, two: arb) -> arb:
    """The maximum."""
    return one if one > two else two


OF: dict[str, Callable[..., arb]] = {
    "+": lambda *args: settled(sum(args, arb(0))),
    "*": lambda *args: settled(reduce(lambda p, q: p * q, args, arb(1))),
    "max": lambda *args: reduce(larger, args),
    "min": lambda *args: -reduce(larger, [-arg for arg in args]),
    "abs": abs,
    "root": rooted,
}
HEADS = {SUM: "+", PRODUCT: "*", MAX: "max", MIN: "min", ABS: "abs"}


def exactly(value: Fraction) -> arb:
    """A rational."""
    return arb(fmpq(value.numerator, value.denominator))


def value(tree: Tree, at: Mapping[str, arb]) -> arb:
    """The value of the tree as it was drawn."""
    match tree:
        case ("name", str(name)):
            return at[name]
        case ("number", Fraction() as told):
            return exactly(told)
        case ("^", tuple() as base, int(n)):
            return raised(value(base, at), n)
    kind, *args = tree
    return OF[str(kind)](*(value(arg, at) for arg in args))  # type: ignore[arg-type]


def value_of(term: Term, at: Mapping[str, arb]) -> arb:
    """The value of what the constructors made."""
    if term.head is NUMBER:
        return exactly(term.value)
    if term.head.kind == "variable":
        return at[term.head.name]
    if term.head is POWER:
        base, exponent = value_of(term.args[0], at), term.args[1].value
        if exponent.denominator == 1:
            return raised(base, int(exponent))
        assert exponent == Fraction(1, 2)
        return rooted(base)
    return OF[HEADS[term.head]](*(value_of(arg, at) for arg in term.args))


def alike(one: arb, two: arb) -> bool:
    """Whether they are equal, as far as so many bits tell."""
    return bool(abs(one - two) < ALIKE * (1 + abs(one)))


def draw(tree: Tree) -> Term:
    """The term; a power of too many factors is none."""
    try:
        return made(tree)
    except TermError:
        assume(False)
        raise


def numbers(point: Mapping[str, Fraction]) -> dict[str, arb]:
    """The point in balls."""
    return {name: exactly(one) for name, one in point.items()}


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
        (
            times(SUMMED, SUMMED),
            plus(times(x, x), times(number(2), x, y), times(y, y)),
            True,
        ),
        (power(plus(x, y, ONE), number(3)), times(*[plus(ONE, y, x)] * 3), True),
        (times(x, power(x, number(-1))), ONE, True),
        (power(power(x, HALF), number(2)), x, True),
        (
            plus(power(plus(x, ONE), INVERSE), power(minus(x, ONE), INVERSE)),
            ZERO,
            False,
        ),
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


@pytest.mark.parametrize(
    ("term", "reason"),
    [
        (plus(x, v), "adds number and vector"),
        (times(v, A), "v in v\\*A is no operator"),
        (power(v, number(2)), "vector by number"),
        (power(A, v), "operator by vector"),
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
        (x, apply(ABS, power(number(2), HALF)), "not shown to be a natural number"),
        (number(3), number(1001), "more than 1000 factors"),
        (power(number(3), number(1000)), number(900), "more than 14000 bits"),
    ],
    ids=str,
)
def test_other_powers_are_refused(base: Term, exponent: Term, reason: str) -> None:
    """Cubic roots, powers by irrational numbers, and numbers too long to be written."""
    with pytest.raises(TermError, match=reason):
        power(base, exponent)


@pytest.mark.parametrize("exponent", [0, 1, 40])
def test_writing_out_is_bounded(exponent: int) -> None:
    """A sum of eight to the power 40 has too many terms."""
    many = plus(*(variable(f"r_{i}", "real") for i in range(8)))
    if exponent < 2:
        assert fully_expanded(power(many, number(exponent))) in (ONE, many)
    else:
        with pytest.raises(TermError, match="more than 20000 terms"):
            fully_expanded(power(many, number(exponent)))


def test_equal_terms_are_one() -> None:
    """However they were made."""
    assert plus(x, y) is plus(y, x)
    assert minus(plus(x, y), y) is x
    assert times(x, x) is power(x, number(2))
    assert times(A, plus(x, y)) is times(plus(y, x), A)
    assert times(A, A) is power(A, number(2))
    assert variable("x", "real", mark=1) is not x
