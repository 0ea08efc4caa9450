"""Projected gradient descent of one pair in balls, and of the quadratic instance in rationals.

The difference of the two weights is carried itself, so that what vanishes (ε_k = 0) is seen to
vanish.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat, fmpq

from rnnbounds.impl.numbers.spectra.exact_norm import ball_norm
from rnnbounds.properties.measures.readings.adjoints import Cell, Run, flat, vanishes
from rnnbounds.properties.measures.readings.balls import BallPair, matrix_of
from rnnbounds.properties.measures.readings.gradients import ball_run
from rnnbounds.properties.read.numbers.sizes import float_ends, length
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.theory.numbers.interval import Interval


@dataclass(frozen=True)
class Projected:
    """One weight part after a step: before projection, its norm, and its projection onto Ω."""

    proposed: arb_mat
    size: arb
    nearest: arb_mat


@dataclass(frozen=True)
class Step:
    """The full run at w_t, and what becomes of each trained part in the step from there."""

    run: Run
    rate: arb
    parts: dict[str, Projected]


def full_descent(pair: BallPair) -> tuple[list[Step], Run]:
    """The descent of the full model, which is one for all windows, and the run at w_{N+1}."""
    if "descent" not in pair.cache:
        batch, run, found = pair.batch, ball_run(pair), []
        alpha = arb(float(batch.step_size[0, 0, 0]))
        for t in range(1, batch.spec.steps + 1):
            rate = alpha / t if batch.spec.schedule == "inverse" else alpha
            weights, parts = vars(run.cell).copy(), {}
            for name, step in columns_of(run, run.gradient()).items():
                proposed = weights[name] - rate * step
                size = norm_of(name)(proposed)
                scale = shrinking(size, float(getattr(batch.omega, name)[0]), proposed, name)
                parts[name] = Projected(proposed, size, proposed * scale)
                weights[name] = parts[name].nearest
            found.append(Step(run, rate, parts))
            run = Run(run.arithmetic, Cell(**weights), run.inputs, run.trained)
        pair.cache["descent"] = found, run
    descent: tuple[list[Step], Run] = pair.cache["descent"]
    return descent


def ball_descents(pair: BallPair, k: int) -> list[Cell]:
    """By how much the weights ŵ_1 … ŵ_{N+1} of one window differ from the full ones, made once."""
    key = f"descents at {k}"
    if key not in pair.cache:
        pair.cache[key] = descended(pair, k)
    found: list[Cell] = pair.cache[key]
    return found


def descended(pair: BallPair, k: int) -> list[Cell]:
    """The differences in balls; NaN after a projection that balls cannot follow."""
    batch, cell = pair.batch, ball_run(pair).cell
    found = [Cell(0 * cell.W, 0 * cell.U, 0 * cell.b)]
    for step in full_descent(pair)[0]:
        difference = step.run.against(max(batch.spec.T - k, 0), found[-1])
        moved = vars(found[-1]).copy()
        for name, gap in columns_of(step.run, difference).items():
            radius = float(getattr(batch.omega, name)[0])
            proposed = moved[name] - step.rate * gap
            moved[name] = nearest_gap(step.parts[name], proposed, radius, name)
        found.append(Cell(**moved))
    return found


def columns_of(run: Run, matrix: arb_mat) -> dict[str, arb_mat]:
    """The columns of each trained part of an (n, m) gradient."""
    rows, at, found = matrix.tolist(), 0, {}
    for name in run.trained:
        width = getattr(run.cell, name).ncols()
        found[name] = arb_mat([row[at : at + width] for row in rows])
        at += width
    return found


def norm_of(name: str) -> Callable[[arb_mat], arb]:
    """The norm whose ball in Ω holds that part: ‖·‖₂ of W, ‖·‖_F of the others."""
    return ball_norm if name == "W" else lambda A: length(flat(A))


def shrinking(size: arb, radius: float, A: arb_mat, name: str) -> arb:
    """s with ΠA = s A: 1 inside the ball, and min(1, r/‖A‖) of scalars and in Frobenius balls, also
    where A may lie on either side; NaN of other matrices."""
    if size <= radius:
        return arb(1)
    followed = name != "W" or len(flat(A)) == 1
    return (radius / size).min(arb(1)) if followed and not size.is_nan() else arb("nan")


def nearest_gap(full: Projected, moved: arb_mat, radius: float, name: str) -> arb_mat:
    """ΠA − Π(A − D) for A = ``full`` and D = ``moved``; 0 for D = 0."""
    if vanishes(flat(moved)):
        return moved
    other = full.proposed - moved
    size = norm_of(name)(other)
    if full.size <= radius and size <= radius:
        return moved
    return full.nearest - other * shrinking(size, radius, other, name)


def w_gap_ball(before: int) -> Callable[[BallPair, int], arb]:
    """‖w − ŵ‖ after all steps but ``before``, in balls."""

    def read(pair: BallPair, k: int) -> arb:
        steps = max(pair.batch.spec.steps - before, 0)
        moved = ball_descents(pair, k)[steps]
        return length([v for name in pair.batch.spec.trained for v in flat(getattr(moved, name))])

    return read


def trained_gap_ball(pair: BallPair, k: int) -> arb:
    """‖C(h_T(w_{N+1}) − h_T^k(ŵ_{N+1}))‖ in balls."""
    here, moved = full_descent(pair)[1], ball_descents(pair, k)[-1]
    gap = here.drift(max(pair.batch.spec.T - k, 0), moved).last
    return length(flat(matrix_of(pair.batch.C[0]) * gap))


def quadratic_gap(batch: Batch, steps: int) -> fmpq:
    """w − ŵ after so many steps on p = −βw²/2 and on p + εw, exactly, as a fraction that is reduced
    once: each descent is run as it stands, from w = 1."""
    spec = batch.spec
    alpha, beta, epsilon = (v.as_integer_ratio() for v in (spec.alpha, spec.lam, spec.epsilon))
    # w = p/q, ŵ = r/q and w + (α/t)(βw), ŵ + (α/t)(βŵ − ε) over the same denominator.
    p, r, q = 1, 1, 1
    for t in range(1, steps + 1):
        top, bottom = alpha[0], alpha[1] * (t if spec.schedule == "inverse" else 1)
        common = bottom * beta[1] * epsilon[1]
        growth = common + top * beta[0] * epsilon[1]
        p, r = p * growth, r * growth - top * epsilon[0] * beta[1] * q
        q *= common
    return fmpq(p - r, q)


def interval(value: arb, shape: tuple[int, ...]) -> Interval:
    """One number as a float64 enclosure of that shape."""
    return Interval(*(np.full(shape, end) for end in float_ends(value)))
