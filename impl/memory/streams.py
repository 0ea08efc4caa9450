"""Streams: how far runs from recorded end states are from the one from zero, input by input.

A stream's state before a window is not known; P recorded ones stand for it, the end states of
windows of the first half. The gap of a window at k is the largest ‖h_t − h_t^0‖₂ at t = k … T, of
the run from any of them and the run from 0, both on the window's first t inputs: after k inputs,
and from then on, every one of these pasts leads to that output. A state that is set to 0 every
R ≤ T steps moves no output by more than the gap at 1, and by more than ε at most k − 1 of R.
A window counts as within ε if that is certain in real arithmetic, by running error bounds, or by
balls where these leave it open.
The lines hold with confidence 1 − α together, and with those of `impl.memory.statement`, which have
an α of their own, with 1 − 2α, by the union bound.
Source: as `impl.memory.statement`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import torch
from flint import ctx
from torch import Tensor

from rnnbounds.impl.memory.curve import CurveRow, forgetting_curve
from rnnbounds.impl.memory.exact import PRECISIONS, Decided, after_pasts
from rnnbounds.impl.memory.running import Running, RunningError
from rnnbounds.impl.memory.runs import Runner, blocks, grid
from rnnbounds.impl.memory.statement import Line, stated
from rnnbounds.impl.memory.tube.pasts import PASTS, end_states, later
from rnnbounds.impl.numbers.outward import add_up, norm_up
from rnnbounds.impl.reading.data.recordings import Windows, float64

WORK, MOST = 2**34, 2000  # products, and windows of each half at most
BALLS = 2**27  # products of balls


@dataclass(frozen=True, eq=False)
class Streams:
    """Of so many pasts: gaps (M, T + 1) of windows of the first half, on which each k is chosen,
    and a line for each ε about windows drawn alike, tried on `held` others; none if nothing is
    stated of other windows."""

    pasts: int
    gaps: Tensor
    held: int
    lines: tuple[Line, ...]

    @property
    def curve(self) -> list[CurveRow]:
        """The forgetting curve: for each k quantiles of the gap, and the worst."""
        ks = grid(self.gaps.shape[1] - 1)
        return forgetting_curve(ks, self.gaps[:, list(ks)])

    def window(self, epsilon: float) -> int | None:
        """The least k ≤ T from which on every gap that was seen is within ε."""
        return first_within(self.gaps, epsilon)

    def to_json(self, eps: Sequence[float]) -> dict[str, Any]:
        """The record as plain JSON data."""
        return {
            "pasts": self.pasts,
            "windows": len(self.gaps),
            "curve": self.curve,
            "memory": [{"eps": epsilon, "k": self.window(epsilon)} for epsilon in eps],
            "reset": float(self.gaps[:, 1].amax()),
            "held_out": self.held,
            "lines": [line.to_json() for line in self.lines],
        }


def streams(
    runner: Runner, held: Windows, eps: Sequence[float], alpha: Fraction | None
) -> Streams | None:
    """Run windows from recorded end states; None if there are too few for two pasts. α of each
    line, or None if nothing is stated."""
    M, T = len(held), held.T
    half = M // 2
    P = min(PASTS, half)
    if P < 2:
        return None
    cost = 2 * (1 + P) * T * runner.products
    most = min(MOST, max(1, WORK // cost))
    pasts = end_states(runner, float64(held[torch.arange(P).mul(half).div(P).long().numpy()]))
    chosen = min(half, most)
    gaps = _spread(runner, held, pasts, slice(0, chosen))[0]
    lines: list[Line] = []
    rest = slice(half, half + min(M - half, most))
    if alpha is not None:
        seen, upper = _spread(runner, held, pasts, rest)
        for epsilon in eps:
            k = first_within(gaps, epsilon)
            told = None
            if k is not None:
                inside = upper[:, k] <= epsilon
                told = Decided(inside, ~inside & (seen[:, k] <= epsilon))
                _escalate(runner, held, rest.start, pasts, k, epsilon, told)
            lines.append(stated(epsilon, k, told, alpha))
    return Streams(P, gaps, rest.stop - rest.start, tuple(lines))


def _escalate(
    runner: Runner, held: Windows, start: int, pasts: Tensor, k: int, epsilon: float, told: Decided
) -> None:
    """Decide in balls, in place and within BALLS, the windows from `start` on that were left
    open."""
    left = BALLS // ((1 + len(pasts)) * held.T * runner.products)
    for precision in PRECISIONS:
        for row in told.undecided.nonzero()[: max(left, 0), 0]:
            with ctx.workprec(precision):
                x = float64(held[(start + row[None]).numpy()])
                told.inside[row], told.undecided[row] = after_pasts(runner, x, pasts, k, epsilon)
            left -= 1


def first_within(gaps: Tensor, epsilon: float) -> int | None:
    """The least k at which all gaps (M, T + 1), which do not increase with k, are within ε."""
    fine = (gaps <= epsilon).all(0).nonzero()
    return int(fine[0]) if len(fine) else None


def _spread(runner: Runner, held: Windows, pasts: Tensor, rows: slice) -> tuple[Tensor, Tensor]:
    """The gaps of some windows as float64 computes them, and at least them, (M, T + 1) each."""
    each = 16 * (1 + len(pasts)) * (runner.states + runner.outputs)
    parts = [slice(rows.start + b.start, rows.start + b.stop)
             for b in blocks(rows.stop - rows.start, each)]  # fmt: skip
    found = [spread(runner, float64(held[part]), pasts) for part in parts]
    seen, upper = map(torch.cat, zip(*found, strict=True))
    return seen, upper


def spread(runner: Runner, x: Tensor, pasts: Tensor) -> tuple[Tensor, Tensor]:
    """Gaps of windows x (M, T, d) from pasts (P, N): computed, and upper bounds, (M, T + 1)."""
    m, M, P = Running(runner.parameters), len(x), len(pasts)
    s = RunningError.exactly(torch.cat([runner.zero(M)[0], pasts.repeat_interleave(M, 0)])[None])
    found = [_gaps(runner, m, s, M)]
    for t in range(x.shape[1]):
        s = runner.program(m, s, RunningError.exactly(x[:, t].repeat(1 + P, 1)[None]))
        found.append(_gaps(runner, m, s, M))
    seen, upper = (torch.stack(part, dim=1) for part in zip(*found, strict=True))
    return later(seen), later(upper)


def _gaps(runner: Runner, m: Running, s: RunningError, M: int) -> tuple[Tensor, Tensor]:
    """The largest ‖h − h^0‖₂ of each window at one time, and an upper bound, (M,)."""
    h = s.part(runner.states - runner.n, runner.states)
    P = h.value.shape[1] // M - 1

    def rows(part: slice) -> RunningError:
        return RunningError(h.value[:, part], h.error[:, part])

    first = rows(slice(0, M))
    zero = RunningError(first.value.repeat(1, P, 1), first.error.repeat(1, P, 1))
    apart = runner.apart(m, rows(slice(M, None)), zero)
    seen = apart.value.norm(dim=2)[0]
    upper = norm_up(add_up(apart.value.abs(), apart.error))[0].nan_to_num(torch.inf)
    return seen.reshape(P, M).amax(0), upper.reshape(P, M).amax(0)
