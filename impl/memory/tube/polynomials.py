"""Sets that a ball of starts leads to, to a given order: polynomials are kept, not boxed at once.

Of every run from s_i = r_i α_i with |α_i| ≤ 1 a number of the step is

    u = c + P(α) + z,    z in a zonotope,    u ∈ [a, b],

for a polynomial P of degree p, with floats as coefficients and no constant. Products and functions
go to P up to degree p, so that they cancel and are forgotten with the step's Jacobians; only terms
of higher degree, inputs and every rounding go to the zonotope. It is moved by the mean value
theorem:

    u v:  z (c′ + P′ + z′/2) + z′ (c + P + z/2),    f(u) = g(u − c) + R(u):  z g′(ξ),

for a polynomial g of degree p that is fitted to f at K + 1 points h apart; between them R is off
its interpolation by (|f″| + |g″|) h²/8 at most.
Source: Makino & Berz (2003), Taylor models; Kochdumper & Althoff (2021), polynomial zonotopes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import comb
from typing import Self

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.arithmetic.base import ALL
from rnnbounds.impl.arithmetic.elementary import Elementary
from rnnbounds.impl.memory.tube.chords import Curve, Known, between, curve
from rnnbounds.impl.memory.tube.ends import Ends
from rnnbounds.impl.memory.tube.forms import Forms, product, size_of
from rnnbounds.impl.memory.tube.zonotopes import Zonotope
from rnnbounds.impl.numbers.outward import TINY, UNIT, gamma

_UP = 1 + 64 * UNIT
POINTS = 32  # K


@dataclass(frozen=True, eq=False)
class Polynomial(Elementary):
    """centre (M, m), parts (M, m, n_d) for d = 1 … p in `variables`, rest and ends (M, m)."""

    centre: Tensor
    parts: tuple[Tensor, ...]
    rest: Zonotope
    ends: Ends
    variables: int

    @classmethod
    def ball(cls, radii: Tensor, p: int) -> Self:
        """All states with |s_i| ≤ r_i, for radii (M, N) that are 0 in the same units."""
        moved = [i for i, wide in enumerate((radii > 0).any(0).tolist()) if wide]
        line = torch.diag_embed(radii)[..., moved]
        n = len(moved)
        higher = (radii.new_zeros(*radii.shape, comb(n + d - 1, d)) for d in range(2, p + 1))
        zero = torch.zeros_like(radii)
        return cls(zero, (line, *higher), Zonotope.point(zero), Ends(-radii, radii), n)

    @property
    def size(self) -> int:
        """How many units."""
        return self.centre.shape[-1]

    @cached_property
    def swing(self) -> Tensor:
        """At least |P(α)|."""
        return torch.stack([size_of(part) for part in self.parts]).sum(0) * _UP

    @cached_property
    def reach(self) -> Tensor:
        """At least |u − c|, as the form or as the interval has it."""
        return torch.fmin((self.swing + self.rest.reach) * _UP, self.ends.radius(self.centre))

    @cached_property
    def most(self) -> Tensor:
        """At least |c| and all of the form, in multiples of which roundings are bounded."""
        return (self.centre.abs() + self.swing + self.rest.reach) * _UP

    @property
    def rounding(self) -> float:
        """At least what products of forms lose, relative to the sums of their coefficients."""
        return 8 * gamma(self.parts[-1].shape[-1] + 64)

    def of(
        self, centre: Tensor, parts: Sequence[Tensor], rest: Zonotope, lost: Tensor, ends: Ends
    ) -> Self:
        """A number in these variables, with what is lost in its rest, and the ends that this
        leaves."""
        found = replace(self, centre=centre, parts=tuple(parts), rest=rest.widened(lost), ends=ends)
        around = (found.swing + found.rest.reach) * _UP
        return replace(found, ends=ends.within(Ends.outward(centre - around, centre + around)))

    def __add__(self, other: Self) -> Self:
        parts = [x + y for x, y in zip(self.parts, other.parts, strict=True)]
        lost = 4 * UNIT * (self.most + other.most)
        centre, ends = self.centre + other.centre, self.ends + other.ends
        return self.of(centre, parts, self.rest + other.rest, lost, ends)

    def __sub__(self, other: Self) -> Self:
        return self + -other

    def __neg__(self) -> Self:
        parts = tuple(-part for part in self.parts)
        return replace(self, centre=-self.centre, parts=parts, rest=-self.rest, ends=-self.ends)

    @property
    def mean(self) -> Known:
        """c + P + z/2 = u − z/2."""
        half = self.rest.reach / 2
        return Known(self.centre, (torch.fmin(self.swing, self.reach) + half) * _UP)

    def __mul__(self, other: Self) -> Self:
        a, b = self.centre[..., None], other.centre[..., None]
        both = product(self.parts, other.parts, self.variables)
        terms = zip(self.parts, other.parts, both.parts, strict=True)
        parts = [b * x + a * y + z for x, y, z in terms]
        rest = self.rest.scaled(*other.mean) + other.rest.scaled(*self.mean)
        lost = (both.cut + self.rounding * self.most * other.most) * _UP + TINY
        centre, ends = self.centre * other.centre, self.ends.product(other.ends)
        return self.of(centre, parts, rest, lost, ends)

    def constant(self, c: float) -> Self:
        """That number in the place of each unit."""
        return self.still(torch.full_like(self.centre, c))

    def still(self, value: Tensor) -> Self:
        """A number that is the same in all runs, (M, m)."""
        parts = tuple(part.new_zeros(*value.shape, part.shape[-1]) for part in self.parts)
        ends = Ends(value, value)
        return replace(self, centre=value, parts=parts, rest=Zonotope.point(value), ends=ends)

    def through(self, f: Curve) -> Self:
        """f of each unit."""
        (g, off), power = fitted(f, self), Forms(self.parts, torch.zeros_like(self.swing))
        parts = [g[1][..., None] * part for part in self.parts]
        lost = torch.zeros_like(off)
        for factor in g[2:]:
            cut = power.cut * self.swing
            power = product(power.parts, self.parts, self.variables)
            power = power._replace(cut=(power.cut + cut) * _UP)
            parts = [x + factor[..., None] * y for x, y in zip(parts, power.parts, strict=True)]
            lost = lost + factor.abs() * power.cut
        sizes = torch.stack([x.abs() * self.swing**i for i, x in enumerate(g)]).sum(0)
        lost = (lost + off + len(g) * self.rounding * sizes) * _UP + TINY
        return self.of(g[0], parts, self.rest.scaled(*steep(g, self)), lost, f.image(self.ends))

    def function(self, name: str) -> Self:
        """The elementary function of that name."""
        return self.through(curve(name))

    def part(self, start: int, stop: int) -> Self:
        """The units from start on, before stop."""
        units = slice(start, stop)
        parts = tuple(part[:, units] for part in self.parts)
        rest, ends = self.rest.part(start, stop), self.ends.part(start, stop)
        return replace(self, centre=self.centre[:, units], parts=parts, rest=rest, ends=ends)

    def clamped(self, most: int) -> Self:
        """The form with `most` generators in its rest at most, and units that are their interval
        alone where that says twice as much."""
        middle = self.ends.middle
        radius = self.ends.radius(middle)
        flat = ~((self.swing + self.rest.reach) <= 2 * radius) & radius.isfinite()
        kept = ~flat[..., None]
        generators = torch.where(kept, self.rest.generators, 0.0)
        rest = Zonotope(generators, torch.where(flat, radius, self.rest.box)).unboxed(most)
        centre = torch.where(flat, middle, self.centre)
        parts = tuple(torch.where(kept, part, 0.0) for part in self.parts)
        return replace(self, centre=centre, parts=parts, rest=rest)

    @property
    def zonotope(self) -> Zonotope:
        """Zonotope that holds u − c, in which α is forgotten: the first order as generators, higher
        ones in the box."""
        rest = self.rest.padded(self.variables, 0)
        generators = rest.generators.clone()
        generators[..., : self.variables] = self.parts[0]
        higher = [size_of(part) for part in self.parts[1:]]
        return Zonotope(generators, rest.box).widened(torch.stack(higher).sum(0) * _UP)


def _points(low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
    """K + 1 numbers from low to high, and how far apart neighbours are at most."""
    share = torch.linspace(0, 1, POINTS + 1, dtype=low.dtype)[:, None, None]
    u = torch.cat([torch.minimum(low + (high - low) * share[:-1], high), high[None]])
    return u, (high - low) / POINTS * _UP + 4 * UNIT * torch.maximum(low.abs(), high.abs())


def _bend(g: Sequence[Tensor], z: Tensor) -> Tensor:
    """At least |g″| up to |z|."""
    terms = [i * (i - 1) * g[i].abs() * z ** (i - 2) for i in range(2, len(g))]
    return torch.stack(terms).sum(0) * _UP


def fitted(f: Curve, v: Polynomial) -> tuple[list[Tensor], Tensor]:
    """Coefficients g_0 … g_p of a polynomial g, and how far f(c + z) is from g(z) at most on the
    interval of v around its centre; a line of the mean chord where that is nearer or f has a
    kink."""
    c, (low, high), p = v.centre, v.ends, len(v.parts)
    (u, step), scale = _points(low, high), (high - low).clamp(min=TINY)
    value, z = f.function(u), u - c
    powers = torch.stack([(z / scale) ** i for i in range(p + 1)], -1).nan_to_num(0.0)
    solved = torch.linalg.lstsq(
        powers.permute(1, 2, 0, 3), value.permute(1, 2, 0)[..., None].nan_to_num(0.0)
    ).solution[..., 0].nan_to_num(0.0, 0.0, 0.0)  # fmt: skip
    g = [solved[..., i] / scale**i for i in range(p + 1)]
    terms = torch.stack([g[i] * z**i for i in range(p + 1)])
    left, sizes = value - terms.sum(0), value.abs() + terms.abs().sum(0)
    error = ((f.error(u) + 16 * (p + 2) * UNIT * sizes) * _UP).amax(0)
    bent = (f.curvature(low, high) + _bend(g, v.ends.radius(c))) * step * step / 8
    middle = (left.amax(0) + left.amin(0)) / 2
    off = (torch.maximum(left.amax(0) - middle, middle - left.amin(0)) + error + bent) * _UP
    off = off + 2 * UNIT * (g[0].abs() + middle.abs())
    none = torch.zeros_like(c)
    slope = f.limited(f.chord(Known(c, v.reach), Known(c, none)))
    plain = (slope.radius * v.reach + f.error(c)) * _UP
    off, plain = (size.nan_to_num(torch.inf, torch.inf) for size in (off, plain))
    lines = (f.function(c), slope.centre, *[none] * (p - 1))
    near = off < plain
    found = (g[0] + middle, *g[1:])
    chosen = [torch.where(near, x, y) for x, y in zip(found, lines, strict=True)]
    return chosen, torch.where(near, off, plain)


def steep(g: Sequence[Tensor], v: Polynomial) -> Known:
    """All g′(z) for z between a value of P and one of u − c: of an interval that holds both."""
    c = v.centre
    low = torch.fmin(v.ends.low - c, -v.swing) * _UP
    high = torch.fmax(v.ends.high - c, v.swing) * _UP
    z, step = _points(low, high)
    terms = torch.stack([i * g[i] * z ** (i - 1) for i in range(1, len(g))])
    lost = 16 * len(g) * UNIT * terms.abs().sum(0).amax(0)
    lost = (lost + _bend(g, torch.maximum(high, -low)) * step) * _UP
    value = terms.sum(0)
    return between(value.amin(0) - lost, value.amax(0) + lost)


@dataclass(frozen=True, eq=False)
class Polynomials:
    """Parameters (1, m, n) and (1, m), exact as they are stored, beside a number of the step."""

    parameters: Mapping[str, Tensor]
    like: Polynomial

    def affine(self, weight: str, bias: str | None, v: Polynomial, rows: slice = ALL) -> Polynomial:
        """W v + b."""
        W = self.parameters[weight][0, rows]
        b = None if bias is None else self.parameters.get(bias)
        added = torch.zeros_like(W[:, 0]) if b is None else b[0, rows]
        lost = (v.most @ W.abs().mT + added.abs()) * (4 * gamma(W.shape[-1] + 4)) + TINY
        centre, ends = v.centre @ W.mT + added, v.ends.mapped(W, added)
        return v.of(centre, [W @ part for part in v.parts], v.rest.mapped(W), lost, ends)

    def vector(self, name: str, rows: slice = ALL) -> Polynomial:
        """A parameter vector."""
        return self.like.still(self.parameters[name][:, rows].expand(len(self.like.centre), -1))

    def activate(self, name: str, v: Polynomial) -> Polynomial:
        """ρ(v)."""
        return v.through(curve(name))

    def slope(self, name: str, v: Polynomial) -> Polynomial:
        """ρ′(v), which moves by β_ρ at most for each unit."""
        rho = activation(name)
        found = v.still(rho.derivative(v.centre))
        radius = (rho.curvature * v.reach + rho.derivative_error) * _UP
        ends = Ends.outward(found.centre - radius, found.centre + radius)
        return replace(found, rest=found.rest.widened(radius), ends=ends)

    def mix(self, gate: Polynomial, a: Polynomial, b: Polynomial) -> Polynomial:
        """g∘a + (1 − g)∘b, which is between a and b for 0 ≤ g ≤ 1."""
        found = b + gate * (a - b)
        return replace(found, ends=found.ends.within(a.ends.hull(b.ends, gate.ends)))

    def join(self, *parts: Polynomial) -> Polynomial:
        """All units of the parts, one after another."""
        forms = zip(*(v.parts for v in parts), strict=True)
        return replace(
            parts[0],
            centre=torch.cat([v.centre for v in parts], 1),
            parts=tuple(torch.cat(some, 1) for some in forms),
            rest=Zonotope.joined(*(v.rest for v in parts)),
            ends=Ends.joined(*(v.ends for v in parts)),
        )
