"""Sets that a ball of starts leads to, to second order: what bends is kept, not boxed at once.

Of every run from s_i = r α_i with |α_i| ≤ 1 a number of the step is

    u = c + ℓᵀα + αᵀQ α + z,    z in a zonotope,    u ∈ [a, b],

for floats c, ℓ and Q. What products and functions do to second order goes to ℓ and Q, so that it
cancels and is forgotten with the step's Jacobians; only what is of third order, inputs and every
rounding go to the zonotope. A function is f(u) = p + m(u − c) + q(u − c)² + R(u), for a parabola
that is fitted at K + 1 points h apart; between them R is off its interpolation by
(|f″| + 2|q|) h²/8 at most.
Source: Makino & Berz (2003), Taylor models; Kochdumper & Althoff (2021), polynomial zonotopes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.arithmetic.base import ALL
from rnnbounds.impl.arithmetic.elementary import Elementary
from rnnbounds.impl.memory.tube.chords import Curve, Known, curve
from rnnbounds.impl.memory.tube.ends import Ends
from rnnbounds.impl.memory.tube.zonotopes import Zonotope
from rnnbounds.impl.numbers.outward import TINY, UNIT, gamma

_UP = 1 + 64 * UNIT
POINTS = 32  # K


@dataclass(frozen=True, eq=False)
class Quadratic(Elementary):
    """centre (M, m), line (M, m, N), bend (M, m, N, N), rest and ends (M, m)."""

    centre: Tensor
    line: Tensor
    bend: Tensor
    rest: Zonotope
    ends: Ends

    @property
    def size(self) -> int:
        """How many units."""
        return self.centre.shape[-1]

    @cached_property
    def first(self) -> Tensor:
        """At least |ℓᵀα|."""
        return self.line.abs().sum(-1) * (1 + 2 * gamma(self.line.shape[-1] + 4))

    @cached_property
    def second(self) -> Tensor:
        """At least |αᵀQ α + z|."""
        more = 1 + 2 * gamma(self.line.shape[-1] ** 2 + 4)
        return (self.bend.abs().sum((-1, -2)) * more + self.rest.reach) * _UP

    @cached_property
    def reach(self) -> Tensor:
        """At least |u − c|, as the form or as the interval has it."""
        return torch.fmin((self.first + self.second) * _UP, self.ends.radius(self.centre))

    @cached_property
    def most(self) -> Tensor:
        """At least |c| + |ℓ|ᵀ1 + …, in multiples of which roundings are bounded."""
        return (self.centre.abs() + self.first + self.second) * _UP

    @classmethod
    def of(
        cls, centre: Tensor, line: Tensor, bend: Tensor, rest: Zonotope, lost: Tensor, ends: Ends
    ) -> Self:
        """The number, with what is lost in its rest, and the ends that this leaves."""
        found = cls(centre, line, bend, rest.widened(lost), ends)
        around = (found.first + found.second) * _UP
        return replace(found, ends=ends.within(Ends.outward(centre - around, centre + around)))

    def __add__(self, other: Self) -> Self:
        return self.of(
            self.centre + other.centre, self.line + other.line, self.bend + other.bend,
            self.rest + other.rest, 4 * UNIT * (self.most + other.most), self.ends + other.ends,
        )  # fmt: skip

    def __sub__(self, other: Self) -> Self:
        return self + -other

    def __neg__(self) -> Self:
        return type(self)(-self.centre, -self.line, -self.bend, -self.rest, -self.ends)

    def __mul__(self, other: Self) -> Self:
        a, b = self.centre, other.centre
        line = a[..., None] * other.line + b[..., None] * self.line
        bend = a[..., None, None] * other.bend + b[..., None, None] * self.bend
        zero = torch.zeros_like(a)
        rest = other.rest.scaled(a, zero) + self.rest.scaled(b, zero)
        lost = self.first * other.second + self.second * (other.first + other.second)
        lost = (lost + 16 * UNIT * self.most * other.most) * _UP + TINY
        return self.of(
            a * b, line, bend + _square(self.line, other.line), rest, lost,
            self.ends.product(other.ends),
        )  # fmt: skip

    def constant(self, c: float) -> Self:
        """That number in the place of each unit."""
        return self.still(torch.full_like(self.centre, c))

    def still(self, value: Tensor) -> Self:
        """A number that is the same in all runs, (M, m)."""
        m, N = value.shape[-1], self.line.shape[-1]
        line = self.line.new_zeros(len(value), m, N)
        bend = self.line.new_zeros(len(value), m, N, N)
        return type(self)(value, line, bend, Zonotope.point(value), Ends(value, value))

    def through(self, f: Curve) -> Self:
        """f of each unit."""
        c, (p, m, q, off) = self.centre, parabola(f, self)
        bend = m[..., None, None] * self.bend + q[..., None, None] * _square(self.line, self.line)
        curved = q.abs() * (2 * self.first * self.second + self.second * self.second)
        size = self.first + self.second
        rounded = 16 * UNIT * (p.abs() + (m.abs() + q.abs() * size) * (size + c.abs() * UNIT))
        lost = (off + curved + rounded) * _UP + TINY
        rest = self.rest.scaled(m, torch.zeros_like(m))
        return self.of(p, m[..., None] * self.line, bend, rest, lost, f.image(self.ends))

    def function(self, name: str) -> Self:
        """The elementary function of that name."""
        return self.through(curve(name))

    def part(self, start: int, stop: int) -> Self:
        """The units from start on, before stop."""
        units = slice(start, stop)
        return type(self)(
            self.centre[:, units], self.line[:, units], self.bend[:, units],
            self.rest.part(start, stop), self.ends.part(start, stop),
        )  # fmt: skip

    def clamped(self, most: int) -> Self:
        """The form with `most` generators in its rest at most, and units that are their interval
        alone where that says twice as much."""
        middle = self.ends.middle
        radius = self.ends.radius(middle)
        flat = ~((self.first + self.second) <= 2 * radius) & radius.isfinite()
        kept = ~flat[..., None]
        generators = torch.where(kept, self.rest.generators, 0.0)
        rest = Zonotope(generators, torch.where(flat, radius, self.rest.box)).unboxed(most)
        return type(self)(
            torch.where(flat, middle, self.centre), torch.where(kept, self.line, 0.0),
            torch.where(kept[..., None], self.bend, 0.0), rest, self.ends,
        )  # fmt: skip

    @property
    def zonotope(self) -> Zonotope:
        """Zonotope that holds u − c, in which α is forgotten: the first order as generators, the
        second in the box."""
        rest = self.rest.padded(self.line.shape[-1], 0)
        generators = rest.generators.clone()
        generators[..., : self.line.shape[-1]] = self.line
        bend = self.bend.abs().sum((-1, -2)) * (1 + 2 * gamma(self.line.shape[-1] ** 2 + 4))
        return Zonotope(generators, rest.box).widened(bend)


def _square(a: Tensor, b: Tensor) -> Tensor:
    """The symmetric matrix of (aᵀα)(bᵀα) for each unit."""
    outer = a[..., :, None] * b[..., None, :]
    return (outer + outer.mT) / 2


class Parabola(NamedTuple):
    """p + m z + q z², and how far f(c + z) is from it at most."""

    p: Tensor
    m: Tensor
    q: Tensor
    off: Tensor


def parabola(f: Curve, v: Quadratic) -> Parabola:
    """A parabola near f on the interval of v, around its centre; the line of the mean chord where
    that is nearer or f has a kink."""
    c, (low, high) = v.centre, v.ends
    share = torch.linspace(0, 1, POINTS + 1, dtype=c.dtype)[:, None, None]
    u = torch.cat([torch.minimum(low + (high - low) * share[:-1], high), high[None]])
    value, z, scale = f.function(u), u - c, (high - low).clamp(min=TINY)
    powers = torch.stack([torch.ones_like(z), z / scale, (z / scale) ** 2], -1).nan_to_num(0.0)
    solved = torch.linalg.lstsq(
        powers.permute(1, 2, 0, 3), value.permute(1, 2, 0)[..., None].nan_to_num(0.0)
    )
    p, m, q = (solved.solution[..., i, 0].nan_to_num(0.0, 0.0, 0.0) for i in range(3))
    m, q = m / scale, q / scale / scale
    left = value - p - m * z - q * z * z
    sizes = value.abs() + p.abs() + (m * z).abs() + (q * z * z).abs()
    error = (
        (f.error(u) + 16 * UNIT * (sizes + (m.abs() + q.abs() * z.abs()) * u.abs())) * _UP
    ).amax(0)
    step = (high - low) / POINTS * _UP + 4 * UNIT * torch.maximum(low.abs(), high.abs())
    bent = (f.curvature(low, high) + 2 * q.abs()) * step * step / 8
    middle = (left.amax(0) + left.amin(0)) / 2
    off = (torch.maximum(left.amax(0) - middle, middle - left.amin(0)) + error + bent) * _UP
    none = torch.zeros_like(c)
    slope = f.limited(f.chord(Known(c, v.reach), Known(c, none)))
    plain = slope.radius * v.reach + f.error(c)
    off, plain = (size.nan_to_num(torch.inf, torch.inf) for size in (off, plain))
    near = off < plain
    chosen = (p + middle, m, q, off), (f.function(c), slope.centre, none, plain)
    return Parabola(*(torch.where(near, a, b) for a, b in zip(*chosen, strict=True)))


@dataclass(frozen=True, eq=False)
class Quadratics:
    """Parameters (1, m, n) and (1, m), exact as they are stored, beside a number of the step."""

    parameters: Mapping[str, Tensor]
    like: Quadratic

    def affine(self, weight: str, bias: str | None, v: Quadratic, rows: slice = ALL) -> Quadratic:
        """W v + b."""
        W = self.parameters[weight][0, rows]
        b = None if bias is None else self.parameters.get(bias)
        added = torch.zeros_like(W[:, 0]) if b is None else b[0, rows]
        N = v.bend.shape[-1]
        bend = (W @ v.bend.flatten(-2)).reshape(*v.bend.shape[:1], -1, N, N)
        lost = (v.most @ W.abs().mT + added.abs()) * (4 * gamma(W.shape[-1] + 4)) + TINY
        centre, ends = v.centre @ W.mT + added, v.ends.mapped(W, added)
        return Quadratic.of(centre, W @ v.line, bend, v.rest.mapped(W), lost, ends)

    def vector(self, name: str, rows: slice = ALL) -> Quadratic:
        """A parameter vector."""
        return self.like.still(self.parameters[name][:, rows].expand(len(self.like.centre), -1))

    def activate(self, name: str, v: Quadratic) -> Quadratic:
        """ρ(v)."""
        return v.through(curve(name))

    def slope(self, name: str, v: Quadratic) -> Quadratic:
        """ρ′(v), which moves by β_ρ at most for each unit."""
        rho = activation(name)
        found = v.still(rho.derivative(v.centre))
        radius = (rho.curvature * v.reach + rho.derivative_error) * _UP
        ends = Ends.outward(found.centre - radius, found.centre + radius)
        return replace(found, rest=found.rest.widened(radius), ends=ends)

    def mix(self, gate: Quadratic, a: Quadratic, b: Quadratic) -> Quadratic:
        """g∘a + (1 − g)∘b, which is between a and b for 0 ≤ g ≤ 1."""
        found = b + gate * (a - b)
        return replace(found, ends=found.ends.within(a.ends.hull(b.ends, gate.ends)))

    def join(self, *parts: Quadratic) -> Quadratic:
        """All units of the parts, one after another."""
        return Quadratic(
            torch.cat([p.centre for p in parts], 1),
            torch.cat([p.line for p in parts], 1),
            torch.cat([p.bend for p in parts], 1),
            Zonotope.joined(*(p.rest for p in parts)),
            Ends.joined(*(p.ends for p in parts)),
        )
