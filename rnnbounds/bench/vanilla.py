"""Vanilla networks, many at once against one by loops: gaps of all windows and how their time
grows, campaigns under Hypothesis, projected descent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from statistics import median
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st

from rnnbounds.bench import naive
from rnnbounds.bench.ceilings import Load, square_rows
from rnnbounds.bench.clock import Clock, Work
from rnnbounds.bench.row import RowMeasurement, TimedSides
from rnnbounds.bench.systems import LAM, Systems, draw_systems
from rnnbounds.impl.gradients.adjoint import gradient_gaps
from rnnbounds.impl.gradients.windows.rollout import truncations
from rnnbounds.impl.numbers.outward import norm_up
from rnnbounds.impl.training.descent import Omega, descend
from rnnbounds.properties.attacks.search import run_hypothesis
from rnnbounds.properties.judging.judge import judge
from rnnbounds.properties.judging.verdict import Verdict
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.vanilla.specs import Rnn
from rnnbounds.theory import claim

K = 32
EXAMPLES, SYSTEMS, SEQUENCES = 3, 48, 12  # of a batch as the quick profile has it
STEPS, ALPHA = 10, 0.01  # of descent, of size α/t
ROOM = 1.05  # of the set over where the weights start


def truncation_gaps(systems: Systems, K: int) -> torch.Tensor:
    """‖h_T − h_T^k‖, k = 0 … K, of all pairs, (B, K+1, S), as measured under attack."""
    full, short = truncations(systems.cell, systems.x, K)
    gaps: torch.Tensor = torch.linalg.vector_norm(full[:, :, None] - short, dim=1)
    return gaps


def count_states(many: Systems) -> int:
    """States that the full run and all windows up to K pass through."""
    return many.x.shape[1] + K * (K + 1) // 2


def truncation_load(many: Systems) -> Load:
    """Products of all states, each written and read once, and of the inputs."""
    n, (T, d) = many.cell.n, many.x.shape[1:3]
    states, inputs = n * count_states(many), d * T
    return Load(2.0 * many.pairs * n * (states + inputs), 8.0 * many.pairs * (2 * states + inputs))


def gradient_load(many: Systems) -> Load:
    """A product forward, one back and one for the sums of each signal (h, x, 1) and its adjoint,
    both written and read once."""
    n, m = many.cell.n, many.cell.n + many.cell.d + 1
    visited = many.pairs * count_states(many)
    return Load(2.0 * visited * n * (2 * m + n), 16.0 * visited * (m + n))


def truncation_sides(clock: Clock) -> TimedSides:
    """Truncation gaps of many systems, and of one by loops."""
    many = draw_systems(64 * clock.system_factor, 8, device=clock.device)
    pair = many.single_pair()
    return TimedSides(
        lambda: truncation_gaps(many, K), lambda: naive.truncation_gaps(*pair, K),
        (many.pairs, 1), load=truncation_load(many),
    )  # fmt: skip


def gradient_sides(clock: Clock) -> TimedSides:
    """Gradient gaps of many systems, and of one by loops and autograd."""
    many = draw_systems(64 * clock.system_factor, 8, device=clock.device)
    pair, target = many.single_pair(), many.single_target()
    return TimedSides(
        lambda: gradient_gaps(many.cell, many.x, K, many.loss),
        lambda: naive.gradient_gaps(*pair, *target, K),
        (many.pairs, 1), load=gradient_load(many),
    )  # fmt: skip


def product_rate(n: int, B: int, clock: Clock) -> RowMeasurement:
    """GFLOP/s of the recursion's products against those of one large product in the same run."""
    many = draw_systems(B * clock.system_factor, 8, n=n, device=clock.device)
    flops, rows = truncation_load(many).flops, square_rows(clock.device)
    square = torch.rand(rows, rows, dtype=torch.float64, device=clock.device)
    timing = clock.time_interleaved([lambda: truncation_gaps(many, K), lambda: square @ square])
    square_flops = 2.0 * rows**3
    ratios = sorted(flops / square_flops * ratio for ratio in timing.ratios(1, 0))
    ours, other = flops / timing.seconds(0) / 1e9, square_flops / timing.seconds(1) / 1e9
    return RowMeasurement(ours, other, median(ratios), (ratios[0], ratios[-1]), len(ratios))


