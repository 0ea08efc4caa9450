"""Real models against their certificates: orbits of pairs of states, runs from zero, own dtypes.

Pairs are halves of two states of the box of a cell: those lie in its invariant set, discs for
complex modes too. They meet the first k inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from flint import arb, ctx, fmpq

from impl.arithmetic.rationals import IrrationalError, Rationals, Ratios
from impl.cells.table import kind_of
from impl.convert.unitary import UnitaryModel
from impl.gradients.loss import loss
from properties.measures.measure import Measure, OfCells, around, square_of
from properties.measures.readings import rationals
from properties.measures.readings.balls import BallPair, Vector, float_ends
from properties.measures.responses import ball_start, cells_start, halves
from properties.measures.runs import ball_runs
from properties.measures.runs import readings as of
from properties.measures.runs.ball_runs import BallRuns
from properties.measures.runs.gaps import Gap, Gaps
from properties.measures.runs.rounded import Rounded
from properties.systems.batch import Batch
from properties.systems.cells.omega import omega_of
from properties.systems.certified.batch import Certified
from properties.systems.certified.models import equivalent
from properties.systems.certified.norms import ball_norm, norm_of, norm_square, parts
from properties.systems.certified.shares import Point, at_most, largest, share, shares
from properties.systems.kinds import CERTIFIED_RELU
from theory.numbers.interval import Interval

Tensor = torch.Tensor
Seen = Callable[[Batch], Rounded]
SeenBalls = Callable[[BallRuns, Batch, int], Vector]
Exact = rationals.Vector
PRECISION, PRECISE = 128, 1024  # bits
Square = Callable[[Batch, int], fmpq | None]


def held(batch: Batch) -> Certified:
    """The cells of a batch that has certificates."""
    assert isinstance(batch.cells, Certified)
    return batch.cells


def of_outputs(batch: Batch) -> int:
    """n, how many outputs there are."""
    assert batch.cells is not None
    return batch.cells.n


def widths(cells: Certified) -> tuple[int, ...]:
    """The sizes of the layers' states."""
    return tuple(getattr(cells.cell, "widths", (cells.units,)))


def told_norm(seen: Seen) -> Callable[[Batch], Interval]:
    """The norm that each certificate names of something of the state's size."""

    def read(batch: Batch) -> Interval:
        cells, found = held(batch), seen(batch)
        values, errors = [], []
        for i, certificate in enumerate(cells.certificates):
            one = Rounded(found.value[i : i + 1], found.error[i : i + 1])
            norm = parts(certificate, widths(cells))
            blank = torch.full_like(one.value[:, 0], torch.nan)
            value, error = (blank, blank) if norm is None else norm_of(norm, one)
            values.append(value)
            errors.append(error)
        return around(of.by_sequence(torch.cat(values)), of.by_sequence(torch.cat(errors)))

    return read


def told_balls(seen: SeenBalls) -> Callable[[BallPair, int], arb]:
    """The same of one pair."""

    def read(pair: BallPair, k: int) -> arb:
        cells = held(pair.batch)
        norm = parts(cells.certificates[0], widths(cells))
        found = seen(of.ball_runs(pair), pair.batch, k)
        return arb("nan") if norm is None else ball_norm(norm, found)

    return read


def orbits(batch: Batch) -> Rounded:
    """s_k − s′_k for k = 0 … K, (B, N, K+1, S)."""
    if "orbits" not in batch.cache:
        runs, start = of.runs(batch), Rounded.exact(halves(batch, True)[0])
        made, at = Gaps(runs.plain), Gap(start, cells_start(batch))
        found = [at.gap]
        for x in map(Rounded.exact, batch.x.unbind(1)[: batch.K]):
            at = runs.program(made, at, Gap(x, x - x))
            found.append(at.gap)
        batch.cache["orbits"] = Rounded(
            *(
                torch.stack(ends, dim=2)
                for ends in zip(*((v.value, v.error) for v in found), strict=True)
            )
        )
    whole: Rounded = batch.cache["orbits"]
    return whole


