"""One walk over an expression, three arithmetics: its value is derived from the symbolic statement.

`enclose` gives float64 intervals for whole batches, `ball` real balls at the current precision of
python-flint, `rational` exact rationals.  Quantities are passed by name.  A part that occurs twice
is evaluated once; ``known`` keeps the parts, for all expressions about the same quantities.
"""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from functools import lru_cache, partial, reduce
from operator import add, mul
from typing import Any, TypeAlias

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray
from sympy import Add, Expr, Float, Integer, Mul, Pow, Rational, Symbol

from rnnbounds.theory.errors import InputError
from rnnbounds.theory.language import Statement
from rnnbounds.theory.numbers.arithmetic import (
    BALLS,
    INTERVALS,
    RATIONALS,
    Arithmetic,
    IrrationalError,
    V,
)
from rnnbounds.theory.numbers.interval import Interval

# Of the quantities' values, an arithmetic and the parts known so far, the value of an expression.
Reader: TypeAlias = Callable[[Any, Any, Any], Any]


class UnboundQuantityError(InputError):
    """The expression names a quantity that has no value."""

    def __init__(self, name: str, known: Mapping[str, object]) -> None:
        bound = ", ".join(sorted(known)) or "none"
        super().__init__(f"no value for {name!r} (bound: {bound}); measure it or bind it")


class UnsupportedExpressionError(InputError):
    """The expression contains a function that this arithmetic does not have."""

    def __init__(self, node: Expr) -> None:
        text = str(node)[:80]
        super().__init__(
            f"cannot evaluate {node.func.__name__} in {text!r}; "
            "use + - * / **, sqrt, log, exp, Min, Max, Abs, floor, ceiling"
        )


def enclose(
    expr: Expr, env: Mapping[str, Interval], known: MutableMapping[Expr, Interval] | None = None
) -> Interval:
    """A rigorous float64 enclosure, broadcast over the quantities' shapes.

    Raises UnboundQuantityError, UnsupportedExpressionError.
    """
    return _value(expr, env, INTERVALS, {} if known is None else known)


def ball(expr: Expr, env: Mapping[str, arb], known: MutableMapping[Expr, arb] | None = None) -> arb:
    """A rigorous real ball at the current precision of python-flint; nan where undefined.

    Raises UnboundQuantityError, UnsupportedExpressionError.
    """
    return _value(expr, env, BALLS, {} if known is None else known)


def rational(expr: Expr, env: Mapping[str, fmpq]) -> fmpq | None:
    """The exact value; None where it is undefined, irrational or too long to write down.

    Raises UnboundQuantityError, UnsupportedExpressionError.
    """
    try:
        return _value(expr, env, RATIONALS, {})
    except (IrrationalError, ZeroDivisionError):
        return None


def certain(statement: Statement, env: Mapping[str, Interval]) -> NDArray[np.bool_]:
    """Mask of elements where the statement (<=, <, == or !=) is certainly true; False at NaN."""
    known: dict[Expr, Interval] = {}
    lhs, rhs = (enclose(side, env, known) for side in (statement.lhs, statement.rhs))
    match statement.relation:
        case "<=":
            return np.asarray(lhs.hi <= rhs.lo)
        case "<":
            return np.asarray(lhs.hi < rhs.lo)
        case "==":
            return np.asarray((lhs.hi <= rhs.lo) & (rhs.hi <= lhs.lo))
        case "!=":
            return np.asarray((lhs.hi < rhs.lo) | (rhs.hi < lhs.lo))
        case relation:
            raise InputError(f"no numbers decide {relation!r}; state it with <=, <, == or !=")


def _value(
    expr: Expr, env: Mapping[str, V], arithmetic: Arithmetic[V], known: MutableMapping[Expr, V]
) -> V:
    found: V = _reader(expr)(env, arithmetic, known)
    return found


@lru_cache(maxsize=4096)
def _reader(expr: Expr) -> Reader:
    """Compile the expression to an evaluator, cached by expression, which is evaluated often."""
    match expr:
        case Symbol():
            return partial(_symbol, expr.name)
        case Rational() | Float():
            p, q = map(int, Rational(expr).as_numer_denom())
            return lambda env, arithmetic, known: arithmetic.number(p, q)
        case Add():
            inner: Reader = partial(_sum, [_reader(one) for one in expr.args])
        case Mul():
            negative, *sides = _factors(expr)
            inner = partial(_product, negative, *([*map(_factor, side)] for side in sides))
        case Pow():
            inner = _power(*expr.args)
        case _:
            inner = partial(_function, expr, [_reader(one) for one in expr.args])

    def part(env: Any, arithmetic: Any, known: Any) -> Any:
        if (found := known.get(expr)) is None:
            found = known[expr] = inner(env, arithmetic, known)
        return found

    return part


def _symbol(name: str, env: Any, arithmetic: Any, known: Any) -> Any:
    if name not in env:
        raise UnboundQuantityError(name, env)
    return env[name]


def _factor(one: Expr | int) -> Reader:
    return _reader(Integer(one) if isinstance(one, int) else one)


def _sum(terms: Sequence[Reader], *about: Any) -> Any:
    return reduce(add, (term(*about) for term in terms))


def _product(negative: bool, above: Sequence[Reader], below: Sequence[Reader], *about: Any) -> Any:
    """Numerator over denominator, so that a quotient is rounded once."""
    over, under = ([factor(*about) for factor in side] for side in (above, below))
    numerator = reduce(mul, over) if over else about[1].number(1, 1)
    signed = -numerator if negative else numerator
    return signed / reduce(mul, under) if under else signed


def _function(expr: Expr, given: Sequence[Reader], *about: Any) -> Any:
    _, arithmetic, _ = about
    if expr in arithmetic.constants:
        return arithmetic.constants[expr]()
    if expr.func not in arithmetic.functions:
        raise UnsupportedExpressionError(expr)
    function = arithmetic.functions[expr.func]
    arguments = [one(*about) for one in given]
    return reduce(function, arguments) if len(arguments) > 1 else function(arguments[0])


def _power(base: Expr, exponent: Expr) -> Reader:
    """Half-integer exponents by the square root, negative constants by division."""
    if isinstance(exponent, Rational) and exponent.is_negative:
        inverse = _reader(Pow(base, -exponent))
        return lambda *about: about[1].number(1, 1) / inverse(*about)
    below = _reader(base)
    if isinstance(exponent, Rational) and exponent.q == 2:
        p = int(exponent.p)
        return lambda *about: about[1].power(about[1].root(below(*about)), about[1].number(p, 1))
    above = _reader(exponent)
    return lambda *about: about[1].power(below(*about), above(*about))


@lru_cache(maxsize=4096)
def _factors(expr: Mul) -> tuple[bool, tuple[Expr | int, ...], tuple[Expr | int, ...]]:
    """Split a product: (True if its coefficient is negative, numerators, denominators)."""
    above: list[Expr | int] = []
    below: list[Expr | int] = []
    negative = False
    for factor in expr.args:
        if isinstance(factor, Rational):
            negative = not factor > 0
            above += [abs(int(factor.p))] if abs(factor.p) != 1 else []
            below += [int(factor.q)] if factor.q != 1 else []
        elif isinstance(factor, Pow) and factor.exp.is_Rational and factor.exp.is_negative:
            below.append(Pow(factor.base, -factor.exp))
        else:
            above.append(factor)
    return negative, tuple(above), tuple(below)
