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
from rnnbounds.properties.measures.readings.adjoint_arithmetic import (
    CellWeights,
    is_zero,
    matrix_entries,
)
from rnnbounds.properties.measures.readings.adjoints import FullRun
from rnnbounds.properties.measures.readings.balls import BallPair, ball_matrix
from rnnbounds.properties.measures.readings.gradients import ball_run
from rnnbounds.properties.read.numbers.sizes import euclidean_ball, float_ends
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.theory.numbers.interval import Interval


@dataclass(frozen=True)
class ProjectedPart:
    """One weight part after a step: before projection, its norm, and its projection onto Ω."""

    proposed: arb_mat
    norm: arb
    projection: arb_mat


@dataclass(frozen=True)
class DescentStep:
    """The full run at w_t, and what becomes of each trained part in the step from there."""

    run: FullRun
    rate: arb
    parts: dict[str, ProjectedPart]


def full_descent(pair: BallPair) -> tuple[list[DescentStep], FullRun]:
    """The descent of the full model, which is one for all windows, and the run at w_{N+1}."""
    if "descent" not in pair.cache:
        batch, run, steps = pair.batch, ball_run(pair), []
        alpha = arb(float(batch.step_size[0, 0, 0]))
        for t in range(1, batch.spec.steps + 1):
            rate = alpha / t
            weights, parts = vars(run.cell).copy(), {}
            for name, step in split_gradient(run, run.gradient()).items():
                proposed = weights[name] - rate * step
                size = block_norm(name)(proposed)
                scale = shrink_factor(size, float(getattr(batch.omega, name)[0]), proposed, name)
                parts[name] = ProjectedPart(proposed, size, proposed * scale)
                weights[name] = parts[name].projection
            steps.append(DescentStep(run, rate, parts))
            run = FullRun(run.arithmetic, CellWeights(**weights), run.inputs, run.trained)
        pair.cache["descent"] = steps, run
    descent: tuple[list[DescentStep], FullRun] = pair.cache["descent"]
    return descent


def cached_weight_gap(pair: BallPair, k: int) -> CellWeights:
    """w_{N+1} − ŵ_{N+1} of full and truncated weights at window k, cached."""
    key = f"descents at {k}"
    if key not in pair.cache:
        pair.cache[key] = weight_gap(pair, k)
    gap: CellWeights = pair.cache[key]
    return gap


def weight_gap(pair: BallPair, k: int) -> CellWeights:
    """The difference in balls; NaN after a projection that balls cannot follow."""
    batch, cell = pair.batch, ball_run(pair).cell
    moved = CellWeights(0 * cell.W, 0 * cell.U, 0 * cell.b)
    for step in full_descent(pair)[0]:
        difference = step.run.gradient_gap(max(batch.spec.T - k, 0), moved)
        moved_parts = vars(moved).copy()
        for name, gap in split_gradient(step.run, difference).items():
            radius = float(getattr(batch.omega, name)[0])
            proposed = moved_parts[name] - step.rate * gap
            moved_parts[name] = projected_gap(step.parts[name], proposed, radius, name)
        moved = CellWeights(**moved_parts)
    return moved


def split_gradient(run: FullRun, matrix: arb_mat) -> dict[str, arb_mat]:
    """The columns of each trained part of an (n, m) gradient."""
    rows, at, parts = matrix.tolist(), 0, {}
    for name in run.trained:
        width = getattr(run.cell, name).ncols()
        parts[name] = arb_mat([row[at : at + width] for row in rows])
        at += width
    return parts


def block_norm(name: str) -> Callable[[arb_mat], arb]:
    """The norm whose ball in Ω holds that part: ‖·‖₂ of W, ‖·‖_F of the others."""
    return ball_norm if name == "W" else lambda A: euclidean_ball(matrix_entries(A))


def shrink_factor(norm: arb, radius: float, A: arb_mat, name: str) -> arb:
    """s with ΠA = s A: 1 inside the ball, and min(1, r/‖A‖) of scalars and in Frobenius balls, also
    where A may lie on either side; NaN of other matrices."""
    if norm <= radius:
        return arb(1)
    is_scalable = name != "W" or len(matrix_entries(A)) == 1
    return (radius / norm).min(arb(1)) if is_scalable and not norm.is_nan() else arb("nan")


def projected_gap(full: ProjectedPart, gap: arb_mat, radius: float, name: str) -> arb_mat:
    """ΠA − Π(A − D) for A = ``full`` and D = ``gap``; 0 for D = 0."""
    if is_zero(matrix_entries(gap)):
        return gap
    other_proposed = full.proposed - gap
    norm = block_norm(name)(other_proposed)
    if full.norm <= radius and norm <= radius:
        return gap
    return full.projection - other_proposed * shrink_factor(norm, radius, other_proposed, name)


def w_gap_ball(pair: BallPair, k: int) -> arb:
    """‖w_{N+1} − ŵ_{N+1}‖ in balls."""
    moved = cached_weight_gap(pair, k)
    return euclidean_ball(
        [v for name in pair.batch.spec.trained for v in matrix_entries(getattr(moved, name))]
    )


def trained_gap_ball(pair: BallPair, k: int) -> arb:
    """‖C(h_T(w_{N+1}) − h_T^k(ŵ_{N+1}))‖ in balls."""
    here, moved = full_descent(pair)[1], cached_weight_gap(pair, k)
    gap = here.state_drift(max(pair.batch.spec.T - k, 0), moved).last
    return euclidean_ball(matrix_entries(ball_matrix(pair.batch.C[0]) * gap))


def quadratic_gap(batch: Batch) -> fmpq:
    """w_{N+1} − ŵ_{N+1} on p = −βw²/2 and on p + εw, exactly, as a fraction reduced once: each
    descent is run as it stands, from w = 1."""
    spec = batch.spec
    alpha, beta, epsilon = (v.as_integer_ratio() for v in (spec.alpha, spec.lam, spec.epsilon))
    # w = p/q, ŵ = r/q and w + (α/t)(βw), ŵ + (α/t)(βŵ − ε) over the same denominator.
    p, r, q = 1, 1, 1
    for t in range(1, spec.steps + 1):
        top, bottom = alpha[0], alpha[1] * t
        common = bottom * beta[1] * epsilon[1]
        growth = common + top * beta[0] * epsilon[1]
        p, r = p * growth, r * growth - top * epsilon[0] * beta[1] * q
        q *= common
    return fmpq(p - r, q)


def constant_interval(value: arb, shape: tuple[int, ...]) -> Interval:
    """One number as a float64 enclosure of that shape."""
    return Interval(*(np.full(shape, end) for end in float_ends(value)))
