"""Truncation and gradient gaps of all windows: against loops, against dgemm, and their growth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import log
from statistics import median

import torch

from rnnbounds.bench import naive
from rnnbounds.bench.ceilings import Load, reached, rows_of_square
from rnnbounds.bench.clock import Clock, Work
from rnnbounds.bench.row import Measured, Row, against
from rnnbounds.bench.systems import Systems, systems
from rnnbounds.impl.gradients.adjoint import gradient_gaps
from rnnbounds.impl.gradients.windows.rollout import truncations

K = 32


def truncation_gaps(of: Systems, K: int) -> torch.Tensor:
    """‖h_T − h_T^k‖, k = 0 … K, of all pairs, (B, K+1, S), as measured under attack."""
    full, short = truncations(of.cell, of.x, K)
    gaps: torch.Tensor = torch.linalg.vector_norm(full[:, :, None] - short, dim=1)
    return gaps


def columns(many: Systems) -> int:
    """States that the full run and all windows up to K pass through."""
    return many.x.shape[1] + K * (K + 1) // 2


def truncation_load(many: Systems) -> Load:
    """Products of all states, each written and read once, and of the inputs."""
    n, (T, d) = many.cell.n, many.x.shape[1:3]
    states, inputs = n * columns(many), d * T
    return Load(2.0 * many.pairs * n * (states + inputs), 8.0 * many.pairs * (2 * states + inputs))


def gradient_load(many: Systems) -> Load:
    """A product forward, one back and one for the sums of each signal (h, x, 1) and its adjoint,
    both written and read once."""
    n, m = many.cell.n, many.cell.n + many.cell.d + 1
    seen = many.pairs * columns(many)
    return Load(2.0 * seen * n * (2 * m + n), 16.0 * seen * (m + n))


def truncation(clock: Clock) -> Measured:
    """Both sides on systems of one size."""
    many = systems(64 * clock.fuller, 8, device=clock.device)
    one = many.one()
    timing = clock.interleaved(
        [lambda: truncation_gaps(many, K), lambda: naive.truncation_gaps(*one, K)]
    )
    told = reached(clock, truncation_load(many), timing.seconds(0))
    return against(timing, (many.pairs, 1), note=told)


def gradients(clock: Clock) -> Measured:
    """The same of gradients."""
    many = systems(64 * clock.fuller, 8, device=clock.device)
    one, target = many.one(), many.target()
    timing = clock.interleaved(
        [
            lambda: gradient_gaps(many.cell, many.x, K, many.loss),
            lambda: naive.gradient_gaps(*one, *target, K),
        ]
    )
    told = reached(clock, gradient_load(many), timing.seconds(0))
    return against(timing, (many.pairs, 1), note=told)


def rate(n: int, B: int, clock: Clock) -> Measured:
    """GFLOP/s of the recursion's products against those of one large product in the same run."""
    many = systems(B * clock.fuller, 8, n=n, device=clock.device)
    flops, rows = truncation_load(many).flops, rows_of_square(clock.device)
    square = torch.rand(rows, rows, dtype=torch.float64, device=clock.device)
    timing = clock.interleaved([lambda: truncation_gaps(many, K), lambda: square @ square])
    whole = 2.0 * rows**3
    ratios = sorted(flops / whole * ratio for ratio in timing.ratios(1, 0))
    ours, other = flops / timing.seconds(0) / 1e9, whole / timing.seconds(1) / 1e9
    return Measured(ours, other, median(ratios), (ratios[0], ratios[-1]), len(ratios))


def growth(sizes: Sequence[int], work: Callable[[int, Clock], Work], clock: Clock) -> Measured:
    """The slope of log seconds over log size, by least squares; reading by reading its spread."""
    timing = clock.interleaved([work(size, clock) for size in sizes])
    slopes = sorted(slope(sizes, seconds) for seconds in zip(*timing.sides, strict=True))
    medians = [timing.seconds(i) for i in range(len(sizes))]
    found = slope(sizes, medians)
    told = ", ".join(f"{size}: {1e3 * s:.3g} ms" for size, s in zip(sizes, medians, strict=True))
    return Measured(found, None, found, (slopes[0], slopes[-1]), len(slopes), told)


def slope(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """By least squares."""
    a, b = [log(size) for size in sizes], [log(s) for s in seconds]
    mean = sum(a) / len(a)
    return sum((u - mean) * v for u, v in zip(a, b, strict=True)) / sum((u - mean) ** 2 for u in a)


def in_length(T: int, clock: Clock) -> Work:
    """The truncated states of sequences of length T: the full run apart."""
    many = systems(32 * clock.fuller, 8, T=T, device=clock.device)
    return lambda: truncations(many.cell, many.x[:, T - K :], K)


def in_windows(K: int, clock: Clock) -> Work:
    """All windows up to K of sequences of length K."""
    many = systems(32 * clock.fuller, 8, T=K, device=clock.device)
    return lambda: truncations(many.cell, many.x, K)


def in_systems(B: int, clock: Clock) -> Work:
    """So many systems."""
    many = systems(B * clock.fuller, 8, device=clock.device)
    return lambda: truncation_gaps(many, K)


SIZE = "n = 16, d = 4, T = 100, K = 32, tanh"
LOOPS = "by loops over t and k"
FASTER = "times faster"
PAIR = "µs a (system, sequence)"
RATE = "of dgemm's rate"
ROWS = (
    Row("truncation", f"truncation gaps of all k ≤ K, {SIZE}", LOOPS, PAIR, FASTER, truncation,
        asked=300, on_device=True),
    Row("gradient", f"gradient gaps of all k ≤ K, {SIZE}", f"{LOOPS}, autograd", PAIR, FASTER,
        gradients, asked=250, on_device=True),
    Row("rate-16", f"products of the truncation gaps, {SIZE}", "of one large product", "GFLOP/s",
        RATE, partial(rate, 16, 64), asked=0.12, on_device=True, share=True),
    Row("rate-64", "products of the truncation gaps, the same but n = 64", "of one large product",
        "GFLOP/s", RATE, partial(rate, 64, 16), asked=0.4, on_device=True, share=True),
    Row("growth-T", "seconds of the truncated states as T grows, K = 32", "slope of the logarithms",
        "", "slope", partial(growth, (50, 100, 200, 400, 800), in_length), asked=0.05, sense="≤",
        on_device=True),
    Row("growth-K", "seconds of all truncations as K = T grows", "slope of the logarithms", "",
        "slope", partial(growth, (8, 16, 32, 64), in_windows), asked=2.1, sense="≤",
        on_device=True),
    Row("growth-systems", f"seconds of the truncation gaps as systems grow, {SIZE}",
        "slope of the logarithms", "", "slope", partial(growth, (16, 32, 64, 128, 256), in_systems),
        asked=1.0, sense="≤", on_device=True),
)  # fmt: skip
