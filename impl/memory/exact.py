"""Rigorous decision of whether a window is within ε at k, in real arithmetic on recorded data.

Float64 with running error bounds decides most windows. These bounds grow with the norms of the
weights, not with the true propagation of errors, so that long runs leave some undecided: these are
run in balls, doubling the precision, if WORK allows it for all that are open. The rest count as not
within ε.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from flint import arb, arb_mat, ctx
from torch import Tensor

from rnnbounds.impl.arithmetic.entries import Balls, Columns
from rnnbounds.impl.arithmetic.running import Running, RunningError
from rnnbounds.impl.cells.runs import Runner
from rnnbounds.impl.numbers.outward import add_up, norm_up

PRECISIONS = (128, 256, 512, 1024, 2048, 4096)
WORK = 2**29  # products of balls, for all windows that are decided together
_TOGETHER = 64  # windows, as columns of one matrix


class Decided(NamedTuple):
    """Of M windows: those that are within ε for certain, and those that were left open, (M,)."""

    inside: Tensor
    undecided: Tensor


def within(
    runner: Runner, x: Tensor, k: int, epsilon: float, runs: dict[Any, Any] | None = None
) -> Decided:
    """Decide ‖h_T − h_T^k‖₂ ≤ ε rigorously for windows x (M, T, d); of f(h) with a readout f.

    runs: keeps the full runs of these windows from one k to the next.
    """
    runs = {} if runs is None else runs
    short, T = x[:, x.shape[1] - k :], x.shape[1]
    if "floats" not in runs:
        runs["floats"] = near(runner, x)
    apart = runner.apart(Running(runner.parameters), runs["floats"], near(runner, short))
    size = apart.value.abs()
    inside = norm_up(add_up(size, apart.error))[0] <= epsilon
    least = (size - apart.error).clamp(min=0).norm(dim=2)[0] * (1 - 2.0**-40)
    undecided = ~inside & ~(least > epsilon)
    left = WORK // max(1, runner.products * (T + k))  # windows that may be run in balls
    for precision in PRECISIONS:
        if precision < _bits(apart.error[0, undecided], epsilon):
            continue
        if not 0 < undecided.sum() <= left:
            break
        for rows in undecided.nonzero()[:, 0].split(_TOGETHER):
            key = precision, *rows.tolist()
            with ctx.workprec(precision):
                if key not in runs:
                    runs[key] = enclosed(runner, x[rows])
                gaps = distances(runner, runs[key], enclosed(runner, short[rows]))
                fine = torch.tensor([bool(gap <= epsilon) for gap in gaps], dtype=torch.bool)
                beyond = torch.tensor([bool(gap > epsilon) for gap in gaps], dtype=torch.bool)
            inside[rows], undecided[rows] = fine, ~fine & ~beyond
            left -= len(rows)
    return Decided(inside, undecided)


def _bits(error: Tensor, epsilon: float) -> float:
    """About what precision makes the errors of float64 small beside ε; 0 if that is not known."""
    worst = float(error.amax()) if error.numel() else math.nan
    return 80 + math.log2(worst / epsilon) if 0 < worst < math.inf else 0.0


def near(runner: Runner, x: Tensor) -> RunningError:
    """The outputs (1, M, n) after the last of the inputs x (M, T, d), with bounds on rounding."""
    m, s = Running(runner.parameters), RunningError.exactly(runner.zero(len(x)))
    for t in range(x.shape[1]):
        s = runner.program(m, s, RunningError.exactly(x[None, :, t]))
    return s.part(runner.states - runner.n, runner.states)


def enclosed(runner: Runner, x: Tensor) -> Columns:
    """Enclose the outputs after the inputs x (M, T, d): n balls for each window."""
    m = _balls(runner)
    s = Columns.of(arb_mat(runner.states, len(x)))
    for inputs in x.unbind(1):
        s = runner.program(m, s, Columns.of(arb_mat(inputs.T.tolist())))
    return s.part(runner.states - runner.n, runner.states)


def distances(runner: Runner, full: Columns, short: Columns) -> list[arb]:
    """‖h_T − h_T^k‖₂ of each window, of enclosed outputs, or of f(h)."""
    apart = runner.apart(_balls(runner), full, short)
    return [sum((a * a for a in one), arb(0)).sqrt() for one in zip(*apart.units, strict=True)]


@lru_cache(maxsize=1)
def _balls(runner: Runner) -> Balls:
    return Balls.of_one(runner.parameters)
