"""One run with a cell's weights and one with its other weights, on the same inputs.

As in `properties.measures.runs.gaps` the second run is carried as its difference from the first,
now with δW v′ + δb in what an affine map adds to it; over duals, whose directions are the
parameters, these are the differences of sensitivities, so that those of gradients are exactly 0
where they vanish.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from flint import arb, arb_mat

from rnnbounds.impl.arithmetic.base import ALL, Arithmetic, V
from rnnbounds.impl.arithmetic.derivatives.dual_numbers import Dual, Duals
from rnnbounds.impl.arithmetic.entries.balls import Balls, Columns
from rnnbounds.properties.measures.readings.balls import BallPair, length
from rnnbounds.properties.measures.runs.gaps import Gap, Gaps
from rnnbounds.properties.measures.runs.losses import gradient, gradient_gap
from rnnbounds.properties.measures.runs.readings import contracted, lengths, output, rows
from rnnbounds.properties.measures.runs.rounded import Rounded, RoundedCells
from rnnbounds.properties.measures.runs.seeds import BallSeeds, RoundedSeeds
from rnnbounds.properties.systems.batch import Batch

Tensor = torch.Tensor


@dataclass(frozen=True, eq=False)
class OtherWeights(Gaps[V]):
    """Both runs over `base`, whose parameters differ by those of `moved`."""

    moved: Arithmetic[V]

    def affine(self, weight: str, bias: str | None, v: Gap[V], rows: slice = ALL) -> Gap[V]:
        """W v + b, and W δ + δW v′ + δb."""
        found = super().affine(weight, bias, v, rows)
        return Gap(found.value, found.gap + self.moved.affine(weight, bias, v.other, rows))

    def vector(self, name: str, rows: slice = ALL) -> Gap[V]:
        """A parameter vector, and its difference."""
        return Gap(self.base.vector(name, rows), self.moved.vector(name, rows))


def both_ends(
    batch: Batch, made: OtherWeights[Any], start: Dual[V], inputs: Iterable[Dual[V]]
) -> Gap[Dual[V]]:
    """Both states after T steps, with their derivatives in all parameters."""
    at = Gap(start, start - start)
    for x in inputs:
        at = batch.its_cells.cell.program(made, at, Gap(x, x - x))
    return at


def ends(batch: Batch) -> Gap[Dual[Rounded]]:
    """Those of a batch, S columns each."""
    cells = batch.its_cells
    weights, moved = cells.parameters, batch.omega_of_cells.moved
    seeds: Any = RoundedSeeds(weights, 0, 0)
    made = OtherWeights(Duals(RoundedCells(weights), seeds), Duals(RoundedCells(moved)))
    start = batch.x.new_zeros(len(batch.x), cells.units, batch.x.shape[3])
    return both_ends(batch, made, seeds.still(start), map(seeds.still, batch.x.unbind(1)))


def gradient_difference(batch: Batch) -> Rounded:
    """∇p_T(w) − ∇p_T(w′), (B, S, P)."""
    at = ends(batch)
    h, moved = (output(part.value, batch) for part in (at.value, at.gap))
    D, E = (output(part.tangent, batch) for part in (at.value, at.gap))
    g, dg = gradient(batch.loss, h), gradient_gap(batch.loss, h, moved)
    return contracted(dg, D) + contracted(g - dg, E)


def weights_apart(batch: Batch) -> Rounded:
    """w − w′, (B, S, P)."""
    flat = torch.cat([part.flatten(1) for part in batch.omega_of_cells.moved.values()], dim=1)
    return Rounded.exact(flat[:, None].expand(-1, batch.x.shape[3], -1))


grad_gap_weights = lengths(gradient_difference, 2)
weight_distance = lengths(weights_apart, 2)


def in_balls(pair: BallPair, weights: Any, moved: Any) -> Gap[Dual[Columns]]:
    """Those of one pair, for the arithmetics of w and of w − w′."""
    batch, cells = pair.batch, pair.batch.its_cells
    seeds: Any = BallSeeds(cells.parameters, 0, 0)
    made = OtherWeights(Duals(weights, seeds), Duals(moved))
    inputs = map(seeds.still, batch.x[0, :, :, 0].tolist())
    return both_ends(batch, made, seeds.still([0.0] * cells.units), inputs)


def ball_difference(batch: Batch, at: Gap[Dual[Columns]]) -> list[arb]:
    """∇p_T − ∇p_T′ of one pair, from both ends."""
    h, delta = (rows(part.value.matrix, batch).entries() for part in (at.value, at.gap))
    D, E = (rows(part.tangent.matrix, batch) for part in (at.value, at.gap))
    g, dg = batch.loss.ball_gradient(h), ball_gap(batch, h, delta)
    hat = arb_mat([[a - b for a, b in zip(g, dg, strict=True)]])
    return (arb_mat([dg]) * D + hat * E).entries()


def ball_gap(batch: Batch, h: list[arb], delta: list[arb]) -> list[arb]:
    """∇p(h) − ∇p(h − δ), exactly 0 where δ is."""
    if all(d.is_zero() for d in delta):
        return [arb(0)] * len(h)
    other = batch.loss.ball_gradient([a - d for a, d in zip(h, delta, strict=True)])
    return [a - b for a, b in zip(batch.loss.ball_gradient(h), other, strict=True)]


def grad_gap_weights_ball(pair: BallPair, k: int) -> arb:
    """‖∇p_T(w) − ∇p_T(w′)‖ of one pair; k plays no part."""
    cells = pair.batch.its_cells
    given = (cells.parameters, pair.batch.omega_of_cells.moved)
    one = (Balls({name: part[0] for name, part in named.items()}) for named in given)
    return length(ball_difference(pair.batch, in_balls(pair, *one)))


def weight_distance_ball(pair: BallPair, k: int) -> arb:
    """‖w − w′‖ of one pair."""
    moved = pair.batch.omega_of_cells.moved.values()
    return length([arb(v) for part in moved for v in part.flatten().tolist()])
