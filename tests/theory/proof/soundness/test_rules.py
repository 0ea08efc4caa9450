"""Sentences of docs/explanation/soundness.md that no other test is about, by their numbers."""

from collections.abc import Callable
from fractions import Fraction

import pytest
from flint import arb, ctx
from proving import prove, proves, scope
from sympy import (
    Abs,
    E,
    Expr,
    Integer,
    Rational,
    Symbol,
    atan,
    cos,
    erf,
    exp,
    log,
    pi,
    sin,
    sqrt,
    tanh,
)

from rnnbounds.theory.kernel import door
from rnnbounds.theory.kernel.algebra import power, rebuilt, times
from rnnbounds.theory.kernel.functions import CONSTANTS, ENCLOSURES, ball, ranges
from rnnbounds.theory.kernel.smt import heard
from rnnbounds.theory.kernel.statements import domains
from rnnbounds.theory.kernel.terms import HALF, ONE, ZERO, TermError, number, variable
from rnnbounds.theory.language import Statement, eq, law, le, lt, ne, symbols
from rnnbounds.theory.language.constants import SILU_PEAK
from rnnbounds.theory.language.terms.variables import y, z
from rnnbounds.theory.proof.methods import BallMaximum, Elementary, Gap, Identity, Smt

lam, T, k = symbols("lam T k")
x, n = variable("x", "real"), variable("n", "natural")
POINTS = [Fraction(p, 4) for p in range(-40, 41)] + [Fraction(p) for p in (-100, -15, 15, 100)]


def holds(statement: Statement, values: dict[Expr, arb]) -> bool:
    """Whether the balls of both sides are in this order, or may be equal."""
    at_values = {door.term(one): value for one, value in values.items()}
    lhs, rhs = (ball(side, at_values) for side in door.statement(statement).sides)
    return not lhs > rhs


def test_s1_2_powers_have_values_where_a_natural_exponent_is_none() -> None:
    """At 0, −1 and ½ that of x⁰, 1/x and √x; 1 to any power is 1; thirds are no exponents."""
    symbolic = power(x, n)
    for value, wanted in ((ZERO, ONE), (number(-1), power(x, number(-1))), (HALF, power(x, HALF))):
        assert rebuilt(symbolic, {n: value}) is wanted
    assert rebuilt(symbolic, {x: ONE}) is ONE
    with pytest.raises(TermError, match="no translation"):
        rebuilt(symbolic, {n: number(Fraction(1, 3))})


def test_s2_3_symbols_and_functions_of_one_name_stay_apart() -> None:
    """z3 sees two unknowns, and says that they may differ."""
    other = Symbol("y", integer=True)
    assert door.term(other) is not door.term(y)
    with pytest.raises(Gap, match="counter-model"):
        proves(eq(y, other))


@pytest.mark.parametrize("constant", [pi, E, SILU_PEAK], ids=str)
def test_s2_5_constants_lie_between_their_integers(constant: Expr) -> None:
    """The door brings the kernel's own, whose enclosure lies in the interval."""
    term = door.term(constant)
    assert CONSTANTS[term.head.name] is term
    assert term.head.interval is not None
    low, high = (arb(int(end)) for end in term.head.interval)
    assert low < ENCLOSURES[term.head.name]() < high


def test_s4_1_an_instance_has_its_domains_as_premises() -> None:
    """Those of the law, and those of the terms."""
    one = door.law(law("l", (y,), le(0, 1 / y)))
    (clause,) = one.at((door.term(sqrt(z)),))
    assert set(clause.given) == set(map(door.statement, (ne(sqrt(z), 0), le(0, z))))


def test_s4_3_quotients_cancel_under_their_premise_alone() -> None:
    """y/y is 1 in an instance, which supposes y ≠ 0; of no law it is not."""
    quotient = door.law(law("l", (y, z), le(y * z, 1)))
    (clause,) = quotient.at((door.term(y), door.term(1 / y)))
    assert clause.conclusion.lhs is ONE
    assert door.statement(ne(y, 0)) in clause.given
    assert times(door.term(y), door.term(1 / y)) is not ONE
    root = door.law(law("l", (y,), le(y**2, 1)))
    (clause,) = root.at((door.term(sqrt(z)),))
    assert (clause.conclusion.lhs, clause.given) == (door.term(z), domains((door.term(sqrt(z)),)))


@pytest.mark.parametrize("method", [Smt, Elementary, Identity])
def test_s4_4_what_stands_in_a_function_has_a_meaning(method: type[Smt]) -> None:
    """tanh(1/y) equals itself where y ≠ 0 is known."""
    goal = eq(tanh(1 / y), tanh(1 / y))
    with pytest.raises(Gap, match="counter-model"):
        proves(goal, by=method)
    assert proves(goal, ne(y, 0), by=method)