def ball_orbit(runs: BallRuns, batch: Batch, k: int) -> Vector:
    """The same of one pair."""
    trail: list[Gap[Any]] = runs.cache.setdefault("orbit", [])
    if not trail:
        one, other = (ball_runs.column(s[0, :, 0].tolist()) for s in halves(batch, True))
        trail.append(Gap(one, one - other))
    made = Gaps(runs.plain)
    while len(trail) <= k:
        x = runs.inputs[len(trail) - 1]
        trail.append(runs.program(made, trail[-1], Gap(x, x - x)))
    return list(trail[k].gap.matrix.entries())


def exact_run(batch: Batch, start: Tensor, steps: int) -> Exact | None:
    """The state of one pair after so many inputs; None where a step leaves the rationals."""
    cells, s = held(batch), exactly(start[0, :, 0])
    made = Rationals({name: part[0] for name, part in cells.parameters.items()})
    try:
        for x in batch.x[0, :steps, :, 0]:
            s = cells.cell.program(made, s, exactly(x))
    except IrrationalError:
        return None
    return [row[0] for row in s.matrix.tolist()]


def exactly(values: Tensor) -> Ratios:
    """One column of floats."""
    return Ratios([[rationals.exact(value)] for value in values.tolist()])


def exact_orbit(batch: Batch, k: int) -> Exact | None:
    """s_k − s′_k of one pair."""
    return rationals.minus(*(exact_run(batch, s, k) for s in halves(batch, True)))


def exact_state(steps: int | None = None) -> Callable[[Batch, int], Exact | None]:
    """The state of one pair's run from zero, at the end unless its time is given."""

    def seen(batch: Batch, k: int) -> Exact | None:
        zero = batch.x.new_zeros(1, held(batch).units, 1)
        return exact_run(batch, zero, batch.spec.T if steps is None else steps)

    return seen


def exact_output(seen: Callable[[Batch, int], Exact | None]) -> Square:
    """The square of what is shown of it."""

    def found(batch: Batch, k: int) -> fmpq | None:
        vector = seen(batch, k)
        return None if vector is None else rationals.square(vector[-of_outputs(batch) :])

    return found


def exact_whole(seen: Callable[[Batch, int], Exact | None]) -> Square:
    """The square of its Euclidean norm."""
    return lambda batch, k: square_of(seen(batch, k))


def exact_told(seen: Callable[[Batch, int], Exact | None]) -> Square:
    """The square of its norm by the certificate."""

    def found(batch: Batch, k: int) -> fmpq | None:
        cells, vector = held(batch), seen(batch, k)
        norm = parts(cells.certificates[0], widths(cells))
        return None if vector is None or norm is None else norm_square(norm, vector)

    return found


def shown(seen: SeenBalls) -> SeenBalls:
    """The output's part of a state."""
    return lambda runs, batch, k: seen(runs, batch, k)[-of_outputs(batch) :]


def state(at: int) -> SeenBalls:
    """s_t of one pair's run from zero."""
    return lambda runs, batch, k: list(runs.states[at].matrix.entries())


def computed(batch: Batch) -> Tensor:
    """The last outputs as each model's own dtype computes them, (B, n, S)."""
    if "computed" not in batch.cache:
        cells = held(batch)
        kind = kind_of(cells.kind)
        found = []
        for i, model in enumerate(cells.models):
            dtype = getattr(torch, model.dtype)
            x = batch.x[i].permute(2, 0, 1).to(dtype)  # (S, T, d)
            s = torch.zeros(len(x), cells.units, dtype=dtype)
            for driven in kind.drive(model.weights, x).unbind(1):
                s = kind.step(model.weights, driven, s)
            found.append(s[:, -cells.n :].double().mT)
        batch.cache["computed"] = torch.stack(found)
    told: Tensor = batch.cache["computed"]
    return told


def shipped(batch: Batch, i: int) -> UnitaryModel | None:
    """The unitary network of one member, of the kind that has one."""
    spec = batch.spec
    return equivalent(spec, spec.members[i]) if spec.kind == CERTIFIED_RELU else None


