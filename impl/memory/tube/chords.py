"""Slopes of chords: how far apart two values of a function are, for how far apart its arguments.

    f(u) − f(u′) = f[u, u′](u − u′),    f[u, u′] = ∫ f′(u′ + θ(u − u′)) dθ over 0 ≤ θ ≤ 1,

by the mean value theorem along the segment between the two, an interval of numbers, and so within
any interval that holds both and over which f′, f″ and f‴ are bounded. With |u − v| ≤ r, |u′ − v′| ≤
r′, β ≥ |f″| and γ ≥ |f‴|, and since ∫θ = 1/2, ∫θ² = 1/3 and ∫θ(1 − θ) = 1/6,

    |f[u, u′] − m| ≤ β(r + r′)/2,    (v − v′) ∂m = (f′(v) − m, m − f′(v′))    for m = f[v, v′],

and what f[u, u′] is off from its first-order expansion by is at most γ(r² + r r′ + r′²)/6. For v
and v′ so near that rounding loses their difference, m is within β|v − v′|/4 of f′ between them.
Source: Moore, Kearfott & Cloud, Introduction to Interval Analysis, on mean value forms and slopes.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import Activation, activation
from rnnbounds.impl.arithmetic.intervals import INCREASING
from rnnbounds.impl.memory.tube.ends import Ends
from rnnbounds.impl.numbers.outward import TINY, UNIT

_UP = 1 + 64 * UNIT
_LIBRARY = 16 * UNIT  # of exp, sin and cos, relative to their scale
POINTS = 16  # intervals between those at which a function is bounded that does not increase
_STEEPEST = 1.3169578969248167  # where |σ″| is largest, log(2 + √3)


class Known(NamedTuple):
    """Ball of all numbers within `radius` of `centre`."""

    centre: Tensor
    radius: Tensor

    def __sub__(self, other: "Known") -> "Known":
        found = self.centre - other.centre
        return Known(found, (self.radius + other.radius + found.abs() * 2 * UNIT) * _UP)

    @property
    def most(self) -> Tensor:
        """At least |a|."""
        return (self.centre.abs() + self.radius) * _UP


Bound = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Curve:
    """A function in float64, its slope, what both may be off by at z, and what bounds |f″|, |f‴|
    and f′ between two numbers; `convex` where f′ jumps, and increases; `increasing`
    where f does; all its `values` lie between two."""

    function: Callable[[Tensor], Tensor]
    derivative: Callable[[Tensor], Tensor]
    error: Callable[[Tensor], Tensor]
    slope_error: Callable[[Tensor], Tensor]
    curvature: Bound
    third: Bound
    least: float = -math.inf
    most: float = math.inf
    convex: bool = False
    increasing: bool = False
    values: tuple[float, float] = (-math.inf, math.inf)

    def image(self, ends: Ends) -> Ends:
        """Bounds on f over intervals: at their ends if it increases, else at points on them, from
        whose interpolation f differs by β h²/8 for points h apart."""
        low, high = ends
        count = 1 if self.increasing else POINTS
        inner = [low + (high - low) * (i / count) for i in range(1, count)]
        u = torch.stack([low, *inner, high])
        value, error = self.function(u), (self.error(u) * _UP).amax(0)
        if not self.increasing:
            step = (high - low) / count * _UP + 4 * UNIT * torch.maximum(low.abs(), high.abs())
            error = (error + self.curvature(low, high) * step * step / 8) * _UP
        found = Ends.outward(value.amin(0) - error, value.amax(0) + error)
        least, most = self.values
        return Ends(found.low.clamp(min=least), found.high.clamp(max=most))

    def slope(self, v: Known) -> Known:
        """f′(v), where it is continuous."""
        a = v.centre
        bent = self.curvature(a - 2 * v.radius, a + 2 * v.radius) * v.radius
        return Known(self.derivative(a), (self.slope_error(a) + bent) * _UP)

    def chord(self, v: Known, other: Known) -> Known:
        """f[v, v′]; of one that jumps between the least and the greatest of its slopes there."""
        low, high = hull(v, other)
        if self.convex:
            return between(self.derivative(low), self.derivative(high))
        a, b = v.centre, other.centre
        beta = self.curvature(low, high)
        apart, middle = (a - b).abs() * _UP, (a + b) / 2
        off = beta * (apart / 4 + middle.abs() * 2 * UNIT)
        tangent = Known(self.derivative(middle), (self.slope_error(middle) + off) * _UP)
        secant = (self.function(a) - self.function(b)) / (a - b)
        lost = (self.error(a) + self.error(b)) * _UP / apart + secant.abs() * 8 * UNIT
        # Never where a = b, as what is lost is then infinite, nor where a − b overflows.
        clear = (lost < tangent.radius) & apart.isfinite()
        centre = torch.where(clear, secant, tangent.centre)
        radius = torch.where(clear, lost, tangent.radius)
        return Known(centre, (radius + beta * (v.radius + other.radius) / 2) * _UP)

    def limited(self, slope: Known) -> Known:
        """Intersect a slope with [least, most], the range of all slopes."""
        low, high = slope.centre - slope.radius, slope.centre + slope.radius
        low = torch.where(low < self.least, self.least, low - low.abs() * UNIT * 4)
        high = torch.where(high > self.most, self.most, high + high.abs() * UNIT * 4)
        return between(low, high) if math.isfinite(self.most) else slope


def hull(v: Known, other: Known) -> tuple[Tensor, Tensor]:
    """The ends of an interval that holds both."""
    low = torch.minimum(v.centre - v.radius, other.centre - other.radius)
    high = torch.maximum(v.centre + v.radius, other.centre + other.radius)
    return low - low.abs() * UNIT * 4, high + high.abs() * UNIT * 4


def between(low: Tensor, high: Tensor) -> Known:
    """Enclose [low, high] in a ball."""
    centre = (low + high) / 2
    return Known(centre, torch.maximum(high - centre, centre - low) * _UP)


def curve(name: str) -> Curve:
    """Of an elementary function or an activation; raises as `activation`."""
    return _ELEMENTARY[name] if name in _ELEMENTARY else _of_activation(activation(name))


def _of_activation(rho: Activation) -> Curve:
    bent, sharp = _BENT.get(rho.name, _everywhere(rho.curvature)), _SHARP.get(rho.name, math.inf)
    return Curve(
        rho.function,
        rho.derivative,
        _error(rho),
        _everywhere_at(rho.derivative_error),
        bent,
        _everywhere(sharp),
        rho.least,
        rho.slope,
        convex=math.isinf(rho.curvature),
        increasing=rho.name in INCREASING,
        values=(0.0 if rho.name in _POSITIVE else -rho.bound, rho.bound),
    )


def _error(rho: Activation) -> Callable[[Tensor], Tensor]:
    """Build an upper bound, as a function of z, on the float64 error of ρ for one unit."""
    if math.isfinite(rho.cap):
        return _everywhere_at((rho.cap + rho.floor) * _UP)
    return lambda z: (rho.rate * z.abs() + rho.floor) * _UP


def _everywhere_at(bound: float) -> Callable[[Tensor], Tensor]:
    return lambda z: torch.full_like(z, bound)


def _everywhere(bound: float) -> Bound:
    return lambda low, high: torch.full_like(low, bound)


def _bend(z: Tensor) -> Tensor:
    """At least |σ″(z)| = σ(z) σ(−z) tanh(z/2) for z ≥ 0."""
    return z.sigmoid() * (-z).sigmoid() * (z / 2).tanh() * (1 + 128 * UNIT) + 16 * UNIT


def _bent(low: Tensor, high: Tensor) -> Tensor:
    """At least |σ″| between the two, where |z| is nearest to log(2 + √3), up to which it increases
    and from which on it decreases."""
    most = torch.maximum(high.abs(), low.abs())
    least = torch.maximum(low, -high).clamp(min=0.0)
    return _bend(torch.minimum(torch.maximum(least, torch.full_like(least, _STEEPEST)), most))


# tanh z = 2σ(2z) − 1
_BENT: Mapping[str, Bound] = {
    "sigmoid": _bent,
    "tanh": lambda low, high: 8 * _bent(2 * low, 2 * high),
}
# At least sup |ρ‴|, of activations where it is finite: 1/8, 2, sup |σ″|, 1, 4/√π and 2.
_POSITIVE = ("sigmoid", "relu", "softplus")
_SHARP: Mapping[str, float] = {
    "identity": 0.0, "sigmoid": 0.125, "tanh": 2.0, "softplus": 0.0963, "sin": 1.0, "erf": 2.2568,
    "arctan": 2.0,
}  # fmt: skip


def _relative(f: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    return lambda z: f(z).abs() * _LIBRARY + TINY


def _grown(low: Tensor, high: Tensor) -> Tensor:
    return high.exp() * _UP + TINY


def _pole(power: int, factor: float) -> Bound:
    """At least factor/|z|^power between the two, infinite where one is 0."""

    def bound(low: Tensor, high: Tensor) -> Tensor:
        least = torch.maximum(low, -high)
        return torch.where(least > 0, factor / least**power * _UP + TINY, torch.inf)

    return bound


def _root(z: Tensor) -> Tensor:
    return z.clamp(min=0.0).sqrt()


def _root_slope(z: Tensor) -> Tensor:
    return torch.where(z > 0, 0.5 / _root(z), 0.0)


def _positive(power: float, factor: float) -> Bound:
    """Upper bound on factor/z^power between the two, infinite unless both are positive."""

    def bound(low: Tensor, high: Tensor) -> Tensor:
        size = factor / low.clamp(min=0.0) ** power * (_UP + 64 * UNIT) + TINY
        return torch.where(low > 0, size, torch.inf)

    return bound


def _falling(z: Tensor) -> Tensor:
    return -1 / (z * z)


_ONE, _absolute = _everywhere(1.0), _everywhere_at(_LIBRARY)
_ELEMENTARY: Mapping[str, Curve] = {
    "exp": Curve(
        torch.exp, torch.exp, _relative(torch.exp), _relative(torch.exp), _grown, _grown,
        increasing=True, values=(0.0, math.inf),
    ),
    "sin": Curve(
        torch.sin, torch.cos, _absolute, _absolute, _ONE, _ONE, -1.0, 1.0, values=(-1.0, 1.0)
    ),
    "cos": Curve(
        torch.cos, lambda z: -z.sin(), _absolute, _absolute, _ONE, _ONE, -1.0, 1.0,
        values=(-1.0, 1.0),
    ),
    "reciprocal": Curve(
        torch.reciprocal, _falling, _relative(torch.reciprocal), _relative(_falling),
        _pole(3, 2.0), _pole(4, 6.0),
    ),
    "sqrt": Curve(
        _root, _root_slope, _relative(_root), _relative(_root_slope),
        _positive(1.5, 0.25), _positive(2.5, 0.375),
        increasing=True, values=(0.0, math.inf),
    ),
}  # fmt: skip
