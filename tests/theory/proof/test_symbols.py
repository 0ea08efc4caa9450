"""What SymPy takes for granted of a symbol or of a function is no premise, and is refused.

SymPy makes |p| of a `positive` symbol p, and √(p²), into p: with λ = p that proves λ ≥ 0.
"""

import pytest
from sympy import Abs, Expr, Function, Symbol, sqrt

from rnnbounds.theory.language import Assumption, Law, Statement, at, eq, law, le, ne, symbols
from rnnbounds.theory.language.terms.variables import v, y
from rnnbounds.theory.language.terms.vectors import Norm, Scalar, function, norm
from rnnbounds.theory.proof import Proof, Step, check
from rnnbounds.theory.proof.methods import Smt

(offset,) = symbols("a_1")  # a quantity that may be negative


class Positive(Scalar):
    """A term of which SymPy knows more than its laws say."""

    def _eval_is_positive(self) -> bool:
        return True


class Sure(Scalar):
    """A term of which SymPy knows more by its class."""

    is_positive = True


class Whole(Norm):
    """A norm of which SymPy takes for granted that it is whole."""

    def _eval_is_integer(self) -> bool:
        return True


KNOWN = {
    "positive": Symbol("p", positive=True),
    "negative": Symbol("p", negative=True),
    "non-negative": Symbol("p", nonnegative=True),
    "not zero": Symbol("p", real=True, nonzero=True),
    "zero": Symbol("p", zero=True),
    "even": Symbol("p", even=True),
    "positive whole": Symbol("p", integer=True, positive=True),
    "a quantity's name": Symbol("lam", positive=True),
    "a function": Function("f", positive=True)(offset),
    "a term": Positive(offset),
    "a term's class": Sure(offset),
    "a norm": Whole(v),
}


def conclude(goal: Statement, *granted: Law, step: Statement | None = None) -> str:
    """Why the goal is not proved from the laws, through the step where there is one."""
    assumptions = tuple(Assumption(law.id, "", law=law) for law in granted)
    names = tuple(law.id for law in granted)
    steps = () if step is None else (Step("s", step, Smt()),)
    end = Step("claim", goal, Smt(*names, *(s.id for s in steps)))
    ledger = check(Proof((*steps, end)), goal, assumptions, minimal=False)
    return "" if ledger.proved else ledger.failures[0].detail


@pytest.mark.parametrize("name", KNOWN)
def test_sympys_assumptions_are_refused(name: str) -> None:
    """In a law of an assumption, whatever it says of the symbol."""
    what = KNOWN[name]
    refused = conclude(le(offset, 0), law("told", (), eq(offset, what), le(what, 0)))
    assert any(why in refused for why in ("range over all", "takes for granted", "of no sort"))


@pytest.mark.parametrize("value", [Abs, lambda y: sqrt(y**2)], ids=["modulus", "root"])
@pytest.mark.parametrize("by_law", [True, False])
def test_a_positive_symbol_smuggles_no_sign(value: type[Expr], by_law: bool) -> None:
    """0 ≤ |y| for all y says p ≥ 0 at such a p, and a_1 = p then a_1 ≥ 0."""
    p, goal, named = KNOWN["positive"], le(0, offset), eq(KNOWN["positive"], offset)
    told = law("told", (), named) if by_law else None
    granted = Assumption("told", "", law=told, condition=None if by_law else named)
    steps = (Step("s", le(0, value(y)), Smt(), (y,)), Step("claim", goal, Smt("told", at("s", p))))
    ledger = check(Proof(steps), goal, (granted,), minimal=False)
    assert "range over all" in ledger.failures[0].detail


def test_plain_symbols_and_terms_pass() -> None:
    """What is said by a law may be used: y = p ≥ 0 proves y ≥ 0, and no norm is negative."""
    p, size = Symbol("p", real=True), function("size", Norm, __name__)
    assert not conclude(le(0, offset), law("told", (), eq(offset, p), le(0, p)))
    assert not conclude(le(0, norm(v)))
    assert not conclude(le(0, size(v)))
    assert conclude(ne(y, 0))