def near(batch: Batch) -> dict[str, Tensor]:
    """Other weights of the set that training keeps to."""
    return omega_of(batch).other


def targets(batch: Batch) -> Tensor:
    """Those of the loss."""
    assert batch.y is not None
    return batch.y


def point(batch: Batch, i: int, s: int) -> Point:
    """A model at the pair of states and at the first input, in balls of the current precision."""
    cells = held(batch)
    return Point(
        cells.cell.program,
        {role: part[i] for role, part in cells.parameters.items()},
        cells.certificates[i],
        widths(cells),
        cells.n,
        batch.h[i, :, s].tolist(),
        batch.h_other[i, :, s].tolist(),
        batch.x[i, 0, :, s].tolist(),
        {role: part[i] for role, part in near(batch).items()},
        loss(batch.spec.loss, batch.C[i : i + 1], targets(batch)[i : i + 1]),
        shipped(batch, i),
    )


def greatest_share(p: Point) -> arb:
    """The largest share of a printed constant."""
    return largest([share(name, *told) for name, told in shares(p).items()])


def share_used(batch: Batch) -> Interval:
    """The largest share of each pair."""
    ends = np.full((2, batch.cell.batch, batch.x.shape[3], 1), np.nan)
    with ctx.workprec(PRECISION):
        for i, s in np.ndindex(*ends.shape[1:3]):
            ends[:, i, s, 0] = float_ends(greatest_share(point(batch, i, s)))
    return Interval(ends[0], ends[1])


def share_at_most(batch: Batch, bound: fmpq, k: int) -> bool | None:
    """Whether each share of one pair is at most a number, norms and sums exactly."""
    with ctx.workprec(PRECISE):
        found = [at_most(name, *told, bound) for name, told in shares(point(batch, 0, 0)).items()]
    return False if False in found else None if None in found else True


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
    square: Square,
    windowed: bool = False,
) -> Measure:
    """What only models with certificates have, NaN on other systems."""

    def enclosure(batch: Batch) -> Interval:
        if isinstance(batch.cells, Certified):
            return seen(batch)
        windows = batch.K + 1 if windowed else 1
        nothing = np.full((batch.cell.batch, batch.x.shape[3], windows), np.nan)
        return Interval(nothing, nothing)

    def ball(pair: BallPair, k: int) -> arb:
        return balls(pair, k) if isinstance(pair.batch.cells, Certified) else arb("nan")

    def squared(batch: Batch, k: int) -> fmpq | None:
        return square(batch, k) if isinstance(batch.cells, Certified) else None

    return Measure(name, enclosure=enclosure, balls=ball, square=squared)


def start(batch: Batch, k: int) -> Exact | None:
    """s_0 − s′_0 of one pair."""
    return exact_orbit(batch, 0)


MEASURES = (
    own("orbit_start", of.lengths(cells_start), of.ball_lengths(ball_start), exact_whole(start)),
    own("orbit_start_told", told_norm(cells_start), told_balls(ball_start), exact_told(start)),
    own(
        "orbit_gap",
        of.lengths(lambda batch: of.output(orbits(batch), batch)),
        of.ball_lengths(shown(ball_orbit)),
        exact_output(exact_orbit),
        windowed=True,
    ),
    own(
        "orbit_state",
        of.lengths(orbits),
        of.ball_lengths(ball_orbit),
        exact_whole(exact_orbit),
        windowed=True,
    ),
    own(
        "orbit_gap_told",
        told_norm(orbits),
        told_balls(ball_orbit),
        exact_told(exact_orbit),
        windowed=True,
    ),
    own(
        "state_told",
        told_norm(lambda batch: of.runs(batch).states[-1]),
        told_balls(state(-1)),
        exact_told(exact_state()),
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
        lambda batch, k: None,
    ),
    replace(
        own(
            "share_used",
            share_used,
            lambda pair, k: greatest_share(point(pair.batch, 0, 0)),
            lambda batch, k: None,
        ),
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