@pytest.mark.parametrize("method", [Smt, Identity])
def test_s5_2_exponents_are_shown_natural(method: type[Smt]) -> None:
    """λ^(T − k) needs k ≤ T."""
    goal = eq(lam ** (T - k) * lam, lam ** (T - k + 1))
    with pytest.raises(Gap, match="natural"):
        proves(goal, by=method)
    assert proves(goal, le(k, T), by=method)


def test_s9_2_quotients_and_roots_are_unknowns() -> None:
    """What z3 is asked has no division by an unknown; the obligation comes first."""
    with heard() as asked:
        proves(le(0, z * (1 / y) * sqrt(y)), lt(0, y), le(0, z))
    assert all("(/ a" not in one.script for one in asked)
    assert "not y != 0" in asked[0].what or "not y >= 0" in asked[0].what
    for goal in (le(0, (1 / (y + z)) ** 2), le(0, sqrt(y))):
        with pytest.raises(Gap, match="do not give"):
            proves(goal)


def test_s9_4_integers_differ_by_1() -> None:
    """k < T gives k + 1 ≤ T; of reals it does not."""
    assert proves(le(k + 1, T), lt(k, T))
    with pytest.raises(Gap, match="counter-model"):
        proves(le(y + 1, z), lt(y, z))


FUNCTIONS: dict[str, Callable[[Expr], Expr]] = {
    "exp": exp, "tanh": tanh, "erf": erf, "atan": atan, "sin": sin, "cos": cos,
}  # fmt: skip
SIMPLE = {
    "exp": (lt(0, exp(z)),),
    "tanh": (lt(Abs(tanh(z)), 1),),
    "erf": (lt(Abs(erf(z)), 1),),
    "atan": (lt(Abs(atan(z)), pi / 2),),
    "sin": (le(Abs(sin(z)), 1),),
    "cos": (le(Abs(cos(z)), 1),),
}
FAR = (
    le(1 + z, exp(z)),
    le((1 - tanh(z) ** 2) * (1 + z**2 / 2) ** 2, 1),
    *(le(0, z * s(z)) for s in (tanh, erf, atan)),
    *(le((end - Abs(s(z))) * Abs(z), 1) for s, end in ((tanh, 1), (erf, 1), (atan, pi / 2))),
)


@pytest.mark.parametrize("name", SIMPLE)
def test_s10_1_functions_stay_in_their_ranges(name: str) -> None:
    """The ranges are proved, nothing smaller is, and they hold at many points."""
    (statement,) = SIMPLE[name]
    assert prove(Elementary(), statement)
    smaller = Statement(statement.lhs, statement.relation, statement.rhs * Rational(9, 10))
    if name != "exp":
        with pytest.raises(Gap, match="counter-model"):
            prove(Elementary(), smaller)
    with ctx.workprec(200):
        assert all(holds(statement, {z: arb(p.numerator) / p.denominator}) for p in POINTS)


def test_s10_2_functions_settle() -> None:
    """All that z3 is given of them holds at many points, and the sentence's list is given."""
    for statement in FAR:
        assert prove(Elementary(), statement)
    assert prove(Elementary("h0"), le(exp(z) * (1 - z / 2) ** 2, 1), scope(le(z, 0)))
    with ctx.workprec(200):
        for function in FUNCTIONS.values():
            term = door.term(function(z))
            names, clauses = ranges(door.statement(eq(function(z), 0)))
            for point in POINTS:
                here = {door.term(z): arb(point.numerator) / point.denominator}
                values = {**here, names[term]: ball(term, here)}
                for clause in clauses:
                    told = [[ball(side, values) for side in s.sides] for s in clause.statements]
                    (lhs, rhs), *given = told
                    assert not lhs > rhs or any(p > q for p, q in given), clause


@pytest.mark.parametrize("value", [1 / y, log(z), sqrt(z)], ids=str)
def test_s11_2_a_ball_is_no_number_where_there_may_be_none(value: Expr) -> None:
    """Neither below nor above anything."""
    found = ball(door.term(value), {door.term(z): arb(-1, 2), door.term(y): arb(0)})
    assert not any((found < 10**9, found > -(10**9), found == 0))


def test_s16_2_a_peak_is_exact_and_a_maximum() -> None:
    """Of e^{−z²} at 0; beside it the derivative does not vanish, and a minimum is no peak."""
    bell, valley = exp(-(z**2)), (1 + z**2) / (2 + z**2)
    assert prove(BallMaximum((Integer(0),)), le(bell, 1))
    for method, goal, why in (
        (BallMaximum((Rational(1, 10**9),)), le(bell, 1), "not shown to vanish"),
        (BallMaximum((Integer(0),)), le(valley, Rational(1, 2)), "keeps no sign"),
    ):
        with pytest.raises(Gap, match=why):
            prove(method, goal)


def test_s17_3_no_law_ranges_over_what_its_quantities_speak_of() -> None:
    """For all T … ‖h_T‖ … would take T of the quantity for the law's."""
    (h_norm,) = symbols("h_norm")
    with pytest.raises(TermError, match="ranges over what its quantities speak of"):
        door.unfolded(law("l", (T,), le(h_norm, T)))
