"""One walk over an expression, three arithmetics: its value is derived from the symbolic statement.

`enclose` gives float64 intervals for whole batches, `ball` real balls at the current precision of
python-flint, `rational` exact rationals.  Quantities are passed by name.  A part that occurs twice
is evaluated once; ``known`` keeps the parts, for all expressions about the same quantities.
"""

from collections.abc import Callable, Mapping, MutableMapping
from functools import lru_cache, reduce
from operator import add, mul

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray
from sympy import Add, Expr, Float, Mul, Pow, Rational, Symbol

from theory.errors import InputError
from theory.language import Statement
from theory.numbers.arithmetic import BALLS, INTERVALS, RATIONALS, Arithmetic, IrrationalError, V
from theory.numbers.interval import Interval


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
    """Where the statement (<=, <, == or !=) is true beyond rounding; never where a side is NaN."""
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
    if expr not in known:
        known[expr] = _walk(expr, env, arithmetic, known)
    return known[expr]


def _walk(
    expr: Expr, env: Mapping[str, V], arithmetic: Arithmetic[V], known: MutableMapping[Expr, V]
) -> V:
    def value(node: Expr) -> V:
        return _value(node, env, arithmetic, known)

    match expr:
        case Symbol():
            if expr.name not in env:
                raise UnboundQuantityError(expr.name, env)
            return env[expr.name]
        case Rational() | Float():
            p, q = Rational(expr).as_numer_denom()
            return arithmetic.number(int(p), int(q))
        case Add():
            return reduce(add, map(value, expr.args))
        case Mul():
            return _product(expr, value, arithmetic)
        case Pow():
            return _power(expr, value, arithmetic)
    if expr in arithmetic.constants:
        return arithmetic.constants[expr]()
    if expr.func not in arithmetic.functions:
        raise UnsupportedExpressionError(expr)
    function = arithmetic.functions[expr.func]
    arguments = [value(arg) for arg in expr.args]
    return reduce(function, arguments) if len(arguments) > 1 else function(arguments[0])


def _product(expr: Mul, value: Callable[[Expr], V], arithmetic: Arithmetic[V]) -> V:
    """Numerator over denominator, so that a quotient is rounded once."""
    negative, *sides = _factors(expr)
    above, below = (
        [arithmetic.number(one, 1) if isinstance(one, int) else value(one) for one in side]
        for side in sides
    )
    numerator = reduce(mul, above) if above else arithmetic.number(1, 1)
    signed = -numerator if negative else numerator
    return signed / reduce(mul, below) if below else signed


@lru_cache(maxsize=4096)
def _factors(expr: Mul) -> tuple[bool, tuple[Expr | int, ...], tuple[Expr | int, ...]]:
    """Whether the coefficient is negative, and the factors above and below the line."""
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


def _power(expr: Pow, value: Callable[[Expr], V], arithmetic: Arithmetic[V]) -> V:
    """Half-integer exponents by the square root, negative constants by division."""
    base, exponent = expr.args
    if isinstance(exponent, Rational) and exponent.is_negative:
        return arithmetic.number(1, 1) / value(Pow(base, -exponent))
    if isinstance(exponent, Rational) and exponent.q == 2:
        root = arithmetic.root(value(base))
        return arithmetic.power(root, arithmetic.number(int(exponent.p), 1))
    return arithmetic.power(value(base), value(exponent))
