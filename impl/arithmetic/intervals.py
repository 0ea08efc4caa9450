"""Intervals with outward rounding, and how steep functions are on them.

Sums, products and norms are `OUTWARD`, which a subclass may replace together with the functions:
`impl.certificate.plain_intervals` has intervals of plain floats with gradients.
Source: Moore, Kearfott & Cloud, Introduction to Interval Analysis.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import torch
from flint import arb, ctx
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS, Activation, activation
from rnnbounds.impl.arithmetic.elementary import Elementary
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.numbers import ball_functions as balls
from rnnbounds.impl.numbers.ball_functions import (
    float_above,
    sigmoid_down,
    sigmoid_up,
    tanh_up,
    upper_bound,
)
from rnnbounds.impl.numbers.operations import OUTWARD, Operations
from rnnbounds.impl.numbers.outward import add_up, mul_up

_PRECISION = 80
INCREASING = (
    "identity", "relu", "leaky-relu", "tanh", "sigmoid", "softplus", "elu", "erf", "arctan",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Interval:
    """low ≤ a ≤ high for each unit, (B, n) each."""

    low: Tensor
    high: Tensor
    up: ClassVar[Operations] = OUTWARD

    @classmethod
    def symmetric(cls, size: Tensor) -> Self:
        """|a| ≤ size."""
        return cls(-size, size)

    @staticmethod
    def of_weight(W: Tensor) -> Tensor:
        """A weight as the operations take it: without derivatives."""
        return W.detach()

    @classmethod
    def joined(cls, *parts: Self) -> Self:
        """All units of the parts, one after another."""
        return cls(torch.cat([p.low for p in parts], 1), torch.cat([p.high for p in parts], 1))

    def part(self, start: int, stop: int) -> Self:
        """The units from start on, before stop."""
        return type(self)(self.low[:, start:stop], self.high[:, start:stop])

    def constant(self, c: float) -> Self:
        """That number in the place of each unit."""
        return type(self)(torch.full_like(self.low, c), torch.full_like(self.low, c))

    def function(self, name: str) -> "FunctionBounds":
        """Look up the bounds of the elementary function or activation of that name."""
        return function_bounds(name)

    @property
    def magnitude(self) -> Tensor:
        """At least |a|."""
        size = torch.maximum(self.high.abs(), self.low.abs())
        return size.nan_to_num(math.inf, math.inf, math.inf)

    @property
    def least_magnitude(self) -> Tensor:
        """At most |a|."""
        return torch.maximum(self.low, -self.high).clamp(min=0.0)

    def __neg__(self) -> Self:
        return type(self)(-self.high, -self.low)

    def __add__(self, other: Self) -> Self:
        add = self.up.add
        return type(self)(-add(-self.low, -other.low), add(self.high, other.high))

    def __mul__(self, other: Self) -> Self:
        ends = (self.low, self.high, other.low, other.high)
        ends = torch.broadcast_tensors(*ends)  # type: ignore[no-untyped-call]
        one, two = torch.stack(ends[:2]), torch.stack(ends[2:])
        # Each end of the one by each of the other, up with either sign: one call, not eight.
        high, low = self.up.multiply(torch.stack([one, -one])[:, :, None], two).amax((1, 2))
        return type(self)(-low, high)

    def widened(self, margin: Tensor) -> Self:
        """The interval, longer by that on both sides."""
        return self + self.symmetric(margin)

    def mapped(self, W: Tensor) -> Self:
        """W a for W (B, m, n)."""
        low, high, is_zero = self.low[:, None, :], self.high[:, None, :], W == 0
        up = self.up

        def row_sum(products: Tensor) -> Tensor:
            return up.total(torch.where(is_zero, 0.0, products))  # of unknown numbers, too

        if torch.equal(self.low, -self.high):
            return self.symmetric(row_sum(up.multiply(W.abs(), high)))
        ends = [row_sum(torch.maximum(up.multiply(A, low), up.multiply(A, high))) for A in (-W, W)]
        return type(self)(-ends[0], ends[1])

    @classmethod
    def of_ball(cls, W: Tensor, radius: Tensor) -> Self:
        """W x over ‖x‖₂ ≤ radius: W (B, m, d), radius (B,)."""
        return cls.symmetric(cls.up.multiply(cls.up.norm(W), radius[:, None]))

    def mixed(self, a: Self, b: Self) -> Self:
        """g a + (1 − g) b for g in this interval; for 0 ≤ g ≤ 1 it lies between a and b."""
        endpoints = (self.low, self.high, a.high, -a.low, b.high, -b.low)
        tensors = torch.broadcast_tensors(*endpoints)  # type: ignore[no-untyped-call]
        # Both ends of the gate by both sides of a and b, those below with the other sign.
        g, top, bottom = (torch.stack(tensors[i : i + 2]) for i in (0, 2, 4))
        add, multiply = self.up.add, self.up.multiply
        complements = torch.stack([add(1.0, -g), -add(g, -1.0)])[:, :, None]  # of either sign
        complements = multiply(complements, bottom).amax(0)
        mixed = add(multiply(g[:, None], top), complements).amax(0)
        endpoints_mixed = mixed.minimum(torch.maximum(top, bottom))
        product_form = self * a + (self.constant(1.0) + -self) * b
        is_unit = (self.low >= 0) & (self.high <= 1)
        low = torch.where(is_unit, -endpoints_mixed[1], product_form.low)
        return type(self)(low, torch.where(is_unit, endpoints_mixed[0], product_form.high))


@dataclass(frozen=True, eq=False)
class FunctionBounds:
    """A function on intervals: where its values lie, and at least |f′| and |f″| there."""

    image: Callable[[Interval], Interval]
    slope: Callable[[Interval], Tensor]
    curvature: Callable[[Interval], Tensor]

    @property
    def derivative(self) -> "FunctionBounds":
        """f′, of whose own curvature nothing is said."""
        return FunctionBounds(
            lambda a: a.symmetric(self.slope(a)), self.curvature, constant_bound(math.inf)
        )


class RangedNumber(Elementary):
    """Numbers of which no more than bounds are known: elementary functions are one operation.

    `range`: an interval for each unit; what else is known is the subclass's.
    """

    range: Interval

    @abstractmethod
    def __add__(self, other: Self) -> Self: ...

    @abstractmethod
    def __neg__(self) -> Self: ...

    def __sub__(self, other: Self) -> Self:
        return self + -other

    @property
    def size(self) -> int:
        """How many units."""
        return self.range.low.shape[1]

    @abstractmethod
    def apply(self, f: FunctionBounds) -> Self:
        """f of each unit."""

    def function(self, name: str) -> Self:
        """The elementary function of that name."""
        return self.apply(self.range.function(name))


def function_bounds(name: str) -> FunctionBounds:
    """Look up the bounds of an elementary function or activation; raises as `activation`."""
    return _ELEMENTARY[name] if name in _ELEMENTARY else _activation_bounds(activation(name))


def _increasing_image(f: Callable[[arb], arb]) -> Callable[[Interval], Interval]:
    return lambda a: Interval(-upper_bound(lambda z: -f(z), a.low), upper_bound(f, a.high))


def _upper_bound_on(f: Callable[[arb], arb], a: Interval) -> Tensor:
    """At least f over whole intervals, entry by entry; infinite where balls do not tell."""
    bounds = []
    with ctx.workprec(_PRECISION):
        for low, high in zip(a.low.flatten().tolist(), a.high.flatten().tolist(), strict=True):
            bounds.append(float_above(f(arb(low).union(arb(high)))))
    return torch.tensor(bounds, dtype=torch.float64, device=a.low.device).reshape(a.low.shape)


def _periodic_bounds(f: Callable[[arb], arb], slope: Callable[[arb], arb]) -> FunctionBounds:
    """Bounds on sine or cosine, given the function and its slope up to sign."""

    def image(a: Interval) -> Interval:
        low, high = _upper_bound_on(lambda z: -f(z), a), _upper_bound_on(f, a)
        return Interval(-low.clamp(max=1.0), high.clamp(max=1.0))

    def steepest(function: Callable[[arb], arb]) -> Callable[[Interval], Tensor]:
        return lambda a: _upper_bound_on(lambda z: abs(function(z)), a).clamp(max=1.0)

    return FunctionBounds(image, steepest(slope), steepest(f))


class PoleError(InputError):
    """A step that may divide by 0: its value is no number there, however it is bounded after."""

    def __init__(self) -> None:
        super().__init__(
            "the step of the cell may divide by 0 for these states and inputs; keep the "
            "denominator away from 0, as 1 + v*v is"
        )


def _reciprocal(a: Interval) -> Interval:
    if bool(((a.low <= 0) & (a.high >= 0)).any()):
        raise PoleError
    high, low = upper_bound(lambda z: 1 / z, a.low), upper_bound(lambda z: -1 / z, a.high)
    return Interval(-low, high)


def _inverse_power(factor: float, power: float) -> Callable[[Interval], Tensor]:
    """Build an upper bound on factor/|a|^power, infinite where a may be 0."""
    return lambda a: upper_bound(lambda z: factor / z ** arb(power), a.least_magnitude)


def _exponential_bound(a: Interval) -> Tensor:
    return upper_bound(lambda z: z.exp(), a.high)


def _sigmoid_slope(a: Interval) -> Tensor:
    return upper_bound(balls.sigmoid_slope, a.least_magnitude).clamp(max=0.25)


def constant_bound(value: float) -> Callable[[Interval], Tensor]:
    """The function that returns the same bound for every interval."""
    return lambda a: torch.full_like(a.low, value)


def _activation_bounds(rho: Activation) -> FunctionBounds:
    """Its values from its ends where it increases, else by the mean value theorem."""

    def mean_value_image(a: Interval) -> Interval:
        middle = (a.low + a.high) / 2
        reach = mul_up(rho.slope, torch.maximum(add_up(a.high, -middle), add_up(middle, -a.low)))
        value = Interval(
            -upper_bound(lambda z: -rho.ball(z), middle), upper_bound(rho.ball, middle)
        )
        image = value.widened(reach)
        return Interval(image.low.clamp(min=-rho.bound), image.high.clamp(max=rho.bound))

    def slope(a: Interval) -> Tensor:
        return _upper_bound_on(lambda z: abs(rho.ball_derivative(z)), a).clamp(max=rho.slope)

    image = _increasing_image(rho.ball) if rho.name in INCREASING else mean_value_image
    return FunctionBounds(image, slope, constant_bound(rho.curvature))


_ELEMENTARY: Mapping[str, FunctionBounds] = {
    "sigmoid": FunctionBounds(
        lambda a: Interval(sigmoid_down(a.low), sigmoid_up(a.high)),
        _sigmoid_slope,
        constant_bound(ACTIVATIONS["sigmoid"].curvature),
    ),
    "tanh": FunctionBounds(
        lambda a: Interval(-tanh_up(-a.low), tanh_up(a.high)),
        lambda a: upper_bound(balls.tanh_slope, a.least_magnitude).clamp(max=1.0),
        constant_bound(ACTIVATIONS["tanh"].curvature),
    ),
    "exp": FunctionBounds(
        _increasing_image(lambda z: z.exp()), _exponential_bound, _exponential_bound
    ),
    "softplus": FunctionBounds(
        _increasing_image(balls.softplus), lambda a: sigmoid_up(a.high), _sigmoid_slope
    ),
    "sin": _periodic_bounds(lambda z: z.sin(), lambda z: z.cos()),
    "cos": _periodic_bounds(lambda z: z.cos(), lambda z: z.sin()),
    "reciprocal": FunctionBounds(_reciprocal, _inverse_power(1.0, 2), _inverse_power(2.0, 3)),
    "sqrt": FunctionBounds(
        _increasing_image(balls.sqrt), _inverse_power(0.5, 0.5), _inverse_power(0.25, 1.5)
    ),
}
