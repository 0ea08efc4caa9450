"""Runs that begin where recordings ended: streaming models never start from zero.

A stream's state before the last k inputs of a window is within `start` of one of P recorded end
states, each entry; the truncated run starts there from 0, exactly, as what `truncate` writes does.
The gap at k is ‖h_T − h_T^k‖₂ of these two: whichever of the pasts came before, after k inputs the
state is within it of what the truncated model computes. The two are held together, past by past, so
that what the inputs may differ by moves both alike.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.errors import RangeError
from rnnbounds.impl.memory.runs import Runner
from rnnbounds.impl.memory.tube.runs import LEAST, Around, Stage
from rnnbounds.impl.reading.data.recordings import Array


@dataclass(frozen=True, eq=False, kw_only=True)
class AfterPasts(Around):
    """Runs on windows x (M, T, d) and inputs near them, from states near pasts (P, N)."""

    pasts: Tensor

    @property
    def order(self) -> int:
        """How many generators are kept for each unit: few, as runs are many."""
        return LEAST

    @property
    def begun(self) -> Stage:
        """Each past with each window, (1, P M, N), and the states around it."""
        s = self.pasts[:, None].repeat(1, len(self.x), 1).reshape(1, -1, self.runner.states)
        return Stage.within(s, self.start)

    def _begin(self, t: int) -> tuple[int, Stage]:
        """A run from each past and one from 0, both at that time, and the sets of both."""
        one = self.begun
        return t, one.beside(Stage.within(torch.zeros_like(one.s), 0.0))


def end_states(runner: Runner, x: Tensor) -> Tensor:
    """The state after each window x (P, T, d) from 0, as float64 computes it: (P, N)."""
    s = runner.zero(len(x))
    for t in range(x.shape[1]):
        s = runner.step(s, x[None, :, t])
    return s[0]


def past_rows(pasts: int, windows: int) -> Array:
    """That many of the windows, spread evenly; raises RangeError if there are not so many."""
    if type(pasts) is not int or not 0 <= pasts <= windows:
        raise RangeError("pasts", pasts, f"a whole number from 0 to {windows}, that of the windows")
    return spread(pasts, windows)


def spread(count: int, windows: int) -> Array:
    """So many of the windows by number, spread evenly from the first one on."""
    found: Array = np.arange(count) * windows // max(1, count)
    return found
