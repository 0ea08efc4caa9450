"""Real models against their certificates: orbits of pairs of states, runs from zero, own dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from flint import arb

from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.properties.measures.certified.orbits import (
    Exact,
    ball_orbit,
    exact_orbit,
    exact_output,
    exact_state,
    exact_told,
    exact_whole,
    held,
    orbits,
    range_told,
    shown,
    state,
    told_balls,
    told_norm,
)
from rnnbounds.properties.measures.certified.used import (
    greatest_share,
    point,
    share_at_most,
    share_used,
)
from rnnbounds.properties.measures.measure import Measure, OfCells, only_where
from rnnbounds.properties.measures.readings.balls import BallPair, Vector
from rnnbounds.properties.measures.readings.rationals import Square
from rnnbounds.properties.measures.runs import readings as of
from rnnbounds.properties.measures.runs.ball_runs import BallRuns
from rnnbounds.properties.measures.runs.rounded import Rounded
from rnnbounds.properties.measures.runs.starts import apart, balls_apart, halves
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.certified.batch import Certified
from rnnbounds.theory.numbers.interval import Interval

Tensor = torch.Tensor


def computed(batch: Batch) -> Tensor:
    """The last outputs as each model's own dtype computes them, (B, n, S): of each sequence alone,
    since a product's order of sums may change with the number of its rows."""
    if "computed" not in batch.cache:
        cells = held(batch)
        found = [
            torch.stack([own_output(model, x, cells) for x in part.permute(2, 0, 1)], dim=1)
            for model, part in zip(cells.models, batch.x, strict=True)
        ]
        batch.cache["computed"] = torch.stack(found)
    told: Tensor = batch.cache["computed"]
    return told


def own_output(model: LoadedModel[Any], x: Tensor, cells: Certified) -> Tensor:
    """The last output of one model after inputs (T, d) from zero, (n)."""
    kind, dtype = kind_of(cells.kind), getattr(torch, model.dtype)
    s = torch.zeros(1, cells.units, dtype=dtype)
    for driven in kind.drive(model.weights, x[None].to(dtype)).unbind(1):
        s = kind.step(model.weights, driven, s)
    return s[0, -cells.n :].double()


def rounding(batch: Batch) -> Rounded:
    """ĥ_T − h_T."""
    return Rounded.exact(computed(batch)) - of.output(of.runs(batch).states[-1], batch)


def ball_rounding(runs: BallRuns, batch: Batch, k: int) -> Vector:
    """The same of one pair."""
    true = runs.states[-1].matrix.entries()[-held(batch).n :]
    return [arb(c) - t for c, t in zip(computed(batch)[0, :, 0].tolist(), true, strict=True)]


def own(
    name: str,
    seen: Callable[[Batch], Interval],
    balls: Callable[[BallPair, int], arb],
    square: Square | None = None,
    **more: Any,
) -> Measure:
    """What only models with certificates have."""
    return only_where(
        lambda batch: isinstance(batch.cells, Certified),
        Measure(name, enclosure=seen, balls=balls, square=square, **more),
    )


def start(batch: Batch, k: int) -> Exact | None:
    """s_0 − s′_0 of one pair."""
    return exact_orbit(batch, 0)


BEGUN, BALLS_BEGUN = apart(halves, 0), balls_apart(halves, 0)
MEASURES = (
    own("orbit_start", of.lengths(BEGUN), of.ball_lengths(BALLS_BEGUN), exact_whole(start)),
    own("orbit_start_told", told_norm(BEGUN), told_balls(BALLS_BEGUN), exact_told(start)),
    own(
        "orbit_gap",
        of.lengths(lambda batch: of.output(orbits(batch), batch)),
        of.ball_lengths(shown(ball_orbit)),
        exact_output(exact_orbit),
    ),
    own(
        "orbit_state",
        of.lengths(orbits),
        of.ball_lengths(ball_orbit),
        exact_whole(exact_orbit),
    ),
    own(
        "orbit_gap_told",
        told_norm(orbits),
        told_balls(ball_orbit),
        exact_told(exact_orbit),
    ),
    own(
        "state_told",
        told_norm(lambda batch: of.runs(batch).states[-1]),
        told_balls(state(-1)),
        exact_told(exact_state()),
        cap=range_told,
    ),
    own(
        "first_norm",
        of.lengths(lambda batch: of.output(of.runs(batch).states[1], batch)),
        of.ball_lengths(shown(state(1))),
        exact_output(exact_state(1)),
    ),
    own(
        "h_rounding_told",
        of.lengths(rounding),
        of.ball_lengths(ball_rounding),
    ),
    own(
        "share_used",
        share_used,
        lambda pair, k: greatest_share(point(pair.batch, 0, 0)),
        at_most=share_at_most,
    ),
)
# What other systems have too, under the same name.
ON_CELLS = {
    "h_norm": OfCells(
        of.lengths(lambda batch: of.output(of.runs(batch).states[-1], batch)),
        of.ball_lengths(shown(state(-1))),
    ),
}
