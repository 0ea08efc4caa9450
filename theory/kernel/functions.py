"""Facts on functions of reals: ranges, values in rationals and balls, derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from types import MappingProxyType

from flint import arb, fmpq

from rnnbounds.theory.kernel import heads
from rnnbounds.theory.kernel.algebra import apply, minus, plus, power, times
from rnnbounds.theory.kernel.heads import Head
from rnnbounds.theory.kernel.statements import Clause, Statement, le, lt, ne
from rnnbounds.theory.kernel.terms import HALF, ONE, ZERO, Gap, Term, constant, number
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


def ranges(term: Term) -> tuple[Clause, ...]:
    """Bounds on the value of an elementary function, true at every argument."""
    known = FUNCTIONS.get(term.head)
    told = () if known is None or known.range is None else known.range(term, *term.args)
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
        near = times(minus(end, apply(heads.ABS, v)), apply(heads.ABS, y))
        return lt(times(MINUS_ONE, end), v), lt(v, end), le(ZERO, times(v, y)), le(near, ONE)

    return of


def _of_tanh(t: Term, y: Term) -> tuple[Statement | Clause, ...]:
    """Besides, 1 − tanh² = 1/cosh² and cosh y ≥ 1 + y²/2."""
    falls = times(minus(ONE, _square(t)), _square(plus(ONE, _half(_square(y)))))
    return *_odd(ONE)(t, y), le(falls, ONE)


def _within_one(v: Term, _: Term) -> tuple[Statement | Clause, ...]:
    return le(MINUS_ONE, v), le(v, ONE)


def _square(term: Term) -> Term:
    return power(term, TWO)


def _half(term: Term) -> Term:
    return times(HALF, term)


def ball(term: Term, values: Mapping[Term, arb] = MappingProxyType({})) -> arb:
    """An enclosure of the value at these values of the variables, NaN where there may be none;
    raises Gap for functions that are not known."""
    head, args = term.head, [ball(arg, values) for arg in term.args]
    if head is heads.NUMBER:
        return arb(fmpq(term.value.numerator, term.value.denominator))
    if term in values:
        return values[term]
    if head in (heads.SUM, heads.PRODUCT):
        return sum(args, arb(0)) if head is heads.SUM else prod(args, start=arb(1))
    if head is heads.POWER and term.args[1].head is heads.NUMBER:
        exponent = term.args[1].value
        if exponent.denominator == 1:
            return args[0] ** int(exponent)
        if exponent == Fraction(1, 2):
            return args[0].sqrt()
    if head.interval is not None:
        return ENCLOSURES[head.name]()
    if head not in FUNCTIONS:
        raise Gap(f"the value of {term} is not known")
    return FUNCTIONS[head].ball(args[0])


def derivative(term: Term, point: Term, conditions: list[Statement]) -> Term:
    """d/dt of the term; adds to the conditions where it has a value and is differentiable.

    Raises Gap for what is no sum, product, power by a number, or function of the list.
    """
    if point not in term.variables:
        return ZERO
    if term is point:
        return ONE
    inner = [derivative(arg, point, conditions) for arg in term.args]
    if term.head is heads.SUM:
        return plus(*inner)
    if term.head is heads.PRODUCT:
        each = enumerate(inner)
        return plus(*(times(*term.args[:i], d, *term.args[i + 1 :]) for i, d in each))
    argument, slope = term.args[0], inner[0]
    if term.head is heads.POWER and term.args[1].head is heads.NUMBER:
        n = term.args[1].value
        if n.denominator > 1:
            conditions.append(lt(ZERO, argument))
        elif n < 0:
            conditions.append(ne(argument, ZERO))
        return times(number(n), power(argument, number(n - 1)), slope)
    known = FUNCTIONS.get(term.head)
    if known is None or known.slope is None:
        raise Gap(f"{term} is not known to be differentiable in {point}")
    if term.head is heads.LOG:
        conditions.append(lt(ZERO, argument))
    return times(known.slope(term, argument), slope)


@dataclass(frozen=True)
class Function:
    """A function of one real: its value at a ball, its derivative by its value and its argument,
    and bounds on its value, by the same, that are true at every argument."""

    ball: Callable[[arb], arb]
    slope: Callable[[Term, Term], Term] | None = None
    range: Range | None = None


_EXPONENTIAL = Function(arb.exp, lambda e, _: e, _of_exp)
FUNCTIONS: dict[Head, Function] = {
    heads.EXP: _EXPONENTIAL,
    heads.EXPONENTIAL: _EXPONENTIAL,
    heads.ABS: Function(abs),
    heads.LOG: Function(arb.log, lambda _, x: power(x, MINUS_ONE)),
    heads.TANH: Function(arb.tanh, lambda t, _: minus(ONE, _square(t)), _of_tanh),
    heads.SIN: Function(arb.sin, lambda _, x: apply(heads.COS, x), _within_one),
    heads.COS: Function(arb.cos, lambda _, x: times(MINUS_ONE, apply(heads.SIN, x)), _within_one),
    heads.ATAN: Function(
        arb.atan, lambda _, x: power(plus(ONE, _square(x)), MINUS_ONE), _odd(_half(PI))
    ),
    heads.ERF: Function(
        arb.erf,
        lambda _, x: times(
            TWO, power(power(PI, HALF), MINUS_ONE), apply(heads.EXP, times(MINUS_ONE, _square(x)))
        ),
        _odd(ONE),
    ),
}
