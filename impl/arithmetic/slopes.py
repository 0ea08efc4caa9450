"""How steep the step of a cell is over a box of states: its comparison matrix, for any cell.

A number is an interval for each unit and non-negative matrices M_1, …, M_R in the states and inputs
with |u(s, x) − u(s′, x′)|_i ≤ max_r (M_r (|s − s′|, |x − x′|))_i, row by row:

    W v + b:  |W| M,      f(v):  sup|f′| M,      u v:  sup|u| M^v + sup|v| M^u,
    g∘a + (1 − g)∘b:  ζ M^a + (1 − ζ) M^b + sup|a − b| M^g   for ζ = g̲ and ζ = ḡ,

since what ζ multiplies is linear in it. All is rounded up. Inputs lie in a Euclidean ball: what an
affine map makes of them is bounded by Cauchy–Schwarz. Sources: Miller & Hardt, Proposition 1; Horn
& Johnson, section 8.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic import signed
from rnnbounds.impl.arithmetic.base import ALL, Program
from rnnbounds.impl.arithmetic.inputs.given import spread
from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.arithmetic.intervals import Bounded, Interval, Mapped
from rnnbounds.impl.arithmetic.spans import reached
from rnnbounds.impl.arithmetic.weight_balls import Enclosing, Radii
from rnnbounds.impl.norms.comparison import Comparison
from rnnbounds.impl.numbers.operations import Operations


@dataclass(frozen=True, eq=False)
class LipschitzBounds(Mapped):
    """Intervals (B, m) and slopes (B, R, m, N + d); radius (B,) where the units are the inputs, and
    `given` where more is known of them.

    `terms`: the same of Euclidean norms of the blocks of the state, see `impl.arithmetic.signed`.
    """

    range: Interval
    slopes: Tensor
    radius: Tensor | None = None
    terms: signed.Terms = ()
    given: InputSet | None = None

    @property
    def worst(self) -> Tensor:
        """One matrix that is at least each of the R, (B, m, N + d)."""
        return self.slopes.amax(1)

    def __add__(self, other: Self) -> Self:
        slopes = self.range.up.add(*_alone(self.slopes, other.slopes))
        return type(self)(self.range + other.range, slopes, terms=self.terms + other.terms)

    def __neg__(self) -> Self:
        return type(self)(-self.range, self.slopes, terms=self.terms)

    def __mul__(self, other: Self) -> Self:
        u, v, up = self.range.magnitude, other.range.magnitude, self.range.up
        slopes = up.add(*_alone(_scaled(up, v, self.slopes), _scaled(up, u, other.slopes)))
        terms = signed.scaled(v, self.terms) + signed.scaled(u, other.terms)
        return type(self)(self.range * other.range, slopes, terms=terms)

    def constant(self, c: float) -> Self:
        """That number in the place of each unit, depending on nothing."""
        return type(self)(self.range.constant(c), torch.zeros_like(self.slopes[:, :1]))

    def through(self, f: Bounded) -> Self:
        """f of each unit."""
        steep = f.slope(self.range)
        slopes, terms = _scaled(self.range.up, steep, self.slopes), signed.scaled(steep, self.terms)
        return type(self)(f.image(self.range), slopes, terms=terms)

    def part(self, start: int, stop: int) -> Self:
        """The units from start on, before stop."""
        slopes, terms = self.slopes[:, :, start:stop], signed.part(self.terms, start, stop)
        return type(self)(self.range.part(start, stop), slopes, terms=terms)


@dataclass(frozen=True, eq=False)
class SlopeArithmetic(Enclosing):
    """Parameters (B, m, n) and (B, m) that stand still; `width` is N + d.

    With radii, whatever they are within these distances; see `impl.arithmetic.weight_balls`.
    """

    width: int

    def affine(
        self, weight: str, bias: str | None, v: LipschitzBounds, rows: slice = ALL
    ) -> LipschitzBounds:
        """W v + b."""
        moved = self.interval.up.product(self.sizes(weight, rows), v.worst)[:, None]
        terms = signed.weighed(self.stored(weight)[:, rows], v.terms)
        return LipschitzBounds(self.enclosed(weight, bias, v, rows), moved, terms=terms)

    def vector(self, name: str, rows: slice = ALL) -> LipschitzBounds:
        """A parameter vector, which depends on nothing."""
        told = self.within(name, rows)
        still = told.low.new_zeros(told.low.shape[0], 1, told.low.shape[1], self.width)
        return LipschitzBounds(told, still)

    def mix(self, gate: LipschitzBounds, a: LipschitzBounds, b: LipschitzBounds) -> LipschitzBounds:
        """g∘a + (1 − g)∘b."""
        up, apart = self.interval.up, (a.range + -b.range).magnitude
        ends = [
            up.add(_scaled(up, g, a.worst), _scaled(up, up.add(1.0, -g), b.worst))
            for g in _ends(gate.range)
        ]
        moved = up.add(torch.stack(ends, dim=1), _scaled(up, apart, gate.worst)[:, None])
        inside = (gate.range.low >= 0) & (gate.range.high <= 1)  # what no mix is fails closed
        moved = torch.where(inside[:, None, :, None], moved, torch.inf)
        rest = torch.maximum(up.add(1.0, -gate.range.low), up.add(gate.range.high, -1.0))
        sides = ((gate.range.magnitude, a), (rest, b), (apart, gate))
        terms = tuple(term for rows, v in sides for term in signed.scaled(rows, v.terms))
        return LipschitzBounds(gate.range.mixed(a.range, b.range), moved, terms=terms)

    def join(self, *parts: LipschitzBounds) -> LipschitzBounds:
        """All units of the parts, one after another."""
        most = max(part.slopes.shape[1] for part in parts)
        levelled = torch.cat([part.slopes.expand(-1, most, -1, -1) for part in parts], dim=2)
        terms = signed.joined([part.terms for part in parts], [part.size for part in parts])
        return LipschitzBounds(
            self.interval.joined(*(part.range for part in parts)), levelled, terms=terms
        )


def stepped(
    program: Program,
    parameters: Mapping[str, Tensor],
    box: Tensor,
    B: float | Tensor,
    d: int,
    radii: Radii = MappingProxyType({}),
    blocks: int = 1,
    interval: type[Interval] = Interval,
) -> LipschitzBounds:
    """One step from |s| ≤ box (B, N) and ‖x‖₂ ≤ B: intervals, and slopes in s and in x; the terms
    are those of a state of so many blocks."""
    batch, N = box.shape
    m = SlopeArithmetic(parameters, N + d, radii=radii, interval=interval)
    told, radius, given = spread(B, box, d, m.interval)
    eye = torch.eye(N + d, dtype=box.dtype, device=box.device).expand(batch, 1, -1, -1)
    terms = signed.blocks_of(box, blocks, m.interval.up)
    state = LipschitzBounds(m.interval.symmetric(box), eye[:, :, :N], terms=terms)
    return program(m, state, LipschitzBounds(told, eye[:, :, N:], radius, given=given))


def compare(
    program: Program,
    parameters: Mapping[str, Tensor],
    box: Tensor,
    B: float | Tensor,
    d: int,
    *,
    blocks: int = 1,
    euclidean: Tensor | None = None,
    drive: Tensor | None = None,
    radii: Radii = MappingProxyType({}),
    interval: type[Interval] = Interval,
) -> Comparison:
    """The comparison of B systems on their invariant boxes (B, N); see
    `impl.norms.comparison.Comparison`.

    `euclidean` (B, blocks, blocks) where something better is known than the norms of the matrices;
    `drive` (B, N) where another is asked about than that of the inputs.
    """
    N = box.shape[1]
    found = stepped(program, parameters, box, B, d, radii, blocks, interval)
    n = N // blocks

    def norms() -> Tensor:
        parts = found.worst[:, :, :N].reshape(-1, blocks, n, blocks, n)
        flat = parts.transpose(2, 3).flatten(0, 2)
        plain = interval.up.spectral(flat).reshape(-1, blocks, blocks)
        if radii:  # of weights as they are the signs are known
            return plain
        rows = [found.part(i * n, (i + 1) * n).terms for i in range(blocks)]
        still = box.new_zeros(len(box), blocks)
        known = [signed.norms(terms) if terms else still for terms in rows]
        return torch.minimum(plain, torch.stack(known, dim=1))

    if drive is None:
        drive = reached(program, parameters, torch.zeros_like(box), B, d, radii=radii)
    return Comparison(
        matrices=found.slopes[..., :N],
        box=box,
        drive=drive,
        inputs=found.slopes[..., N:].amax(1),
        blocks=blocks,
        norms=norms if euclidean is None else lambda: euclidean,
    )


def _scaled(up: Operations, rows: Tensor, slopes: Tensor) -> Tensor:
    """diag(rows) M, for rows (B, m) and slopes (B, …, m, N + d); 0 where M is."""
    wide = rows.reshape(rows.shape[0], *[1] * (slopes.ndim - 3), rows.shape[1], 1)
    return torch.where(slopes == 0, 0.0, up.multiply(wide, slopes))


def _ends(gate: Interval) -> tuple[Tensor, ...]:
    """Endpoints of the gate's interval; one tensor if it is a point."""
    still = torch.equal(gate.low, gate.high)
    return (gate.high,) if still else (gate.low, gate.high)


def _alone(ours: Tensor, theirs: Tensor) -> tuple[Tensor, Tensor]:
    """At most one of them with several matrices."""
    if ours.shape[1] > 1 and theirs.shape[1] > 1:
        return ours.amax(1, keepdim=True), theirs.amax(1, keepdim=True)
    return ours, theirs
