"""The gap of a pair of runs in balls: the real arithmetic of the weights as stored.

Balls grow with every step, by the sizes of the weights at worst, so that long runs need more bits:
a run whose balls have outgrown what they hold is begun again, with as many as the steps that it has
come suggest for all of them, until the gap is decided, within a limit of work.
Source: Johansson, Arb.
"""

import math
import sys

from flint import arb, ctx
from torch import Tensor

from rnnbounds.impl.arithmetic.entries import Balls, Columns
from rnnbounds.impl.cells.runs import Runner

BITS = (128, 256, 512, 1024, 2048, 4096)
WORK = 2**30  # products of 64-bit words in one run of a pair


def proved_gap(runner: Runner, x: Tensor, past: int, epsilon: float) -> tuple[int, float]:
    """The largest k ≤ K with a gap that is certainly above ε after k common inputs, and a lower
    bound on that gap: x (past + K, d). k is −1 where none is proved.

    The answer is that of the least precision at which the last gap is above ε, or of the last that
    the limit of work allows.
    """
    K, best = len(x) - past, (-1, 0.0)
    left = [bits for bits in BITS if affordable(runner, len(x), bits)]
    while left and best[0] < K:
        bits, *left = left
        with ctx.workprec(bits):
            found, came = _longest(runner, x, past, epsilon, to_the_end=not left)
        best = max(best, found)
        left = [more for more in left if more * came >= bits * len(x)] or left[-1:]
    return best


def affordable(runner: Runner, steps: int, bits: int) -> bool:
    """True if a run of so many steps at that precision is within the limit of work."""
    return runner.products * steps * (bits // 64) <= WORK


def most_steps(runner: Runner) -> int:
    """How many steps the limit of work allows at the least precision."""
    return WORK // (BITS[0] // 64 * max(1, runner.products))


def _longest(
    runner: Runner, x: Tensor, past: int, epsilon: float, to_the_end: bool
) -> tuple[tuple[int, float], int]:
    """Compute `proved_gap` at the working precision, and the steps until the balls are too wide to
    decide; the run stops there unless it goes `to_the_end`."""
    m, best = Balls.of_one(runner.parameters), (-1, 0.0)
    s = Columns([[arb(0)]] * runner.states)
    inputs = [Columns([[arb(a)] for a in row]) for row in x.tolist()]
    for t, one in enumerate(inputs[:past]):
        if not to_the_end and _lost(_norm([a for (a,) in s.units[-runner.n :]]), epsilon):
            return best, max(t, 1)
        s = runner.program(m, s, one)
    both = Columns([[*unit, arb(0)] for unit in s.units])
    for k in range(len(inputs) - past + 1):
        if k:
            both = runner.program(m, both, inputs[past + k - 1])
        full, late = (Columns([[unit[i]] for unit in both.units[-runner.n :]]) for i in (0, 1))
        gap = _norm([a for (a,) in runner.apart(m, full, late).units])
        if not gap.is_finite() or (not to_the_end and _lost(gap, epsilon)):
            return best, max(past + k, 1)
        least = _below(gap)
        if least > epsilon:
            best = (k, least)
    return best, len(x)


def _lost(size: arb, epsilon: float) -> bool:
    """True if a ball is too wide to decide: its radius exceeds both ε and its midpoint."""
    return bool(size.rad() > epsilon and size.rad() > abs(size.mid()))


def _norm(entries: list[arb]) -> arb:
    return sum((a * a for a in entries), arb(0)).sqrt()


def _below(x: arb) -> float:
    """A float64 that is certainly at most x, which is finite."""
    value = min(float(x.lower()), sys.float_info.max)
    while not arb(value) <= x:
        value = math.nextafter(value, -math.inf)
    return value
