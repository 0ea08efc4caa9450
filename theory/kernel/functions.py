"""Facts on functions of reals: ranges, values in rationals and balls, derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import prod
from types import MappingProxyType

from flint import arb, fmpq

from rnnbounds.theory.kernel.algebra import apply, minus, plus, power, times
from rnnbounds.theory.kernel.statements import Clause, Statement, le, lt, ne
from rnnbounds.theory.kernel.terms import (
    ABS,
    EXPONENTIAL,
    HALF,
    LOG,
    NUMBER,
    ONE,
    POWER,
    PRODUCT,
    REAL_FUNCTIONS,
    SUM,
    ZERO,
    Gap,
    Head,
    Term,
    constant,
    number,
)
from rnnbounds.theory.language.constants import silu_peak_ball

Range = Callable[[Term, Term], tuple[Statement | Clause, ...]]
MINUS_ONE, TWO = number(-1), number(2)
# Constants of statements that have no closed form: an enclosure of each, and a term that z3 knows
# between two integers.
ENCLOSURES: dict[str, Callable[[], arb]] = {
    "pi": arb.pi, "E": arb.const_e, "z_silu": silu_peak_ball
}  # fmt: skip


def _between(name: str) -> Term:
    low = Fraction(str(ENCLOSURES[name]().floor().unique_fmpz()))
    return constant(name, (low, low + 1))


CONSTANTS = {name: _between(name) for name in ENCLOSURES}
PI = CONSTANTS["pi"]
EXP, TANH, SIN, COS, ATAN, ERF = (
    REAL_FUNCTIONS[name] for name in ("exp", "tanh", "sin", "cos", "atan", "erf")
)


def ranges(term: Term) -> tuple[Clause, ...]:
    """Bounds on the value of an elementary function, true at every argument."""
    told = _RANGES[term.head](term, *term.args) if term.head in _RANGES else ()
    return tuple(fact if isinstance(fact, Clause) else Clause(fact) for fact in told)


def _of_exp(e: Term, y: Term) -> tuple[Statement | Clause, ...]:
    """1 + y ≤ e^y, so that e^{y/2} (1 − y/2) ≤ 1, which is squared where y ≤ 0; 1 + y + y²/2 ≤ e^y
    where y ≥ 0, by its series."""
    falls = le(times(e, _square(minus(ONE, _half(y)))), ONE)
    below, series = le(y, ZERO), le(plus(ONE, y, _half(_square(y))), e)
    return (
        lt(ZERO, e), le(plus(ONE, y), e), Clause(le(e, ONE), (below,)), Clause(falls, (below,)),
        Clause(series, (le(ZERO, y),)),
    )  # fmt: skip


def _odd(end: Term) -> Range:
    """|v| < end, v has the sign of its argument y, and (end − |v|) |y| ≤ 1."""

    def of(v: Term, y: Term) -> tuple[Statement | Clause, ...]:
        near = times(minus(end, apply(ABS, v)), apply(ABS, y))
        return lt(times(MINUS_ONE, end), v), lt(v, end), le(ZERO, times(v, y)), le(near, ONE)

    return of


def _of_tanh(t: Term, y: Term) -> tuple[Statement | Clause, ...]:
    """Besides, 1 − tanh² = 1/cosh² and cosh y ≥ 1 + y²/2."""
    falls = times(minus(ONE, _square(t)), _square(plus(ONE, _half(_square(y)))))
    return *_odd(ONE)(t, y), le(falls, ONE)


def _square(term: Term) -> Term:
    return power(term, TWO)


def _half(term: Term) -> Term:
    return times(HALF, term)


_RANGES: dict[Head, Range] = {
    EXP: _of_exp, EXPONENTIAL: _of_exp, TANH: _of_tanh, ERF: _odd(ONE), ATAN: _odd(_half(PI)),
    **dict.fromkeys((SIN, COS), lambda v, _: (le(MINUS_ONE, v), le(v, ONE))),
}  # fmt: skip


def ball(term: Term, values: Mapping[Term, arb] = MappingProxyType({})) -> arb:
    """An enclosure of the value at these values of the variables, NaN where there may be none;
    raises Gap for functions that are not known."""
    head, args = term.head, [ball(arg, values) for arg in term.args]
    if head is NUMBER:
        return arb(fmpq(term.value.numerator, term.value.denominator))
    if term in values:
        return values[term]
    if head in (SUM, PRODUCT):
        return sum(args, arb(0)) if head is SUM else prod(args, start=arb(1))
    if head is POWER and term.args[1].head is NUMBER:
        exponent = term.args[1].value
        if exponent.denominator == 1:
            return args[0] ** int(exponent)
        if exponent == Fraction(1, 2):
            return args[0].sqrt()
    if head.interval is not None:
        return ENCLOSURES[head.name]()
    if head not in _BALLS:
        raise Gap(f"the value of {term} is not known")
    return _BALLS[head](args[0])


_BALLS: dict[Head, Callable[[arb], arb]] = {
    ABS: abs, LOG: arb.log, EXPONENTIAL: arb.exp, EXP: arb.exp, TANH: arb.tanh, SIN: arb.sin,
    COS: arb.cos, ATAN: arb.atan, ERF: arb.erf,
}  # fmt: skip


def derivative(term: Term, point: Term, conditions: list[Statement]) -> Term:
    """d/dt of the term; adds to the conditions where it has a value and is differentiable.

    Raises Gap for what is no sum, product, power by a number, or function of the list.
    """
    if point not in term.variables:
        return ZERO
    if term is point:
        return ONE
    inner = [derivative(arg, point, conditions) for arg in term.args]
    if term.head is SUM:
        return plus(*inner)
    if term.head is PRODUCT:
        each = enumerate(inner)
        return plus(*(times(*term.args[:i], d, *term.args[i + 1 :]) for i, d in each))
    argument, slope = term.args[0], inner[0]
    if term.head is POWER and term.args[1].head is NUMBER:
        n = term.args[1].value
        if n.denominator > 1:
            conditions.append(lt(ZERO, argument))
        elif n < 0:
            conditions.append(ne(argument, ZERO))
        return times(number(n), power(argument, number(n - 1)), slope)
    if term.head not in _SLOPES:
        raise Gap(f"{term} is not known to be differentiable in {point}")
    if term.head is LOG:
        conditions.append(lt(ZERO, argument))
    return times(_SLOPES[term.head](term, argument), slope)


# What each function's derivative is, of its value and its argument.
_SLOPES: dict[Head, Callable[[Term, Term], Term]] = {
    EXP: lambda e, _: e,
    EXPONENTIAL: lambda e, _: e,
    LOG: lambda _, x: power(x, MINUS_ONE),
    TANH: lambda t, _: minus(ONE, _square(t)),
    SIN: lambda _, x: apply(COS, x),
    COS: lambda _, x: times(MINUS_ONE, apply(SIN, x)),
    ATAN: lambda _, x: power(plus(ONE, _square(x)), MINUS_ONE),
    ERF: lambda _, x: times(
        TWO, power(power(PI, HALF), MINUS_ONE), apply(EXP, times(MINUS_ONE, _square(x)))
    ),
}
