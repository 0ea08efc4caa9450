"""Rigorous decision of whether a window is within ε at k, in real arithmetic on recorded data.

Float64 with running error bounds decides most windows. These bounds grow with the norms of the
weights, not with the true propagation of errors, so that long runs leave some undecided: these are
run in balls, doubling the precision, if WORK allows it for all that are open; of the first such run
the last steps are taken in float64 from the balls before them. The rest count as not within ε.
"""

import math
from collections import deque
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import torch
from flint import arb, arb_mat, ctx
from torch import Tensor

from rnnbounds.impl.arithmetic.base import ALL, V
from rnnbounds.impl.arithmetic.entries import Balls, Columns
from rnnbounds.impl.arithmetic.running import Running, RunningError
from rnnbounds.impl.cells.runs import Runner
from rnnbounds.impl.numbers.ball_functions import float_above
from rnnbounds.impl.numbers.outward import add_up, norm_up

PRECISIONS = (96, 128, 256, 512, 1024, 2048, 4096)
WORK = 2**29  # products of balls, for all windows that are decided together
NEGLIGIBLE = 2.0**-4  # of ε: errors of float64 that both runs may end with
_DOWN = 1 - 2.0**-40  # what rounding of a few operations leaves of a lower bound, and more
_TOGETHER = 64  # windows, as columns of one matrix


class Decided(NamedTuple):
    """Of M windows: those that are within ε for certain, and those that were left open, (M,)."""

    inside: Tensor
    undecided: Tensor


def within(runner: Runner, x: Tensor, asked: Sequence[tuple[int, float]]) -> list[Decided]:
    """For each (k, ε): decide ‖h_T − h_T^k‖₂ ≤ ε rigorously for windows x (M, T, d); of f(h) with a
    readout f."""
    T = x.shape[1]
    small = min((epsilon for _, epsilon in asked), default=0.0) * NEGLIGIBLE / 2
    errors = []  # the largest of each window, (M,), before and after each step
    for full in states(runner, x):
        errors.append(full.r[0, :, 0])
    tail = sum(bool((error <= small).all()) for error in errors[1:])
    full_balls: dict[tuple[int, ...], list[arb]] = {}  # of each window
    decided = []
    for k, epsilon in reversed(asked):  # small ε leave most windows open, whose balls serve all
        inputs = x[:, T - k :]
        short = near(runner, inputs)
        apart = runner.apart(Running(runner.parameters), outputs(runner, full), short)
        size, r = apart.value.abs(), apart.r[0, :, 0]
        most = torch.minimum(norm_up(add_up(size, apart.error))[0], add_up(norm_up(size)[0], r))
        inside = most <= epsilon
        entries = (size - apart.error).clamp(min=0).norm(dim=2)[0]
        least = torch.maximum(entries, size.norm(dim=2)[0] * _DOWN - r) * _DOWN
        clear = (least > max(epsilon, 2.0**-500)) & (least < math.inf)  # squares are floats
        undecided = ~inside & ~clear
        left = WORK // max(1, runner.products * (T + k))  # windows that may be run in balls
        in_floats, is_near = tail, bool((short.r <= epsilon * NEGLIGIBLE).all())
        for precision in PRECISIONS:
            if precision < _bits(errors[T - in_floats][undecided], epsilon):
                continue
            if not 0 < undecided.sum() <= left:
                break
            open_rows = undecided.nonzero()[:, 0]
            for start in range(0, len(open_rows), _TOGETHER):
                rows = open_rows[start : start + _TOGETHER]
                keys = [(precision, in_floats, row) for row in rows.tolist()]
                with ctx.workprec(precision):
                    if new := [key for key in keys if key not in full_balls]:
                        run = enclosed(runner, x[[row for *_, row in new]], in_floats)
                        each = [list(window) for window in zip(*run.units, strict=True)]
                        full_balls.update(zip(new, each, strict=True))
                    runs = [full_balls[key] for key in keys]
                    full_run = Columns([list(unit) for unit in zip(*runs, strict=True)])
                    short_run = (
                        _as_balls(short, rows)
                        if is_near
                        else enclosed(runner, inputs[rows], in_floats)
                    )
                    gaps = distances(runner, full_run, short_run)
                    fine = torch.tensor([bool(gap <= epsilon) for gap in gaps], dtype=torch.bool)
                    beyond = torch.tensor([bool(gap > epsilon) for gap in gaps], dtype=torch.bool)
                inside[rows], undecided[rows] = fine, ~fine & ~beyond
                left -= len(rows)
            in_floats, is_near = 0, False
        decided.append(Decided(inside, undecided))
    return decided[::-1]


