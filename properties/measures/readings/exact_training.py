"""Projected gradient descent of one pair in balls, and of the quadratic instance in rationals.

The difference of the two weights is carried itself, so that what vanishes (ε_k = 0) is seen to
vanish.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat, fmpq

from impl.numbers.exact_norm import ball_norm
from properties.measures.readings.adjoints import Cell, Run, flat
from properties.measures.readings.balls import BallPair, float_ends, length
from properties.measures.readings.gradients import ball_run
from properties.measures.readings.states import mapped
from properties.systems.batch import Batch
from theory.numbers.interval import Interval

PARTS = ("W", "U", "b")


@dataclass(frozen=True)
class Pair:
    """A full cell, and by how much the truncated one differs from it, both in balls."""

    cell: Cell
    moved: Cell


def ball_descents(pair: BallPair, k: int) -> list[Pair]:
    """w_1 … w_{N+1} of one pair at one window, made once."""
    key = f"descents at {k}"
    if key not in pair.cache:
        pair.cache[key] = descended(pair, k)
    found: list[Pair] = pair.cache[key]
    return found


def descended(pair: BallPair, k: int) -> list[Pair]:
    """Both descents in balls; NaN after a projection that balls cannot follow."""
    batch, run = pair.batch, ball_run(pair)
    spec, n = batch.spec, batch.cell.n
    sizes = {"W": n, "U": batch.cell.d, "b": 1}
    cell = run.cell
    found = [Pair(cell, Cell(0 * cell.W, 0 * cell.U, 0 * cell.b))]
    alpha = arb(float(batch.step_size[0, 0, 0]))
    for t in range(1, spec.steps + 1):
        rate, last = alpha / t if spec.schedule == "inverse" else alpha, found[-1]
        here = Run(run.arithmetic, last.cell, run.inputs, run.trained)
        gradient = here.gradient()
        difference = here.against(max(spec.T - k, 0), last.moved).whole
        parts, moved, at = vars(last.cell).copy(), vars(last.moved).copy(), 0
        for name in PARTS:
            if name not in spec.trained:
                continue
            columns = range(at, at + sizes[name])
            at += sizes[name]
            step, gap = (
                arb_mat([[matrix[i, j] for j in columns] for i in range(n)])
                for matrix in (gradient, difference)
            )
            radius = float(getattr(batch.omega, name)[0])
            parts[name], moved[name] = nearest(
                parts[name] - rate * step, moved[name] - rate * gap, radius, name
            )
        found.append(Pair(Cell(**parts), Cell(**moved)))
    return found


def nearest(A: arb_mat, moved: arb_mat, radius: float, name: str) -> tuple[arb_mat, arb_mat]:
    """ΠA and ΠA − Π(A − D) for D = ``moved``: inside the ball, or, scalars and what has a Frobenius
    ball, outside of it; else NaN, but 0 for D = 0."""
    size = ball_norm if name == "W" else lambda B: length(flat(B))
    one, two = size(A), size(A - moved)
    still = all(v.is_zero() for v in flat(moved))
    if one <= radius and two <= radius:
        return A, moved
    if (name != "W" or len(flat(A)) == 1) and not (one.is_nan() or two.is_nan()):
        # min(1, r/‖A‖) of a ball that meets the sphere is a ball, too.
        first, second = (arb(1) if v <= radius else (radius / v).min(arb(1)) for v in (one, two))
        P = A * first
        return P, 0 * moved if still else P - (A - moved) * second
    nothing = 0 * moved
    blank = A * arb("nan")
    return blank, nothing if still else blank


def w_gap_ball(before: int) -> Callable[[BallPair, int], arb]:
    """‖w − ŵ‖ after all steps but ``before``, in balls."""

    def read(pair: BallPair, k: int) -> arb:
        steps = max(pair.batch.spec.steps - before, 0)
        if pair.batch.spec.kind == "quadratic":
            return abs(arb(quadratic_gap(pair.batch, steps)))
        if pair.batch.spec.kind != "training":
            return arb("nan")
        moved = ball_descents(pair, k)[steps].moved
        return length([v for name in pair.batch.spec.trained for v in flat(getattr(moved, name))])

    return read


def trained_gap_ball(pair: BallPair, k: int) -> arb:
    """‖C(h_T(w_{N+1}) − h_T^k(ŵ_{N+1}))‖ in balls."""
    if pair.batch.spec.kind != "training":
        return arb("nan")
    run, last = ball_run(pair), ball_descents(pair, k)[-1]
    here = Run(run.arithmetic, last.cell, run.inputs, run.trained)
    gap = here.drift(max(pair.batch.spec.T - k, 0), last.moved).last
    return length(mapped(pair.batch.C[0], flat(gap)))


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


def w_gap_square(before: int) -> Callable[[Batch, int], fmpq | None]:
    """The exact square, of the quadratic instance alone."""

    def read(batch: Batch, k: int) -> fmpq | None:
        if batch.spec.kind != "quadratic":
            return None
        gap = quadratic_gap(batch, max(batch.spec.steps - before, 0))
        return gap * gap

    return read
