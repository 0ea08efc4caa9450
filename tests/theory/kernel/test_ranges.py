"""What z3 is told of functions and constants is true at many points, and suffices."""

from fractions import Fraction

import pytest
from flint import arb, ctx
from sympy import Abs, E, Expr, Integer, atan, cos, erf, exp, pi, sin, tanh

from rnnbounds.theory.kernel import door
from rnnbounds.theory.kernel.functions import CONSTANTS, ENCLOSURES, ball, ranges
from rnnbounds.theory.kernel.terms import ONE
from rnnbounds.theory.language import Statement, law, le, lt, ne
from rnnbounds.theory.language.constants import SILU_PEAK
from rnnbounds.theory.language.terms.variables import y, z
from rnnbounds.theory.proof.methods import Gap, Smt
from rnnbounds.theory.proof.scope import StepScope

POINTS = [Fraction(p, 4) for p in range(-40, 41)] + [Fraction(p) for p in (-100, -15, 15, 100)]
END = {tanh: Integer(1), erf: Integer(1), atan: pi / 2}
PROVED = (
    *(lt(Abs(f(z)), end) for f, end in END.items()), *(le(Abs(f(z)), 1) for f in (sin, cos)),
    *(le(0, z * f(z)) for f in END),
    *(le((end - Abs(f(z))) * Abs(z), 1) for f, end in END.items()),
    lt(0, exp(z)), le(1 + z, exp(z)), le((1 - tanh(z) ** 2) * (1 + z**2 / 2) ** 2, 1),
)  # fmt: skip


@pytest.mark.parametrize("statement", PROVED, ids=str)
def test_what_is_told_suffices(statement: Statement) -> None:
    """Ranges, signs, and how fast functions settle; nine tenths of the right side is no bound."""
    assert Smt().prove(door.goal(statement), StepScope({}))
    if statement in PROVED[:5]:
        less = door.goal(Statement(statement.lhs, "<=", statement.rhs * 9 / 10))
        with pytest.raises(Gap, match="counter-model"):
            Smt().prove(less, StepScope({}))


@pytest.mark.parametrize("function", [exp, tanh, erf, atan, sin, cos], ids=str)
def test_what_is_told_is_true(function: type[Expr]) -> None:
    """Each clause, in balls."""
    term, argument = door.term(function(z)), door.term(z)
    clauses = ranges(term)
    with ctx.workprec(200):
        for point in POINTS:
            here = {argument: arb(point.numerator) / point.denominator}
            values = {**here, term: ball(term, here)}
            for clause in clauses:
                told = [[ball(side, values) for side in s.sides] for s in clause.statements]
                (lhs, rhs), *given = told
                assert not lhs > rhs or any(p > q for p, q in given), clause


@pytest.mark.parametrize("constant", [pi, E, SILU_PEAK], ids=str)
def test_constants_lie_between_their_integers(constant: Expr) -> None:
    """The door brings the kernel's own, whose enclosure lies in the interval."""
    term = door.term(constant)
    assert CONSTANTS[term.head.name] is term
    assert term.head.interval is not None
    low, high = (arb(int(end)) for end in term.head.interval)
    assert low < ENCLOSURES[term.head.name]() < high


def test_quotients_cancel_under_their_premise_alone() -> None:
    """y/y is 1 in an instance, which supposes y ≠ 0."""
    quotient = door.law(law("l", (y, z), le(y * z, 1)))
    (clause,) = quotient.at((door.term(y), door.term(1 / y)))
    assert clause.conclusion.lhs is ONE
    assert door.statement(ne(y, 0)) in clause.given
