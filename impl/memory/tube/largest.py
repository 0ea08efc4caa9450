"""The largest ball of starts that is found to be forgotten: by halves, each radius certified.

Two runs from any starts with |s_i| ≤ r, on the same inputs near a window, end within ε of one
another in h: of the whole state, and of c and of h apart, where the other one starts from 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from rnnbounds.impl.memory.runs import Runner
from rnnbounds.impl.memory.tube.runs import Around
from rnnbounds.impl.memory.tube.wide import from_ball

WINDOWS = 2  # of which starts are sought that all of them forget
LEAST, MOST, PER_DOUBLING = -12, 2, 4  # r = 2^(i/4) from 2^−12 to 2²


class Forgotten(NamedTuple):
    """Starts with |s_i| ≤ radius in a part of the state, and 0 elsewhere, are forgotten to within ε
    after all inputs of each window; radius 0 if none was found."""

    eps: float
    part: str
    radius: float


def parts(runner: Runner) -> dict[str, slice]:
    """The whole state, and c and h of an LSTM."""
    N, m = runner.states, runner.memory
    return {"state": slice(0, N)} | ({"c": slice(0, m), "h": slice(m, N)} if m else {})


@dataclass(frozen=True, eq=False)
class Balls:
    """Balls of starts in a part of the state, for windows x (M, T, d) and inputs within delta."""

    runner: Runner
    x: Tensor
    delta: float
    units: slice
    known: dict[int, float] = field(default_factory=dict)

    @cached_property
    def unit(self) -> Tensor:
        """1 in the part, 0 elsewhere."""
        found = torch.zeros(self.runner.states, dtype=torch.float64)
        found[self.units] = 1.0
        return found

    def gap(self, i: int) -> float:
        """At least ‖h_T − h′_T‖₂ of two runs from the ball of radius 2^(i/4), over all windows."""
        if i not in self.known:
            ball = Around(self.runner, self.x, self.delta, radius(i) * self.unit)
            self.known[i] = float(from_ball(ball).gaps(self.x.shape[1]).amax())
        return self.known[i]

    def largest(self, eps: float) -> float:
        """The largest radius, of those tried by halves, at which runs end within ε; 0 if none."""
        low, high = LEAST * PER_DOUBLING, MOST * PER_DOUBLING + 1
        if not self.gap(low) <= eps:
            return 0.0
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.gap(middle) <= eps else (low, middle)
        return radius(low)


def radius(i: int) -> float:
    """2^(i/4), to three digits."""
    return float(f"{2.0 ** (i / PER_DOUBLING):.3g}")


def largest_balls(
    runner: Runner, x: Tensor, delta: float, eps: Sequence[float]
) -> tuple[Forgotten, ...]:
    """For each ε and part of the state the largest ball of starts that is found to be forgotten on
    the first windows of x (M, T, d) and on inputs within delta."""
    some = x[:WINDOWS]
    balls = {name: Balls(runner, some, delta, units) for name, units in parts(runner).items()}
    return tuple(
        Forgotten(epsilon, name, ball.largest(epsilon))
        for epsilon in eps
        for name, ball in balls.items()
    )
