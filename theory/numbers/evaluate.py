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
Evaluator: TypeAlias = Callable[[Any, Any, Any], Any]


class UnboundQuantityError(InputError):
    """The expression names a quantity that has no value."""

    def __init__(self, name: str, values: Mapping[str, object]) -> None:
        bound = ", ".join(sorted(values)) or "none"
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
    expr: Expr, values: Mapping[str, Interval], cache: MutableMapping[Expr, Interval] | None = None
) -> Interval:
    """A rigorous float64 enclosure, broadcast over the quantities' shapes.

    Raises UnboundQuantityError, UnsupportedExpressionError.
    """
    return _evaluate(expr, values, INTERVALS, {} if cache is None else cache)


def ball(
    expr: Expr, values: Mapping[str, arb], cache: MutableMapping[Expr, arb] | None = None
) -> arb:
    """A rigorous real ball at the current precision of python-flint; nan where undefined.

    Raises UnboundQuantityError, UnsupportedExpressionError.
    """
    return _evaluate(expr, values, BALLS, {} if cache is None else cache)


def rational(expr: Expr, values: Mapping[str, fmpq]) -> fmpq | None:
    """The exact value; None where it is undefined, irrational or too long to write down.

    Raises UnboundQuantityError, UnsupportedExpressionError.
    """
    try:
        return _evaluate(expr, values, RATIONALS, {})
    except (IrrationalError, ZeroDivisionError):
        return None


def is_certain(statement: Statement, values: Mapping[str, Interval]) -> NDArray[np.bool_]:
    """Mask of elements where the statement (<=, <, == or !=) is certainly true; False at NaN."""
    cache: dict[Expr, Interval] = {}
    lhs, rhs = (enclose(side, values, cache) for side in (statement.lhs, statement.rhs))
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


def _evaluate(
    expr: Expr, values: Mapping[str, V], arithmetic: Arithmetic[V], cache: MutableMapping[Expr, V]
) -> V:
    value: V = _evaluator(expr)(values, arithmetic, cache)
    return value


@lru_cache(maxsize=4096)
def _evaluator(expr: Expr) -> Evaluator:
    """Compile the expression to an evaluator, cached by expression, which is evaluated often."""
    match expr:
        case Symbol():
            return partial(_look_up, expr.name)
        case Rational() | Float():
            p, q = map(int, Rational(expr).as_numer_denom())
            return lambda values, arithmetic, cache: arithmetic.number(p, q)
        case Add():
            inner: Evaluator = partial(_evaluate_sum, [_evaluator(arg) for arg in expr.args])
        case Mul():
            negative, *numerators_denominators = _split_factors(expr)
            inner = partial(
                _evaluate_product,
                negative,
                *([*map(_factor_evaluator, side)] for side in numerators_denominators),
            )
        case Pow():
            inner = _power_evaluator(*expr.args)
        case _:
            inner = partial(_evaluate_function, expr, [_evaluator(arg) for arg in expr.args])

    def evaluate(values: Any, arithmetic: Any, cache: Any) -> Any:
        if (value := cache.get(expr)) is None:
            value = cache[expr] = inner(values, arithmetic, cache)
        return value

    return evaluate


def _look_up(name: str, values: Any, arithmetic: Any, cache: Any) -> Any:
    if name not in values:
        raise UnboundQuantityError(name, values)
    return values[name]


def _factor_evaluator(factor: Expr | int) -> Evaluator:
    return _evaluator(Integer(factor) if isinstance(factor, int) else factor)


def _evaluate_sum(terms: Sequence[Evaluator], *args: Any) -> Any:
    return reduce(add, (term(*args) for term in terms))


def _evaluate_product(
    negative: bool, numerators: Sequence[Evaluator], denominators: Sequence[Evaluator], *args: Any
) -> Any:
    """Numerator over denominator, so that a quotient is rounded once."""
    above_values, below_values = (
        [factor(*args) for factor in side] for side in (numerators, denominators)
    )
    numerator = reduce(mul, above_values) if above_values else args[1].number(1, 1)
    signed = -numerator if negative else numerator
    return signed / reduce(mul, below_values) if below_values else signed


def _evaluate_function(expr: Expr, argument_evaluators: Sequence[Evaluator], *args: Any) -> Any:
    _, arithmetic, _ = args
    if expr in arithmetic.constants:
        return arithmetic.constants[expr]()
    if expr.func not in arithmetic.functions:
        raise UnsupportedExpressionError(expr)
    function = arithmetic.functions[expr.func]
    arguments = [evaluator(*args) for evaluator in argument_evaluators]
    return reduce(function, arguments) if len(arguments) > 1 else function(arguments[0])


def _power_evaluator(base: Expr, exponent: Expr) -> Evaluator:
    """Half-integer exponents by the square root, negative constants by division."""
    if isinstance(exponent, Rational) and exponent.is_negative:
        positive_power = _evaluator(Pow(base, -exponent))
        return lambda *args: args[1].number(1, 1) / positive_power(*args)
    base_evaluator = _evaluator(base)
    if isinstance(exponent, Rational) and exponent.q == 2:
        p = int(exponent.p)
        return lambda *args: args[1].power(
            args[1].root(base_evaluator(*args)), args[1].number(p, 1)
        )
    exponent_evaluator = _evaluator(exponent)
    return lambda *args: args[1].power(base_evaluator(*args), exponent_evaluator(*args))


@lru_cache(maxsize=4096)
def _split_factors(expr: Mul) -> tuple[bool, tuple[Expr | int, ...], tuple[Expr | int, ...]]:
    """Split a product: (True if its coefficient is negative, numerators, denominators)."""
    numerators: list[Expr | int] = []
    denominators: list[Expr | int] = []
    is_negative = False
    for factor in expr.args:
        if isinstance(factor, Rational):
            is_negative = not factor > 0
            numerators += [abs(int(factor.p))] if abs(factor.p) != 1 else []
            denominators += [int(factor.q)] if factor.q != 1 else []
        elif isinstance(factor, Pow) and factor.exp.is_Rational and factor.exp.is_negative:
            denominators.append(Pow(factor.base, -factor.exp))
        else:
            numerators.append(factor)
    return is_negative, tuple(numerators), tuple(denominators)
