"""Two runs under two input sequences, from one state or from two.

The states are any two of a vanilla network, and half of two states of the box of a cell: those lie
in its invariant set, discs for complex modes too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch

from rnnbounds.impl.numbers.outward import add_up, mul_up, norm_up
from rnnbounds.properties.measures.cells import own
from rnnbounds.properties.measures.measure import Measure, OfCells, square_of
from rnnbounds.properties.measures.readings import rationals
from rnnbounds.properties.measures.readings.balls import BallPair, Vector, column, entries, length
from rnnbounds.properties.measures.readings.slack import UP, map_slack, norm_slack, norms, run_slack
from rnnbounds.properties.measures.readings.states import mapped, readout, single
from rnnbounds.properties.measures.runs import readings as of
from rnnbounds.properties.measures.runs.ball_runs import BallRuns
from rnnbounds.properties.measures.runs.rounded import Rounded
from rnnbounds.properties.measures.runs.starts import Pair, apart, balls_apart, half, halves
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.supply.other_inputs import other_inputs

Tensor = torch.Tensor


def second(batch: Batch, two: bool) -> Tensor:
    """Where the second run starts."""
    return batch.h_other if two else batch.h


def vanilla_apart(two: bool) -> Callable[[Batch], Tensor]:
    """h_T − h′_T, (B, n, S)."""

    def vectors(batch: Batch) -> Tensor:
        key = f"vanilla runs from {'two states' if two else 'one state'} apart"
        if key not in batch.cache:
            h = torch.cat([batch.h, second(batch, two)], dim=2)
            for x in torch.cat([batch.x, other_inputs(batch)], dim=3).unbind(1):
                h = batch.cell.step(h, x)
            one, other = h.chunk(2, dim=2)
            batch.cache[key] = one - other
        found: Tensor = batch.cache[key]
        return found

    return vectors


def differ(batch: Batch, value: Tensor) -> Tensor:
    """What is read of two runs from one state, and its error: 0 where the inputs are the same."""
    changed = (batch.x != other_inputs(batch)).any(2).any(1)
    return torch.where(changed[:, :, None], value, 0.0)


def rolled_error(batch: Batch) -> Tensor:
    """Both runs' rounding, (B, 1, 1)."""
    if "slack of runs under other inputs" not in batch.cache:
        starts = torch.cat([batch.h, batch.h_other], dim=2).detach().transpose(1, 2)
        largest = norm_up(other_inputs(batch).detach().transpose(2, 3)).amax(dim=(1, 2))
        beyond = add_up(largest, -batch.B_x.detach()).clamp(min=0.0)
        slack = 2 * run_slack(batch, norm_up(starts).amax(1), beyond)
        batch.cache["slack of runs under other inputs"] = slack
    found: Tensor = batch.cache["slack of runs under other inputs"]
    return found


def error(batch: Batch, value: Tensor) -> Tensor:
    """Both runs' rounding, and the norm's."""
    return rolled_error(batch) + norm_slack(batch.spec.n + 1, value)


def output_error(batch: Batch, value: Tensor) -> Tensor:
    """Both runs' rounding through C, then C's own."""
    size = norms(vanilla_apart(False)(batch))[:, :, None]
    rolled = mul_up(batch.constants["L_f"][:, None, None], rolled_error(batch))
    return (rolled + map_slack(batch.C, size, torch.zeros_like(size), value)) * UP


def ball_apart(pair: BallPair, two: bool) -> Vector:
    """h_T − h′_T of one pair: of differences, so that it is 0 where nothing differs."""
    batch = pair.batch
    h, other = (column(v[0, :, 0].tolist()) for v in (batch.h, second(batch, two)))
    before = pair.roll(pair.inputs, h)[1]
    changed = other_inputs(batch)[0, :, :, 0].tolist()
    delta = h - other
    for x, o, a in zip(pair.inputs, changed, before, strict=True):
        delta = pair.advance(delta, a, pair.U * (x - column(o)))
    return entries(delta)


def exactly_apart(batch: Batch, two: bool) -> rationals.Vector | None:
    """h_T − h′_T, exactly."""
    starts = rationals.pair_states(batch.h, second(batch, two))
    inputs = (x[0, :, :, 0].tolist() for x in (batch.x, other_inputs(batch)))
    return rationals.minus(*map(partial(rationals.run, batch), starts, inputs))


def both(batch: Batch) -> tuple[Tensor, Tensor]:
    """One state twice, then two, side by side: the runs from all of them take the same steps."""
    starts = zip(half(batch), halves(batch), strict=True)
    one, two = (torch.cat(states, dim=2) for states in starts)
    return one, two


def answers(batch: Batch) -> Rounded:
    """s_T − s′_T of cells from `both`, (B, N, 2 S), which all that is measured of them shares."""
    key = "answers to other inputs"
    if key not in batch.cache:
        batch.cache[key] = apart(both, other=True)(batch)
    found: Rounded = batch.cache[key]
    return found


def forced(batch: Batch) -> Rounded:
    """s_T − s′_T of cells, from one state."""
    return answers(batch).columns(0, batch.x.shape[3])


def answered(batch: Batch) -> Rounded:
    """The same from two."""
    S = batch.x.shape[3]
    return answers(batch).columns(S, 2 * S)


def cells_output(batch: Batch) -> Rounded:
    """h_T − h′_T of cells, from one state."""
    return of.output(forced(batch), batch)


def ball_output(runs: BallRuns, batch: Batch, k: int) -> Vector:
    """The same of one pair."""
    return balls_apart(half, other=True)(runs, batch, k)[-batch.its_cells.n :]


def in_box(name: str, seen: of.Seen, start: Pair, steps: int | None = None) -> Measure:
    """Two runs of cells in the norm of the box."""
    balls = balls_apart(start, steps, other=True)
    return own(name, of.box_norm(seen), of.box_balls(balls))


MEASURES = (
    Measure(
        "forced_gap",
        value=lambda b: differ(b, single(vanilla_apart(False))(b)),
        error=lambda b, v: differ(b, error(b, v)),
        balls=lambda p, k: length(ball_apart(p, False)),
        square=lambda b, k: square_of(exactly_apart(b, False)),
        of_cells=OfCells(of.lengths(cells_output), of.ball_lengths(ball_output)),
    ),
    Measure(
        "forced_gap_y",
        value=lambda b: differ(b, single(lambda b: readout(b, vanilla_apart(False)(b)))(b)),
        error=lambda b, v: differ(b, output_error(b, v)),
        balls=lambda p, k: length(mapped(p.batch.C[0], ball_apart(p, False))),
        square=lambda b, k: rationals.weighted(b.C[0].tolist(), exactly_apart(b, False)),
        of_cells=OfCells(
            of.lengths(lambda b: cells_output(b).mapped(b.C)),
            of.ball_lengths(lambda r, b, k: mapped(b.C[0], ball_output(r, b, k))),
        ),
    ),
    Measure(
        "response_gap",
        value=single(vanilla_apart(True)),
        error=error,
        balls=lambda p, k: length(ball_apart(p, True)),
        square=lambda b, k: square_of(exactly_apart(b, True)),
    ),
    in_box("forced_gap_box", forced, half),
    in_box("response_gap_box", answered, halves),
    in_box("response_start_box", apart(halves, 0), halves, 0),
)
