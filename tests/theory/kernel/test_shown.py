"""What is printed of a term, read as Python, has the value of the term."""

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from random import Random

import pytest
from drawn import BITS, MOST, NAMES, OF, Tree, alike, draw, numbers, points, trees, value_of, x, y
from flint import arb, ctx
from hypothesis import example, given, settings
from sympy import Abs, Dummy, Expr, Integer, Max, Min, Rational, Symbol, exp, log, pi, sqrt, tanh

from rnnbounds.theory.kernel import door, heads
from rnnbounds.theory.kernel.algebra import minus, plus, power, times
from rnnbounds.theory.kernel.terms import HALF, ONE, Term, TermError, make, number
from rnnbounds.theory.language import le
from rnnbounds.theory.language.functions import LambertRoot, RealPower, StepProduct
from rnnbounds.theory.language.printing import statement_latex, statement_text
from rnnbounds.theory.language.terms import variables
from rnnbounds.theory.language.terms.unitary import part
from rnnbounds.theory.language.terms.vectors import entry, gain, inner, max_norm, norm, transpose

FUNCTIONS: dict[str, Callable[..., arb]] = {
    "sqrt": OF["root"], heads.ABS.name: abs, heads.MAX.name: OF["max"], heads.MIN.name: OF["min"],
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
        (make(heads.POWER, (x, times(number(-1), THIRD))), "x**(-1/3)"),
        (power(power(x, HALF), number(3)), "(sqrt(x))**3"),
        (power(plus(x, ONE), number(2)), "(x + 1)**2"),
    ],
    ids=str,
)
def test_terms_are_typed_as_one_types_them(term: Term, text: str) -> None:
    """What is added stands first, numbers last; a factor of 1 is left out."""
    assert repr(term) == text


# Symbols of one name and other sorts, and functions of all kinds.
NUMBERS: tuple[Expr, ...] = (
    *(Symbol(name, real=True) for name in ("y", "norm", "pi", "lam")), variables.j, pi,
    Symbol("y", integer=True), Symbol("j", real=True), Dummy("y", real=True),
    *map(Integer, (0, 1, 2, -1)), Rational(1, 2), Rational(-2, 3), *door.DEFINITIONS,
)  # fmt: skip
VECTORS = (*(variables.vector(name) for name in ("v", "y", "x")), variables.x, variables.a)
OPERATORS = (variables.A, variables.B, variables.operator("v"), variables.eye)


def drawn(chance: Random, sort: str, depth: int) -> Expr:
    """A term of numbers, vectors or operators."""

    def of(sort: str) -> Expr:
        return drawn(chance, sort, depth - 1)

    if not depth or not chance.randrange(4):
        return chance.choice({"n": NUMBERS, "v": VECTORS, "o": OPERATORS}[sort])
    if sort == "v":
        choices = (
            lambda: of("v") + of("v"), lambda: of("o") * of("v"), lambda: of("n") * of("v"),
            lambda: entry(of("v"), of("n")),
        )  # fmt: skip
    elif sort == "o":
        choices = (
            lambda: of("o") + of("o"), lambda: of("o") * of("o"), lambda: transpose(of("o")),
            lambda: of("o") ** 2,
        )  # fmt: skip
    else:
        choices = (
            lambda: of("n") + of("n"), lambda: of("n") - of("n"), lambda: of("n") * of("n"),
            lambda: of("n") / of("n"), lambda: of("n") ** of("n"), lambda: sqrt(of("n")),
            lambda: chance.choice((tanh, exp, log, Abs))(of("n")),
            lambda: chance.choice((RealPower, StepProduct))(of("n"), of("n")),
            lambda: LambertRoot(of("n")),
            lambda: chance.choice((Max, Min))(of("n"), of("n"), evaluate=False),
            lambda: chance.choice((norm, gain, max_norm))(of(chance.choice("vo"))),
            lambda: inner(of("v"), of("v")), lambda: part(of("v"), of("n")),
        )  # fmt: skip
    return chance.choice(choices)()


def test_no_two_terms_are_printed_alike() -> None:
    """As the engine has them, as a statement is typed, as a page has it."""
    chance = Random(0)
    seen: tuple[dict[str, Term], ...] = ({}, {}, {})
    for _ in range(MOST * 4):
        try:
            told = le(drawn(chance, "n", 3), 0)
            term = door.term(told.lhs)
        except (TermError, ValueError, TypeError):
            continue
        texts = str(term), statement_text(told), statement_latex(told)
        for texts_of, text in zip(seen, texts, strict=True):
            assert texts_of.setdefault(text, term) is term, text
    assert len(seen[0]) > MOST // 4
