"""Three arithmetics for one expression: float64 intervals, real balls, exact rationals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from operator import mul
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
import sympy
from flint import arb, fmpq

from rnnbounds.theory.language.constants import SILU_PEAK, silu_peak_ball
from rnnbounds.theory.language.functions import LambertRoot, RealPower, StepProduct
from rnnbounds.theory.numbers import interval, special
from rnnbounds.theory.numbers.interval import Interval


class Number(Protocol):
    """Value with +, *, / and unary minus."""

    def __neg__(self) -> Self: ...
    def __add__(self, other: Any, /) -> Self: ...
    def __mul__(self, other: Any, /) -> Self: ...
    def __truediv__(self, other: Any, /) -> Self: ...


V = TypeVar("V", bound=Number)

MAX_EXPONENT = 2**64  # larger integers are not written out
MAX_RATIONAL_BITS = 2**22  # a rational power longer than this is left to the balls


class IrrationalError(ArithmeticError):
    """The value is no rational number, or one too long to write down."""


@dataclass(frozen=True)
class Arithmetic(Generic[V]):
    """Operations of a number type beyond its operators +, *, / and unary minus.

    `number(p, q)` is p/q; `functions` maps a SymPy head to a function of its one or two
    arguments, of two for the associative ones; `constants` maps a SymPy constant to its value.
    """

    number: Callable[[int, int], V]
    power: Callable[[V, V], V]
    root: Callable[[V], V]
    functions: Mapping[Any, Callable[..., V]]
    constants: Mapping[Any, Callable[[], V]]


@lru_cache(maxsize=1024)
def _enclose_fraction(p: int, q: int) -> Interval:
    """A float64 interval that contains p/q, which it is if it is a float."""
    try:
        nearest = np.array(p / q)  # Python rounds the quotient of integers correctly
    except OverflowError:
        largest = float(np.finfo(float).max)
        return Interval(np.array(largest), np.array(np.inf)) * (1 if p > 0 else -1)
    if Fraction(p, q) == Fraction(float(nearest)):
        return Interval(nearest, nearest)
    return Interval(np.nextafter(nearest, -np.inf), np.nextafter(nearest, np.inf))


def _enclosed(ball: arb) -> Interval:
    return Interval(*map(np.array, special.enclose_ball(ball)))


def _ball_power(base: arb, exponent: arb) -> arb:
    """Squarings for integers: `base**n` is nan in python-flint for a base centred at 0."""
    is_small = exponent.is_exact() and abs(exponent) < MAX_EXPONENT
    integer = exponent.unique_fmpz() if is_small else None
    if integer is None:
        if base == 0 and exponent > 0:
            return arb(0)
        return (exponent * base.log()).exp()
    count = int(integer)
    is_odd, half, square = abs(count) % 2, abs(count) // 2, abs(base) * abs(base)
    power = base if is_odd else arb(1)
    while half:
        if half % 2:
            power = power * square
        square, half = square * square, half // 2
    return 1 / power if count < 0 else power


def _rational_power(base: fmpq, exponent: fmpq) -> fmpq:
    if exponent.q != 1:
        raise IrrationalError
    bits = max(int(base.p).bit_length(), int(base.q).bit_length())
    if abs(exponent) * bits > MAX_RATIONAL_BITS and base not in (-1, 0, 1):
        raise IrrationalError
    return base ** int(exponent.p)


def _interval_real_power(base: Interval, exponent: Interval) -> Interval:
    """y^z; [nan, nan] where y reaches 0, also for whole z."""
    return Interval(np.where(base.lo > 0, base.lo, np.nan), base.hi) ** exponent


def _ball_real_power(base: arb, exponent: arb) -> arb:
    """Ball y^z; nan where y reaches 0."""
    return _ball_power(base, exponent) if base > 0 else arb("nan")


def _rational_real_power(base: fmpq, exponent: fmpq) -> fmpq:
    """Exact y^z of y > 0 and an integer z; raises IrrationalError otherwise."""
    if base <= 0:
        raise IrrationalError
    return _rational_power(base, exponent)


def _rational_step_product(steps: fmpq, rate: fmpq) -> fmpq:
    """Exact Π_{t=1}^N (1 + c/t), multiplied out; raises IrrationalError if too long."""
    bits = max(int(rate.p).bit_length(), int(rate.q).bit_length(), int(steps.p).bit_length())
    if steps.q != 1 or steps < 0 or rate < 0 or steps * bits > MAX_RATIONAL_BITS:
        raise IrrationalError
    factors = (1 + rate / t for t in range(1, int(steps.p) + 1))
    return reduce(mul, factors, fmpq(1))


def _rational_root(level: fmpq) -> fmpq:
    """The roots of u − ln u = L are rational for L = 1 alone (Lindemann)."""
    if level != 1:
        raise IrrationalError
    return fmpq(1)


def _raise_irrational(*_: fmpq) -> fmpq:
    raise IrrationalError


INTERVALS: Arithmetic[Interval] = Arithmetic(
    number=_enclose_fraction,
    power=lambda base, exponent: base**exponent,
    root=interval.sqrt,
    functions={
        sympy.exp: interval.exp,
        sympy.log: interval.log,
        sympy.Abs: abs,
        sympy.Max: interval.maximum,
        sympy.Min: interval.minimum,
        sympy.floor: interval.floor,
        sympy.ceiling: interval.ceiling,
        StepProduct: special.step_product,
        LambertRoot: special.lambert_root,
        RealPower: _interval_real_power,
    },
    constants={
        sympy.pi: lambda: _enclosed(arb.pi()),
        sympy.E: lambda: _enclosed(arb.const_e()),
        SILU_PEAK: lambda: _enclosed(silu_peak_ball()),
    },
)

BALLS: Arithmetic[arb] = Arithmetic(
    number=lambda p, q: arb(fmpq(p, q)),
    power=_ball_power,
    root=lambda x: x.sqrt(),
    functions={
        sympy.exp: lambda x: x.exp(),
        sympy.log: lambda x: x.log(),
        sympy.Abs: abs,
        sympy.Max: lambda x, y: x.max(y),
        sympy.Min: lambda x, y: x.min(y),
        sympy.floor: lambda x: x.floor(),
        sympy.ceiling: lambda x: x.ceil(),
        sympy.tanh: lambda x: x.tanh(),
        sympy.sin: lambda x: x.sin(),
        sympy.cos: lambda x: x.cos(),
        sympy.atan: lambda x: x.atan(),
        sympy.erf: lambda x: x.erf(),
        StepProduct: special.ball_step_product,
        LambertRoot: special.ball_lambert_root,
        RealPower: _ball_real_power,
    },
    constants={sympy.pi: arb.pi, sympy.E: arb.const_e, SILU_PEAK: silu_peak_ball},
)

RATIONALS: Arithmetic[fmpq] = Arithmetic(
    number=fmpq,
    power=_rational_power,
    root=_raise_irrational,
    functions=dict.fromkeys(BALLS.functions, _raise_irrational)
    | {
        sympy.Abs: abs,
        sympy.Max: max,
        sympy.Min: min,
        sympy.floor: lambda x: fmpq(x.floor()),
        sympy.ceiling: lambda x: fmpq(x.ceil()),
        StepProduct: _rational_step_product,
        LambertRoot: _rational_root,
        RealPower: _rational_real_power,
    },
    constants=dict.fromkeys(BALLS.constants, _raise_irrational),
)
