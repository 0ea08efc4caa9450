"""``rnnbounds experiment sigmoid-gap``: how near URNNs with sigmoid come as their states grow."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from rnnbounds.experiments.engine import Experiment, Outcome, Run, all_units, make_setting
from rnnbounds.experiments.networks import KINDS, Student
from rnnbounds.experiments.urnn import TEST, run_unit, score


class SigmoidStudent(Student):
    """h_t = σ(W h_{t−1} + U x_t + b)."""

    def states(self, x: Tensor) -> Tensor:
        """All states (N, T, n)."""
        drives = x @ self.U.mT + self.core.get_parameter("bias_ih_l0")
        path = [torch.zeros_like(drives[:, 0])]
        for drive in drives.unbind(1):
            path.append(torch.sigmoid(path[-1] @ self.W.mT + drive))
        return torch.stack(path[1:], 1)


def judge_runs(runs: Sequence[Run], setting: Any) -> Outcome:
    """Judge whether each URNN does worse than free networks of as many states."""
    pairs = {n: (score(runs, "URNN", n, TEST), score(runs, "RNN", n, TEST)) for n in setting.hidden}
    words = ", ".join(f"n = {n}, {a:.4f} against {b:.4f}" for n, (a, b) in pairs.items())
    summary = (
        f"R² of trained URNNs against free networks: {words}. That none is equivalent is proved, "
        "whatever is seen here."
    )
    worse = all(urnn < rnn for urnn, rnn in pairs.values())
    return Outcome("holds" if worse else "does not hold", summary)


EXPERIMENT = Experiment(
    name="sigmoid-gap",
    conclusion="URNNs with sigmoid stay behind contractive RNNs: none that is finite is equivalent "
    "(Emami et al., Input-Output Equivalence of Unitary and Contractive RNNs, theorem 4.1)",
    rule="that there is a gap is proved, and not tried; that it is seen in training holds if URNNs "
    "of every size have a mean test R² below that of free networks of as many states.",
    setting=make_setting(
        sequences=1000, length=30, hidden=(4, 8, 16, 32), steps=800, decibels=60.0
    ),
    units=lambda s: all_units(s, ["a contractive RNN with sigmoid"], KINDS, map(str, s.hidden)),
    work=partial(run_unit, make=SigmoidStudent),
    judge=judge_runs,
)
