"""Both descents of one pair in ball arithmetic; see `properties.measures.runs.descent`.

What is carried is w − w_1 and w − ŵ, so that both vanish exactly where they do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from flint import arb, arb_mat

from rnnbounds.impl.arithmetic.base import ALL
from rnnbounds.impl.arithmetic.derivatives.dual_numbers import DualArithmetic
from rnnbounds.impl.arithmetic.entries import Balls, Columns
from rnnbounds.properties.measures.readings.balls import BallPair
from rnnbounds.properties.read.entry_carriers import BALLS
from rnnbounds.properties.read.numbers.gaps import Difference, OtherWeights
from rnnbounds.properties.read.numbers.sizes import euclidean_ball

Blocks = dict[str, list[arb]]


@dataclass(frozen=True, eq=False)
class BallWeights(Balls):
    """Parameters of one system that are balls themselves, row by row."""

    entries: Mapping[str, list[arb]] = field(default_factory=dict)

    def vector(self, name: str, rows: slice = ALL) -> Columns:
        """A parameter vector."""
        return Columns([[a] for a in self.entries[name][rows]])

    def _matrix(self, weight: str, rows: slice) -> arb_mat:
        height, width = self.parameters[weight].shape
        entries = self.entries[weight]
        return arb_mat([entries[i * width : (i + 1) * width] for i in range(height)[rows]])


@dataclass(frozen=True, eq=False)
class BallDescent:
    """The descents of one pair on its full loss and on that of the window k."""

    pair: BallPair
    k: int

    @property
    def initial_weights(self) -> Blocks:
        """w_1."""
        cells = self.pair.batch.require_cells
        named = cells.parameters.items()
        return {name: [arb(v) for v in part.flatten().tolist()] for name, part in named}

    def arithmetic(self, blocks: Blocks) -> BallWeights:
        """The arithmetic of these weights."""
        cells = self.pair.batch.require_cells
        shapes = {name: part[0] for name, part in cells.parameters.items()}
        return BallWeights(shapes, entries=blocks)

    def gradients(self, w: Blocks, gap: Blocks) -> tuple[list[arb], list[arb]]:
        """∇p_T(w), and ∇p_T(w) − ∇p_T^k(w − gap)."""
        batch, cells = self.pair.batch, self.pair.batch.require_cells
        seeds: Any = BALLS.directions(cells.parameters, 0, 0, tuple(cells.parameters))

        plain = DualArithmetic(self.arithmetic(w), seeds)
        paired = OtherWeights(plain, DualArithmetic(self.arithmetic(gap)))
        inputs = [seeds.still(x) for x in batch.x[0, :, :, 0].tolist()]
        state, cut_time = seeds.still([0.0] * cells.units), max(len(inputs) - self.k, 0)
        for x in inputs[:cut_time]:
            state = cells.cell.program(plain, state, x)
        final = Difference(state, state)
        for x in inputs[cut_time:]:
            final = cells.cell.program(paired, final, Difference(x, x - x))
        (h, D), (output_gap, E) = (
            (last_units(part.value, cells.n), last_units(part.tangent, cells.n).matrix)
            for part in (final.value, final.gap)
        )
        g, dg = (
            BALLS.row(v, 0).matrix
            for v in (BALLS.gradient(batch.loss, h), BALLS.gradient_gap(batch.loss, h, output_gap))
        )
        return (g * D).entries(), (dg * D + (g - dg) * E).entries()

    def weight_gap(self, steps: int) -> Blocks:
        """w − ŵ after so many steps."""
        batch, start = self.pair.batch, self.initial_weights
        alpha = arb(float(batch.step_size[0, 0, 0]))
        radii = {name: float(radius[0]) for name, radius in batch.omega_of_cells.radii.items()}
        offset = {name: [arb(0)] * len(part) for name, part in start.items()}
        gap = dict(offset)
        for t in range(1, steps + 1):
            rate = alpha / t
            w = {name: add_entries(part, offset[name]) for name, part in start.items()}
            full, gradient_gap = self.gradients(w, gap)
            position = 0
            for name, part in start.items():
                columns = slice(position, position + len(part))
                position += len(part)
                moved = [a - rate * b for a, b in zip(offset[name], full[columns], strict=True)]
                moved_gap = [
                    a - rate * b for a, b in zip(gap[name], gradient_gap[columns], strict=True)
                ]
                offset[name], gap[name] = project_with_gap(moved, moved_gap, radii[name])
        return gap


def last_units(s: Columns, outputs: int) -> Columns:
    """The last units, which are shown."""
    return s.part(s.size - outputs, s.size)


def add_entries(one: list[arb], two: list[arb]) -> list[arb]:
    """one + two."""
    return [a + b for a, b in zip(one, two, strict=True)]


def project_with_gap(y: list[arb], gap: list[arb], radius: float) -> tuple[list[arb], list[arb]]:
    """Πy and Πy − Π(y − apart) for the radial projection onto a ball about 0."""
    if radius == 0:
        return [arb(0)] * len(y), [arb(0)] * len(y)
    other = [a - b for a, b in zip(y, gap, strict=True)]
    scale, other_scale = (arb(1) if size <= radius else (radius / size).min(arb(1))
                for size in (euclidean_ball(y), euclidean_ball(other)))  # fmt: skip
    P = [scale * a for a in y]
    if all(a.is_zero() for a in gap):
        return P, gap
    if scale == 1 and other_scale == 1:
        return P, gap
    return P, [a - other_scale * b for a, b in zip(P, other, strict=True)]


def w_gap_ball(pair: BallPair, k: int) -> arb:
    """‖w_{N+1} − ŵ_{N+1}‖ of one pair."""
    gap = BallDescent(pair, k).weight_gap(pair.batch.spec.steps)
    return euclidean_ball([a for part in gap.values() for a in part])
