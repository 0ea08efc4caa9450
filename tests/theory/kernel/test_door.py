"""The door translates what is on its list, and refuses by name what is not."""

from fractions import Fraction

import pytest
from sympy import (
    Basic,
    Derivative,
    E,
    Expr,
    Float,
    Function,
    I,
    Integer,
    Integral,
    Lambda,
    Mod,
    Order,
    Piecewise,
    Rational,
    Sum,
    Symbol,
    atanh,
    floor,
    gamma,
    nan,
    oo,
    pi,
    sign,
    sqrt,
    zoo,
)

from rnnbounds.theory.errors import StatementError
from rnnbounds.theory.kernel import door
from rnnbounds.theory.kernel.statements import le
from rnnbounds.theory.kernel.terms import TermError, constant, number, variable
from rnnbounds.theory.language import enter, eq, law, symbols
from rnnbounds.theory.language import le as stated
from rnnbounds.theory.language.quantity import Symbol as QuantitySymbol
from rnnbounds.theory.language.quantity import measured
from rnnbounds.theory.language.terms.variables import j, m, operator, v, vector, y, z
from rnnbounds.theory.language.terms.vectors import Norm, Scalar, function
from rnnbounds.theory.language.vocabulary import DEFINITIONS, VOCABULARY, unfold

lam, T, h_norm = symbols("lam T h_norm")
A = operator("A")
unknown = Function("f")


class Positive(Scalar):
    """A term of which SymPy takes a sign for granted."""

    def _eval_is_positive(self) -> bool:
        return True


REFUSED: dict[str, tuple[Basic, str]] = {
    "a decimal": (Float(0.5) * y, "0.5"),
    "an imaginary number": (I * y, "^I is no real number"),
    "infinity": (y + oo, "^oo is no real number"),
    "minus infinity": (-oo + y, "^-oo is no real number"),
    "complex infinity": (zoo, "zoo has no translation"),
    "no number": (nan, "nan is no real number"),
    "a sum": (Sum(m * j, (j, 0, m)), "Sum is on no list"),
    "an integral": (Integral(y * z, (z, 0, 1)), "Integral is on no list"),
    "an integral without limits": (Integral(y, z), "Integral is on no list"),
    "a derivative": (Derivative(y * z, z), "Derivative is on no list"),
    "a function without a name": (Lambda(y, y**2), "Lambda is on no list"),
    "cases": (Piecewise((y, y > 0), (z, True)), "Piecewise is on no list"),
    "a partial function": (atanh(y), "atanh is on no list"),
    "a jump": (floor(y), "floor is on no list"),
    "a sign": (sign(y), "sign is on no list"),
    "a remainder": (Mod(y, 2), "Mod is on no list"),
    "a pole": (gamma(y), "gamma is on no list"),
    "an order": (Order(y), "Order is on no list"),
    "a relation": (y < z, "is on no list"),
    "an unknown function": (unknown(y), "is a function of no sort"),
    "a cubic root": (y ** Rational(1, 3), "has no translation"),
    "an irrational power": (y ** sqrt(2), "not shown to be a natural number"),
    "a power by a value": (y ** function("some", Scalar)(0), "natural"),
    "a power by a constant": (2**pi, "not shown to be a natural number"),
    "a positive symbol": (Symbol("p", positive=True), "does not range over all"),
    "a negative symbol": (Symbol("p", negative=True) ** 2, "does not range over all"),
    "a symbol that is not 0": (Symbol("p", real=True, nonzero=True), "does not range over all"),
    "a complex symbol": (Symbol("p"), "does not range over all"),
    "an even number": (Symbol("p", even=True), "does not range over all"),
    "a positive whole number": (Symbol("p", integer=True, positive=True), "does not range"),
    "a quantity's name": (Symbol("lam", positive=True), "does not range over all"),
    "a term that is positive": (Positive(y), "of .*Positive.* SymPy takes for granted"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("within", [lambda e: e, lambda e: function("f_of", Scalar)(e)])
def test_what_is_on_no_list_is_refused(name: str, within: type) -> None:
    """At the top, and within a function."""
    expression, reason = REFUSED[name]
    if not isinstance(expression, Expr) or expression.is_Order:
        within = lambda e: e  # noqa: E731 - of a formula no function is taken
    with pytest.raises(TermError, match=reason):
        door.term(within(expression))


def test_numbers_and_variables() -> None:
    """Each with its range; a constant without a closed form between rationals."""
    assert door.term(Rational(-3, 7)) is number(Fraction(-3, 7))
    assert door.term(y) is variable("y", "real")
    assert door.term(j).head.least == 0
    assert door.term(A).sort == "operator"
    assert door.term(vector("v")).sort == "vector"
    assert door.term(pi) is constant("pi", (Fraction(3), Fraction(4)))
    assert door.term(E) is constant("E", (Fraction(2), Fraction(3)))


def test_variables_of_one_name_stay_apart() -> None:
    """A quantity, a number of its name, and a natural one."""
    found = {door.term(one) for one in (lam, Symbol("lam", real=True), Symbol("lam", integer=True))}
    assert len(found) == len({str(one) for one in found}) == 3


def test_a_function_has_a_name_of_its_own() -> None:
    """Whatever module it is of; the same one twice is one."""
    assert function("twice", Scalar) is function("twice", Scalar)
    for base, defined in ((Norm, False), (Scalar, True)):
        with pytest.raises(StatementError, match="a function is named twice"):
            function("twice", base, defined=defined)
    with pytest.raises(StatementError, match="a function is named norm"):
        function("norm", Norm)


def test_names_are_names() -> None:
    """None is written as a term is."""
    for name in ("tanh(y)", "y'", "a + b", ""):
        with pytest.raises(TermError, match="is no name"):
            door.term(Symbol(name, real=True))
    assert str(door.term(Symbol("pi", real=True))) == "pi'"


def test_sorts_are_compared() -> None:
    """A vector with a number, and vectors by size."""
    with pytest.raises(TermError, match="are compared"):
        door.statement(eq(v, 1))
    with pytest.raises(TermError, match="compares no numbers"):
        door.statement(stated(v, A * v))
    assert door.statement(eq(v, 0)).rhs is number(0)


def test_quantities_are_written_out() -> None:
    """A law may not range over what they speak of."""
    (measure,) = (one for one in DEFINITIONS if one == h_norm)
    assert door.goal(stated(h_norm, 1)) == le(door.term(DEFINITIONS[measure]), number(1))
    with pytest.raises(TermError, match="ranges over what its quantities speak of"):
        door.unfolded(law("all", (T,), stated(h_norm, 1)))


def test_a_natural_quantity_is_defined_by_natural_numbers() -> None:
    """A length need be none."""
    new = measured("count_of_all", "a count", "count_of_all", DEFINITIONS[h_norm])
    whole = type(new)(**{**vars(new), "symbol": QuantitySymbol(new.name, integer=True)})
    enter(whole)
    try:
        with pytest.raises(TermError, match="is not shown to be one"):
            door.goal(stated(0, whole.symbol))
    finally:
        del VOCABULARY[new.name], DEFINITIONS[whole.symbol]
        unfold.cache_clear()


def test_norms_are_not_negative() -> None:
    """Of other scalars nothing is known."""
    size = function("size_of", Norm)
    assert door.term(size(v)).head.kind == "norm"
    assert door.term(function("some", Scalar)(v)).head.kind == "scalar"
    assert door.term(size(v - v)) is number(0)
    assert door.term(Integer(0) * y) is number(0)
