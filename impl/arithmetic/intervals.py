"""Interval arithmetic with outward rounding, and how steep functions are on intervals.

Source: Moore, Kearfott & Cloud, Introduction to Interval Analysis.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

import torch
from flint import arb, ctx
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS, Activation, activation
from rnnbounds.impl.arithmetic.elementary import Elementary
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.numbers import ball_functions as balls
from rnnbounds.impl.numbers.ball_functions import float_above
from rnnbounds.impl.numbers.interval import Interval, above, tanh_up
from rnnbounds.impl.numbers.outward import add_up, div_up, mul_up, norm_up, subtract_down, sum_up

_PRECISION = 80
_INCREASING = (
    "identity", "relu", "leaky-relu", "tanh", "sigmoid", "softplus", "elu", "erf", "arctan",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Bounded:
    """A function on intervals: where its values lie, and at least |f′| and |f″| there."""

    image: Callable[[Interval], Interval]
    slope: Callable[[Interval], Tensor]
    curvature: Callable[[Interval], Tensor]

    @property
    def derivative(self) -> "Bounded":
        """f′, of whose own curvature nothing is said."""
        return Bounded(lambda a: symmetric(self.slope(a)), self.curvature, _constant(math.inf))


class Mapped(Elementary):
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
    def through(self, f: Bounded) -> Self:
        """f of each unit."""

    def function(self, name: str) -> Self:
        """The elementary function of that name."""
        return self.through(bounded(name))


def everywhere(a: Interval, c: float) -> Interval:
    """That number in the place of each unit."""
    return Interval(torch.full_like(a.low, c), torch.full_like(a.low, c))


def magnitude(a: Interval) -> Tensor:
    """At least |a|."""
    return torch.maximum(a.high.abs(), a.low.abs()).nan_to_num(math.inf, math.inf, math.inf)


def symmetric(size: Tensor) -> Interval:
    """|a| ≤ size."""
    return Interval(-size, size)


def added(a: Interval, b: Interval) -> Interval:
    """a + b."""
    return Interval(-add_up(-a.low, -b.low), add_up(a.high, b.high))


def product(a: Interval, b: Interval) -> Interval:
    """a b."""
    ends = torch.broadcast_tensors(a.low, a.high, b.low, b.high)  # type: ignore[no-untyped-call]
    one, two = torch.stack(ends[:2]), torch.stack(ends[2:])
    # Each end of the one by each of the other, rounded up with either sign: one call, not eight.
    high, low = mul_up(torch.stack([one, -one])[:, :, None], two).amax((1, 2))
    return Interval(-low, high)


def mapped(W: Tensor, v: Interval) -> Interval:
    """W v for W (B, m, N) and v (B, N)."""
    low, high, still = v.low[:, None, :], v.high[:, None, :], W == 0

    def total(told: Tensor) -> Tensor:
        return sum_up(torch.where(still, 0.0, told))  # of numbers of which nothing is known, too

    if torch.equal(v.low, -v.high):
        return symmetric(total(mul_up(W.abs(), high)))
    ends = [total(torch.maximum(mul_up(A, low), mul_up(A, high))) for A in (-W, W)]
    return Interval(-ends[0], ends[1])


def of_ball(W: Tensor, radius: Tensor) -> Interval:
    """W x over ‖x‖₂ ≤ radius: W (B, m, d), radius (B,)."""
    return symmetric(mul_up(norm_up(W), radius[:, None]))


def mixed(gate: Interval, a: Interval, b: Interval) -> Interval:
    """g a + (1 − g) b, which for 0 ≤ g ≤ 1 lies between a and b."""
    parts = (gate.low, gate.high, a.high, -a.low, b.high, -b.low)
    ends = torch.broadcast_tensors(*parts)  # type: ignore[no-untyped-call]
    # Both ends of the gate by both sides of a and b, those below with the other sign.
    g, top, bottom = (torch.stack(ends[i : i + 2]) for i in (0, 2, 4))
    rests = mul_up(torch.stack(_rest(g))[:, :, None], bottom).amax(0)
    sides = add_up(mul_up(g[:, None], top), rests).amax(0).minimum(torch.maximum(top, bottom))
    one = torch.ones_like(gate.low)
    wide = added(product(gate, a), product(added(Interval(one, one), -gate), b))
    inside = (gate.low >= 0) & (gate.high <= 1)
    low, high = torch.where(inside, -sides[1], wide.low), torch.where(inside, sides[0], wide.high)
    return Interval(low, high)


def _rest(gate: Tensor) -> tuple[Tensor, Tensor]:
    """1 − g, rounded up and down: a negative number is the larger for less of it."""
    return add_up(1.0, -gate), subtract_down(1.0, gate)


def bounded(name: str) -> Bounded:
    """What is known of an elementary function, or else of an activation; raises as `activation`."""
    return _ELEMENTARY[name] if name in _ELEMENTARY else _of_activation(activation(name))


def _increasing(f: Callable[[arb], arb]) -> Callable[[Interval], Interval]:
    return lambda a: Interval(-above(lambda z: -f(z), a.low), above(f, a.high))


def _over(f: Callable[[arb], arb], a: Interval) -> Tensor:
    """At least f over whole intervals, entry by entry; infinite where balls do not tell."""
    found = []
    with ctx.workprec(_PRECISION):
        for low, high in zip(a.low.flatten().tolist(), a.high.flatten().tolist(), strict=True):
            found.append(float_above(f(arb(low).union(arb(high)))))
    return torch.tensor(found, dtype=torch.float64, device=a.low.device).reshape(a.low.shape)


def _periodic(f: Callable[[arb], arb], slope: Callable[[arb], arb]) -> Bounded:
    """A sine or a cosine."""

    def image(a: Interval) -> Interval:
        low, high = _over(lambda z: -f(z), a), _over(f, a)
        return Interval(-low.clamp(max=1.0), high.clamp(max=1.0))

    def steepest(of: Callable[[arb], arb]) -> Callable[[Interval], Tensor]:
        return lambda a: _over(lambda z: abs(of(z)), a).clamp(max=1.0)

    return Bounded(image, steepest(slope), steepest(f))


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
    high, low = above(lambda z: 1 / z, a.low), above(lambda z: -1 / z, a.high)
    return Interval(-low, high)


def _inverse_power(a: Interval, power: int) -> Tensor:
    """At least 1/|a|^power, infinite where a may be 0."""
    size = div_up(1.0, a.least())
    result = size
    for _ in range(power - 1):
        result = mul_up(result, size)
    return result


def _exponential(a: Interval) -> Tensor:
    return above(lambda z: z.exp(), a.high)


def _constant(value: float) -> Callable[[Interval], Tensor]:
    return lambda a: torch.full_like(a.low, value)


def _of_activation(rho: Activation) -> Bounded:
    """Its values from its ends where it increases, else by the mean value theorem."""

    def spread(a: Interval) -> Interval:
        middle = (a.low + a.high) / 2
        reach = mul_up(rho.slope, torch.maximum(add_up(a.high, -middle), add_up(middle, -a.low)))
        there = Interval(-above(lambda z: -rho.ball(z), middle), above(rho.ball, middle))
        wide = there.widened(reach)
        return Interval(wide.low.clamp(min=-rho.bound), wide.high.clamp(max=rho.bound))

    def slope(a: Interval) -> Tensor:
        return _over(lambda z: abs(rho.ball_derivative(z)), a).clamp(max=rho.slope)

    image = _increasing(rho.ball) if rho.name in _INCREASING else spread
    return Bounded(image, slope, _constant(rho.curvature))


_ELEMENTARY: Mapping[str, Bounded] = {
    "sigmoid": Bounded(
        lambda a: Interval(a.sigmoid_low(), a.sigmoid()),
        Interval.sigmoid_slope,
        _constant(ACTIVATIONS["sigmoid"].curvature),
    ),
    "tanh": Bounded(
        lambda a: Interval(-tanh_up(-a.low), tanh_up(a.high)),
        Interval.tanh_slope,
        _constant(ACTIVATIONS["tanh"].curvature),
    ),
    "exp": Bounded(_increasing(lambda z: z.exp()), _exponential, _exponential),
    "softplus": Bounded(_increasing(balls.softplus), Interval.sigmoid, Interval.sigmoid_slope),
    "sin": _periodic(lambda z: z.sin(), lambda z: z.cos()),
    "cos": _periodic(lambda z: z.cos(), lambda z: z.sin()),
    "reciprocal": Bounded(
        _reciprocal,
        lambda a: _inverse_power(a, 2),
        lambda a: mul_up(2.0, _inverse_power(a, 3)),
    ),
}
