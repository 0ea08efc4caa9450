"""Slopes of chords: how far apart two values of a function are, for how far apart its arguments.

    f(u) − f(u′) = f[u, u′](u − u′),    f[u, u′] = ∫ f′(u′ + θ(u − u′)) dθ over 0 ≤ θ ≤ 1,

by the mean value theorem along the segment between the two, an interval of numbers, and so within
any interval that holds both and over which f′, f″ and f‴ are bounded. With |u − v| ≤ r, |u′ − v′| ≤
r′, β ≥ |f″| and γ ≥ |f‴|, and since ∫θ = 1/2, ∫θ² = 1/3 and ∫θ(1 − θ) = 1/6,

    |f[u, u′] − m| ≤ β(r + r′)/2,    (v − v′) ∂m = (f′(v) − m, m − f′(v′))    for m = f[v, v′],

and what f[u, u′] is off from its first-order expansion by is at most γ(r² + r r′ + r′²)/6. For v
and v′ so near that rounding loses their difference, m is within β|v − v′|/4 of f′ between them.
Source: Moore, Kearfott & Cloud, Introduction to Interval Analysis, on mean value forms and slopes.

Intervals in plain float64, rounded outwards by relative margins: where numbers of a tube lie.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import Activation
from rnnbounds.impl.arithmetic.intervals import INCREASING
from rnnbounds.impl.numbers.outward import TINY, UNIT, gamma

_UP = 1 + 64 * UNIT


class Ends(NamedTuple):
    """[low, high] of each unit (M, m); infinite where an end is no number."""

    low: Tensor
    high: Tensor

    @classmethod
    def outward(cls, low: Tensor, high: Tensor) -> Self:
        """An interval whose ends are off by four roundings at most."""
        low, high = low - low.abs() * 4 * UNIT - TINY, high + high.abs() * 4 * UNIT + TINY
        low, high = (
            end.nan_to_num(none, torch.inf, -torch.inf)
            for end, none in ((low, -torch.inf), (high, torch.inf))
        )
        return cls(low, high)

    def within(self, other: "Ends") -> "Ends":
        """The intersection with another interval, of whose ends NaN says nothing."""
        return Ends(torch.fmax(self.low, other.low), torch.fmin(self.high, other.high))

    def __add__(self, other: "Ends") -> "Ends":  # type: ignore[override]
        return Ends.outward(self.low + other.low, self.high + other.high)

    def __neg__(self) -> "Ends":
        return Ends(-self.high, -self.low)

    def product(self, other: "Ends") -> "Ends":
        """All products of two numbers of the intervals."""
        found = torch.stack([a * b for a in self for b in other])
        return Ends.outward(found.amin(0), found.amax(0))

    def hull(self, other: "Ends", gate: "Ends") -> "Ends":
        """Interval that holds g a + (1 − g) b for all of the gate, infinite unless 0 ≤ g ≤ 1."""
        unit = (gate.low >= 0) & (gate.high <= 1)
        low, high = torch.minimum(self.low, other.low), torch.maximum(self.high, other.high)
        return Ends(torch.where(unit, low, -torch.inf), torch.where(unit, high, torch.inf))

    def mapped(self, W: Tensor, b: Tensor | None) -> "Ends":
        """W u + b."""
        off, size = 2 * gamma(W.shape[-1] + 4), W.abs()
        added = torch.zeros_like(W[:, 0]) if b is None else b
        middle = self.middle
        radius = self.radius(middle) + middle.abs() * off
        around = (radius @ size.mT + added.abs() * off) * (1 + 2 * off) * _UP + TINY
        between = middle @ W.mT + added
        return Ends.outward(between - around, between + around)

    def part(self, start: int, stop: int) -> "Ends":
        """The units from start on, before stop."""
        return Ends(self.low[..., start:stop], self.high[..., start:stop])

    @classmethod
    def joined(cls, *parts: "Ends") -> Self:
        """All units of the parts, one after another."""
        lead = np.broadcast_shapes(*(part.low.shape[:-1] for part in parts))
        return cls(*(
            torch.cat([end.expand(*lead, -1) for end in ends], -1)
            for ends in zip(*parts, strict=True)
        ))  # fmt: skip

    @property
    def middle(self) -> Tensor:
        """A float in the interval; NaN if it is infinite."""
        return torch.minimum(torch.maximum((self.low + self.high) / 2, self.low), self.high)

    @property
    def apart(self) -> Tensor:
        """At least |u − u′| of the two numbers whose intervals are side by side, (M, m)."""
        (low, other_low), (high, other_high) = self
        return torch.maximum(high - other_low, other_high - low).clamp(min=0.0) * _UP + TINY

    def radius(self, centre: Tensor) -> Tensor:
        """At least |u − centre|."""
        return torch.maximum(self.high - centre, centre - self.low).clamp(min=0.0) * _UP


POINTS = 16  # intervals between those at which a function is bounded that does not increase
_STEEPEST = 1.3169578969248167  # where |σ″| is largest, log(2 + √3)
_POSITIVE = ("sigmoid", "relu", "softplus")
# At least sup |ρ‴|, of activations where it is finite: 1/8, 2, sup |σ″|, 1, 4/√π and 2.
_THIRD = {
    "identity": 0.0, "sigmoid": 0.125, "tanh": 2.0, "softplus": 0.0963, "sin": 1.0, "erf": 2.2568,
    "arctan": 2.0,
}  # fmt: skip


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


@dataclass(frozen=True)
class Curve:
    """An activation f = ρ, and bounds on it and its derivatives between two numbers."""

    rho: Activation

    @property
    def convex(self) -> bool:
        """True where f′ jumps, and increases."""
        return math.isinf(self.rho.curvature)

    @property
    def third(self) -> float:
        """At least |f‴|."""
        return _THIRD.get(self.rho.name, math.inf)

    def error(self, z: Tensor) -> Tensor:
        """At least what the float64 function is off by."""
        cap = self.rho.cap
        size = torch.full_like(z, cap) if math.isfinite(cap) else self.rho.rate * z.abs()
        return (size + self.rho.floor) * _UP

    def curvature(self, low: Tensor, high: Tensor) -> Tensor:
        """At least |f″| between the two."""
        if self.rho.name == "sigmoid":
            return _bent(low, high)
        if self.rho.name == "tanh":  # tanh z = 2σ(2z) − 1
            return 8 * _bent(2 * low, 2 * high)
        return torch.full_like(low, self.rho.curvature)

    def image(self, ends: Ends) -> Ends:
        """Bounds on f over intervals: at their ends if it increases, else at points on them, from
        whose interpolation f differs by β h²/8 for points h apart."""
        (low, high), increases = ends, self.rho.name in INCREASING
        count = 1 if increases else POINTS
        inner = [low + (high - low) * (i / count) for i in range(1, count)]
        u = torch.stack([low, *inner, high])
        value, error = self.rho(u), (self.error(u) * _UP).amax(0)
        if not increases:
            step = (high - low) / count * _UP + 4 * UNIT * torch.maximum(low.abs(), high.abs())
            error = (error + self.curvature(low, high) * step * step / 8) * _UP
        found, most = Ends.outward(value.amin(0) - error, value.amax(0) + error), self.rho.bound
        least = 0.0 if self.rho.name in _POSITIVE else -most
        return Ends(found.low.clamp(min=least), found.high.clamp(max=most))

    def slope(self, v: Known) -> Known:
        """f′(v), where it is continuous."""
        a = v.centre
        bent = self.curvature(a - 2 * v.radius, a + 2 * v.radius) * v.radius
        return Known(self.rho.derivative(a), (self.rho.derivative_error + bent) * _UP)

    def chord(self, v: Known, other: Known) -> Known:
        """f[v, v′]; of one that jumps between the least and the greatest of its slopes there."""
        low, high = hull(v, other)
        if self.convex:
            return between(self.rho.derivative(low), self.rho.derivative(high))
        a, b = v.centre, other.centre
        beta = self.curvature(low, high)
        apart, middle = (a - b).abs() * _UP, (a + b) / 2
        off = beta * (apart / 4 + middle.abs() * 2 * UNIT)
        tangent = Known(self.rho.derivative(middle), (self.rho.derivative_error + off) * _UP)
        secant = (self.rho(a) - self.rho(b)) / (a - b)
        lost = (self.error(a) + self.error(b)) * _UP / apart + secant.abs() * 8 * UNIT
        # Never where a = b, as what is lost is then infinite, nor where a − b overflows.
        clear = (lost < tangent.radius) & apart.isfinite()
        centre = torch.where(clear, secant, tangent.centre)
        radius = torch.where(clear, lost, tangent.radius)
        return Known(centre, (radius + beta * (v.radius + other.radius) / 2) * _UP)

    def limited(self, slope: Known) -> Known:
        """Intersect a slope with [inf f′, sup f′], the range of all slopes."""
        least, most = self.rho.least, self.rho.slope
        low, high = slope.centre - slope.radius, slope.centre + slope.radius
        low = torch.where(low < least, least, low - low.abs() * UNIT * 4)
        return between(low, torch.where(high > most, most, high + high.abs() * UNIT * 4))


def hull(v: Known, other: Known) -> tuple[Tensor, Tensor]:
    """The ends of an interval that holds both."""
    low = torch.minimum(v.centre - v.radius, other.centre - other.radius)
    high = torch.maximum(v.centre + v.radius, other.centre + other.radius)
    return low - low.abs() * UNIT * 4, high + high.abs() * UNIT * 4


def between(low: Tensor, high: Tensor) -> Known:
    """Enclose [low, high] in a ball."""
    centre = (low + high) / 2
    return Known(centre, torch.maximum(high - centre, centre - low) * _UP)


def _bend(z: Tensor) -> Tensor:
    """At least |σ″(z)| = σ(z) σ(−z) tanh(z/2) for z ≥ 0."""
    return z.sigmoid() * (-z).sigmoid() * (z / 2).tanh() * (1 + 128 * UNIT) + 16 * UNIT


def _bent(low: Tensor, high: Tensor) -> Tensor:
    """At least |σ″| between the two, where |z| is nearest to log(2 + √3), up to which it increases
    and from which on it decreases."""
    most = torch.maximum(high.abs(), low.abs())
    least = torch.maximum(low, -high).clamp(min=0.0)
    return _bend(torch.minimum(torch.maximum(least, torch.full_like(least, _STEEPEST)), most))
