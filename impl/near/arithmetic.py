"""An arithmetic of runs near one that was computed, and of how far two of them come apart.

A number holds, of each of L runs that were computed in float64, the exact value v of the step from
the computed state (`near`, with its rounding), and where u − v lies for every run near it (`off`).
Of two runs that meet the same inputs it also holds where (u − u′) − (v − v′) lies (`gap`). What
depends on the states is a difference times what lies between its ends, exactly:

    W v + b:  W Δ,    f(u):  f[u, u′] Δ,    u v:  (u + u′)/2 Δv + (v + v′)/2 Δu,

of a run and the computed one, or of two runs. Each u lies in an interval as well (`ends`), by plain
interval arithmetic, so that no set is wider than that has it: a bounded state stays in its box.
Slopes are known up to a radius, by which a difference leaves the generators of its zonotope for the
box. Of two runs, the first order of f[u, u′] and of the means is a combination of both off and
kept; so that all that leaves for the box is a multiple of how far the runs are apart, and is
forgotten as that is.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS, Activation, activation
from rnnbounds.impl.arithmetic.base import ALL
from rnnbounds.impl.arithmetic.elementary import Elementary
from rnnbounds.impl.arithmetic.running import Running, RunningError
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.near.chords import Curve, Ends, Known, hull
from rnnbounds.impl.near.zonotopes import Zonotope
from rnnbounds.impl.numbers.outward import UNIT

_UP = 1 + 64 * UNIT


@dataclass(frozen=True, eq=False)
class Tube(Elementary):
    """near (L, M, m) of M windows, off (L, M, m, p), ends (L, M, m), and of two runs the gap
    (M, m, p)."""

    near: RunningError
    off: Zonotope
    ends: Ends
    gap: Zonotope | None = None

    @classmethod
    def still(cls, near: RunningError, gaps: bool) -> Self:
        """Build the tube of a value common to all runs, with a gap of 0 if `gaps`."""
        off = Zonotope.point(near.value)
        ends = Ends.outward(near.value - near.error, near.value + near.error)
        return cls(near, off, ends, off[0] if gaps else None)

    @property
    def size(self) -> int:
        """How many units."""
        return self.near.size

    @property
    def values(self) -> Known:
        """v."""
        return Known(self.near.value, self.near.error)

    @property
    def fixed(self) -> bool:
        """True if it is equal in all runs: it depends on no state and no input."""
        return self.off.generators.shape[-1] == 0 and not bool(self.off.box.any())

    @cached_property
    def reach(self) -> Tensor:
        """At least |u − v|, as the zonotope or as the interval has it."""
        told = (self.ends.radius(self.near.value) + self.near.error) * _UP
        return torch.fmin(self.off.reach, told)

    @cached_property
    def apart(self) -> Tensor:
        """At least |(u − u′) − (v − v′)|, as its zonotope or as those of both runs have it."""
        assert self.gap is not None
        return torch.fmin(self.gap.reach, (self.reach[0] + self.reach[-1]) * _UP)

    @property
    def mean(self) -> Known:
        """(u + v)/2."""
        value, error = self.values
        return Known(value, (error + self.reach / 2) * _UP)

    def __add__(self, other: Self) -> Self:
        gap = None if self.gap is None or other.gap is None else self.gap + other.gap
        return type(self)(self.near + other.near, self.off + other.off, self.ends + other.ends, gap)

    def __sub__(self, other: Self) -> Self:
        return self + -other

    def __neg__(self) -> Self:
        gap = None if self.gap is None else -self.gap
        return type(self)(-self.near, -self.off, -self.ends, gap)

    def __mul__(self, other: Self) -> Self:
        if self.fixed or other.fixed:
            return self._times(other) if self.fixed else other._times(self)
        off = self.off.scaled(*other.mean) + other.off.scaled(*self.mean)
        gap = None
        if self.gap is not None and other.gap is not None:
            gap = _moved(self, other) + _moved(other, self)
        return type(self)(self.near * other.near, off, self.ends.product(other.ends), gap)

    def _times(self, v: Self) -> Self:
        """The product of what is the same for all runs."""
        value, error = self.values
        gap = None if v.gap is None else v.gap.scaled(value[0], error[0])
        off = v.off.scaled(value, error)
        return type(self)(self.near * v.near, off, self.ends.product(v.ends), gap)

    def constant(self, c: float) -> Self:
        """That number in the place of each unit, of all runs."""
        return self.still(self.near.constant(c), self.gap is not None)

    def through(self, rho: Activation, near: RunningError) -> Self:
        """ρ of each unit, whose values are known."""
        if self.fixed:
            return self.still(near, self.gap is not None)
        f = Curve(rho)
        value, error = self.values
        run = Known(value, (error + self.reach) * _UP)
        told = f.limited(f.chord(run, self.values))
        gap = None if self.gap is None else _bent(f, self, run, told)
        ends = self.ends.within(Ends.outward(value - run.radius, value + run.radius))
        return type(self)(near, self.off.scaled(*told), f.image(ends), gap)

    def function(self, name: str) -> Self:
        """The elementary function of that name; raises InputError for one of states that is no
        activation."""
        near = self.near.function(name)
        if self.fixed:
            return self.still(near, self.gap is not None)
        if name not in ACTIVATIONS:
            what = f"the step of the cell takes {name} of its states"
            raise InputError(f"{what}, of which nothing is proved near the data; leave out --near")
        return self.through(activation(name), near)

    def part(self, start: int, stop: int) -> Self:
        """The units from start on, before stop."""
        gap = None if self.gap is None else self.gap.part(start, stop)
        near, off = self.near.part(start, stop), self.off.part(start, stop)
        return type(self)(near, off, self.ends.part(start, stop), gap)


def _runs(v: Known) -> tuple[Known, Known]:
    """Of the two runs."""
    value, error = (part.expand(2, *part.shape[1:]) for part in v)
    return Known(value[0], error[0]), Known(value[1], error[1])


def _moved(factor: Tube, v: Tube) -> Zonotope:
    """(g + g′)/2 Δv less that of the values: c D + d o + o D, for c and d of these and o of off."""
    assert v.gap is not None
    (g, h), (a, b) = _runs(factor.values), _runs(v.values)
    centre = (g.centre + h.centre) / 2
    radius = ((g.radius + h.radius) / 2 + centre.abs() * 2 * UNIT) * _UP
    one, two = factor.off[0], factor.off[-1]
    swing = ((factor.reach[0] + factor.reach[-1]) / 2) * _UP
    d = a - b
    half = Known(d.centre / 2, d.radius / 2)
    kept = v.gap.scaled(centre, radius) + one.scaled(*half) + two.scaled(*half)
    return kept.widened(swing * v.apart)


def _bent(f: Curve, v: Tube, run: Known, told: Known) -> Zonotope:
    """f(u) − f(u′) less that of the values, unit by unit as it leaves less to the box.

    Either m D + (f′(v) − m) o + (m − f′(v′)) o′ with m = f[v, v′], off by what f[u, u′] is off from
    its first order times v − v′, and from m times D; or f′(v) o − f′(v′) o′, off by what the runs
    are each, however near they are to one another. `run` is where both runs are, `told` their
    slopes from v and v′.
    """
    gap = v.gap
    assert gap is not None
    (a, b), (one, two), (u, w) = _runs(v.values), (v.off[0], v.off[-1]), _runs(run)
    r, s = v.reach[0], v.reach[-1]
    d, D = (a - b).most, v.apart
    alone, none = _runs(told), Known(torch.zeros_like(r), torch.zeros_like(r))
    apart = alone[0].radius * r + alone[1].radius * s
    if f.convex:
        whole = f.chord(u, w)
        together = torch.where(whole.radius > 0, torch.inf, 0.0)
        slopes = [whole, none, none]
    else:
        m = f.chord(a, b)
        sharp = swing = f.curvature(*hull(u, w)) * (r + s) / 2
        slopes = [m, none, none]  # without a bound on f‴, f[u, u′] is taken for m
        if math.isfinite(f.third):
            here, there = _runs(f.slope(v.values))
            slopes, sharp = [m, here - m, m - there], f.third * (r * r + r * s + s * s) / 6
        together = sharp * d + swing * D
    kept = (together <= apart) & together.isfinite()
    lost = torch.where(kept, together, 0.0)
    others = [none, alone[0], Known(-alone[1].centre, alone[1].radius)]
    found = [
        z.scaled(*(torch.where(kept, x, y) for x, y in zip(slope, other, strict=True)))
        for z, slope, other in zip((gap, one, two), slopes, others, strict=True)
    ]
    return (found[0] + found[1] + found[2]).widened(lost * _UP)


@dataclass(frozen=True, eq=False)
class Tubes:
    """The parameters of `Running`, and whether two runs are compared."""

    running: Running
    gaps: bool

    def affine(self, weight: str, bias: str | None, v: Tube, rows: slice = ALL) -> Tube:
        """W v + b."""
        W = self.running.parameters[weight][0, rows]
        gap = None if v.gap is None else v.gap.mapped(W)
        b = None if bias is None else self.running.parameters.get(bias)
        ends = v.ends.mapped(W, None if b is None else b[0, rows])
        return Tube(self.running.affine(weight, bias, v.near, rows), v.off.mapped(W), ends, gap)

    def vector(self, name: str, rows: slice = ALL) -> Tube:
        """A parameter vector."""
        return Tube.still(self.running.vector(name, rows), self.gaps)

    def activate(self, name: str, v: Tube) -> Tube:
        """ρ(v)."""
        return v.through(activation(name), v.near.through(activation(name)))

    def slope(self, name: str, v: Tube) -> Tube:
        """ρ′(v), which moves by β_ρ at most for each unit."""
        near, beta = self.running.slope(name, v.near), activation(name).curvature
        zero, most = torch.zeros_like(near.value), torch.full_like(near.value, beta)
        off = v.off.scaled(zero, most)
        radius = ((near.error + off.box) * _UP).nan_to_num(torch.inf)
        ends = Ends.outward(near.value - radius, near.value + radius)
        return Tube(near, off, ends, None if v.gap is None else off[0] + -off[-1])

    def mix(self, gate: Tube, a: Tube, b: Tube) -> Tube:
        """g∘a + (1 − g)∘b."""
        mixed = gate * a + (1.0 - gate) * b
        return replace(mixed, ends=mixed.ends.within(a.ends.hull(b.ends, gate.ends)))

    def join(self, *parts: Tube) -> Tube:
        """All units of the parts, one after another."""
        near = self.running.join(*(part.near for part in parts))
        gaps = [part.gap for part in parts if part.gap is not None]
        gap = Zonotope.joined(*gaps) if self.gaps else None
        ends = Ends.joined(*(part.ends for part in parts))
        return Tube(near, Zonotope.joined(*(part.off for part in parts)), ends, gap)