def _bits(error: Tensor, epsilon: float) -> float:
    """About what precision makes such errors of float64 small beside ε; 0 if that is not known."""
    worst = float(error.amax()) if error.numel() else math.nan
    return 80 + math.log2(worst) - math.log2(epsilon) if 0 < worst < math.inf else 0.0


def states(runner: Runner, x: Tensor, s: RunningError | None = None) -> Iterator[RunningError]:
    """Yield the states (1, M, N) before and after each of the inputs x (M, T, d), from s or from
    zero, with bounds on rounding."""
    m = Running(runner.parameters)
    s = RunningError.exactly(runner.zero(len(x))) if s is None else s
    yield s
    for inputs in x.unbind(1):
        s = m.join(runner.program(m, s, RunningError.exactly(inputs[None])))
        yield s


def near(runner: Runner, x: Tensor, s: RunningError | None = None) -> RunningError:
    """The outputs (1, M, n) after the last of the inputs."""
    return outputs(runner, deque(states(runner, x, s), maxlen=1)[0])


def outputs(runner: Runner, s: V) -> V:
    """The outputs h of states."""
    return s.part(runner.states - runner.n, runner.states)


def enclosed(runner: Runner, x: Tensor, in_floats: int = 0) -> Columns:
    """Enclose the outputs after the inputs x (M, T, d): n balls for each window. The last steps,
    `in_floats` of them, are run in float64, whose errors stay small for so long."""
    m, first = _balls(runner), max(0, x.shape[1] - in_floats)
    s = Columns.of(arb_mat(runner.states, len(x)))
    for inputs in x[:, :first].unbind(1):
        s = runner.program(m, s, Columns.of(arb_mat(inputs.T.tolist())))
    if first == x.shape[1]:
        return outputs(runner, s)
    return _as_balls(near(runner, x[:, first:], _as_floats(s)))


def _as_floats(balls: Columns) -> RunningError:
    """The nearest floats (1, M, N) to the balls' centres, and how far the numbers may be off."""
    near = [[float(ball.mid()) for ball in unit] for unit in balls.units]
    pairs = zip(balls.units, near, strict=True)
    off = [[float_above(abs(b - v)) for b, v in zip(*pair, strict=True)] for pair in pairs]
    value, error = (torch.tensor(part, dtype=torch.float64).T[None] for part in (near, off))
    return RunningError(value, error)


def _as_balls(near: RunningError, rows: Tensor | slice = ALL) -> Columns:
    """Balls of such centres and radii, of some columns."""
    value, error = (part[0, rows].T.tolist() for part in (near.value, near.error))
    pairs = zip(value, error, strict=True)
    return Columns([[arb(v, e) for v, e in zip(*pair, strict=True)] for pair in pairs])


def distances(runner: Runner, full: Columns, short: Columns) -> list[arb]:
    """‖h_T − h_T^k‖₂ of each window, of enclosed outputs, or of f(h)."""
    apart = runner.apart(_balls(runner), full, short)
    return [sum((a * a for a in one), arb(0)).sqrt() for one in zip(*apart.units, strict=True)]


@lru_cache(maxsize=1)
def _balls(runner: Runner) -> Balls:
    return Balls.of_one(runner.parameters)