def growth(
    sizes: Sequence[int], work: Callable[[int, Clock], Work], clock: Clock
) -> RowMeasurement:
    """The slope of the median seconds, and its spread reading by reading."""
    timing = clock.time_interleaved([work(size, clock) for size in sizes])
    slopes = sorted(log_slope(sizes, seconds) for seconds in zip(*timing.sides, strict=True))
    medians = [timing.seconds(i) for i in range(len(sizes))]
    median_slope = log_slope(sizes, medians)
    times = ", ".join(f"{size}: {1e3 * s:.3g} ms" for size, s in zip(sizes, medians, strict=True))
    return RowMeasurement(
        median_slope, None, median_slope, (slopes[0], slopes[-1]), len(slopes), times
    )


def log_slope(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """The slope of log seconds over log size, by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def growing_length(T: int, clock: Clock) -> Work:
    """The truncated states of sequences of length T: the full run apart."""
    many = draw_systems(32 * clock.system_factor, 8, T=T, device=clock.device)
    return lambda: truncations(many.cell, many.x[:, T - K :], K)


def growing_windows(K: int, clock: Clock) -> Work:
    """All windows up to K of sequences of length K."""
    many = draw_systems(32 * clock.system_factor, 8, T=K, device=clock.device)
    return lambda: truncations(many.cell, many.x, K)


def growing_systems(B: int, clock: Clock) -> Work:
    """So many systems."""
    many = draw_systems(B * clock.system_factor, 8, device=clock.device)
    return lambda: truncation_gaps(many, K)


def run_campaign(
    examples: int, visit: Callable[[SystemSpec], object], seed: int, **size: int
) -> None:
    """Show so many drawn specs to a visitor."""

    def shown(example_seed: int) -> None:
        visit(Rnn(activation="tanh", n=16, d=4, T=100, K=32, lam=0.9, seed=example_seed, **size))

    run_hypothesis(st.integers(0, 2**32 - 1), shown, examples=examples, seed=seed)


def judge_batch(spec: SystemSpec, device: str = "cpu") -> Any:
    """`truncation` on all pairs of a spec."""
    form = claim("truncation").forms[0]
    evidence = judge(form.statement, form.assumptions, build_batch(spec, device))
    assert (evidence.verdicts == Verdict.HOLDS).all()
    return evidence


def judge_by_loops(spec: SystemSpec) -> None:
    """Assert `truncation` on the single pair of a spec with the naive loops."""
    batch = build_batch(spec)
    W, U, b = (getattr(batch.cell, name)[0] for name in "WUb")
    assert naive.bound_holds(W, U, b, batch.x[0, :, :, 0], batch.K)


def campaign_sides(clock: Clock) -> TimedSides:
    """Both under Hypothesis, the batch and the one system."""
    judge_spec, seeds = (
        partial(judge_batch, device=clock.device),
        count(),
    )  # what is known of systems is kept
    size = {"batch": SYSTEMS * clock.system_factor, "sequences": SEQUENCES}
    return TimedSides(
        torch.no_grad()(lambda: run_campaign(EXAMPLES, judge_spec, next(seeds), **size)),
        torch.no_grad()(lambda: run_campaign(2, judge_by_loops, next(seeds))),
        (EXAMPLES * size["batch"] * SEQUENCES, 2),
    )


def descent_sets(many: Systems) -> tuple[Omega, torch.Tensor]:
    """Balls that hold the weights, and steps α/t, (B, N)."""
    cell = many.cell
    radii = (torch.full_like(many.y[:, 0], LAM), norm_up(cell.U.flatten(1)), norm_up(cell.b))
    rates = ALPHA / torch.arange(1, STEPS + 1).to(many.y)
    return Omega(*(ROOM * radius for radius in radii)), rates.repeat(cell.batch, 1)


def descent_sides(clock: Clock) -> TimedSides:
    """Descents of many systems of one sequence each, and of one by loops."""
    many = draw_systems(256 * clock.system_factor, 1, device=clock.device)
    omega, rates = descent_sets(many)
    pair, target = many.single_pair(), many.single_target()
    radii = (float(omega.W[0]), float(omega.U[0]), float(omega.b[0]))
    return TimedSides(
        lambda: descend(many.cell, many.x, many.loss, omega, "WUb", rates),
        lambda: naive.descend(*pair, *target, radii, rates[0].tolist()), (many.pairs, 1),
    )  # fmt: skip
