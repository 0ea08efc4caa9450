"""Orbits of pairs of states and runs from zero, in the norms that certificates print.

Pairs are halves of two states of the box of a cell: those lie in its invariant set, discs for
complex modes too. They meet the first k inputs.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from flint import arb, ctx, fmpq

from rnnbounds.impl.arithmetic.entries.balls import Columns
from rnnbounds.properties.measures.certified.norms import ball_norm, norm_of, norm_square, parts
from rnnbounds.properties.measures.measure import around, square_of
from rnnbounds.properties.measures.readings import rationals
from rnnbounds.properties.measures.readings.balls import BallPair, Vector, ball_pair
from rnnbounds.properties.measures.runs import readings as of
from rnnbounds.properties.measures.runs.ball_runs import BallRuns
from rnnbounds.properties.measures.runs.gaps import Gap
from rnnbounds.properties.measures.runs.rounded import Rounded, beside
from rnnbounds.properties.measures.runs.starts import ball_trail, halves, rolled, trail
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.certified.batch import Certified
from rnnbounds.properties.systems.unitary.exact import square
from rnnbounds.theory.numbers.interval import Interval

Seen = Callable[[Batch], Rounded]
SeenBalls = Callable[[BallRuns, Batch, int], Vector]
Exact = rationals.Vector
EXACT_BITS = 4096  # 64 steps by weights of 53 bits are points, with room for inputs


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
        found = [at.gap[:, :, None] for at in trail(batch, halves, batch.K)]
        batch.cache["orbits"] = beside(found, dim=2)
    whole: Rounded = batch.cache["orbits"]
    return whole


def ball_orbit(runs: BallRuns, batch: Batch, k: int) -> Vector:
    """The same of one pair, as far as it is asked for."""
    if "orbit" not in runs.cache:
        runs.cache["orbit"] = [*ball_trail(runs, batch, halves, 0)]
    known: list[Gap[Columns]] = runs.cache["orbit"]
    more = ((x, x - x) for x in runs.inputs[len(known) - 1 : k])
    known[-1:] = rolled(runs, known[-1], more)
    return list(known[k].gap.matrix.entries())


def exact_orbit(batch: Batch, k: int) -> Exact | None:
    """s_k − s′_k of one pair: of rational states, or of states with the same irrational part."""
    starts, inputs = rationals.pair_states(*halves(batch)), rationals.seen(batch)[:k]
    found = rationals.minus(*(rationals.run(batch, s, inputs) for s in starts))
    return pointed_orbit(batch, k) if found is None else found


def pointed_orbit(batch: Batch, k: int) -> Exact | None:
    """The same where all differences on the way are points in balls; else None.

    h⁺ = ½ h + ½ tanh x halves them, whatever tanh x is.
    """
    with ctx.workprec(EXACT_BITS):
        runs = of.ball_runs(ball_pair(batch, EXACT_BITS))
        for at in ball_trail(runs, batch, halves, k):
            found = points(at.gap.matrix.entries())
            if found is None:
                return None
    return found


def points(balls: Vector) -> Exact | None:
    """The numbers that the balls are; None where one of them is more than a point."""
    known = all(ball.is_finite() and ball.is_exact() for ball in balls)
    return [ball.fmpq() for ball in balls] if known else None


def exact_state(steps: int | None = None) -> Callable[[Batch, int], Exact | None]:
    """The state of one pair's run from zero, at the end unless its time is given."""

    def seen(batch: Batch, k: int) -> Exact | None:
        return rationals.run(batch, rest(batch), rationals.seen(batch)[:steps])

    return seen


def rest(batch: Batch) -> Exact:
    """The state that runs from zero start in."""
    return [fmpq(0)] * held(batch).units


def exact_output(seen: Callable[[Batch, int], Exact | None]) -> rationals.Square:
    """The square of what is shown of it."""

    def found(batch: Batch, k: int) -> fmpq | None:
        vector = seen(batch, k)
        return None if vector is None else square(vector[-of_outputs(batch) :])

    return found


def exact_whole(seen: Callable[[Batch, int], Exact | None]) -> rationals.Square:
    """The square of its Euclidean norm."""
    return lambda batch, k: square_of(seen(batch, k))


def exact_told(seen: Callable[[Batch, int], Exact | None]) -> rationals.Square:
    """The square of its norm by the certificate."""

    def found(batch: Batch, k: int) -> fmpq | None:
        cells, vector = held(batch), seen(batch, k)
        norm = parts(cells.certificates[0], widths(cells))
        return None if vector is None or norm is None else norm_square(norm, vector)

    return found


def range_told(batch: Batch, k: int) -> fmpq | None:
    """The square of what no run from zero exceeds, in a monotone norm: s = ρ(z) with |ρ| ≤ M."""
    cells, most = held(batch), rationals.range_bound(batch)
    norm = parts(cells.certificates[0], widths(cells))
    if most is None or norm is None or any(part.rows for part in norm):
        return None
    return norm_square(norm, [most] * cells.units)


def shown(seen: SeenBalls) -> SeenBalls:
    """The output's part of a state."""
    return lambda runs, batch, k: seen(runs, batch, k)[-of_outputs(batch) :]


def state(at: int) -> SeenBalls:
    """s_t of one pair's run from zero."""
    return lambda runs, batch, k: list(runs.states[at].matrix.entries())
