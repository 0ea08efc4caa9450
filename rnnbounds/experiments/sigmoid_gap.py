"""``rnnbounds experiment sigmoid-gap``: how near URNNs with sigmoid come as their states grow."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import mse_loss

from rnnbounds.experiments import record
from rnnbounds.experiments.engine import Experiment, Job, all_units
from rnnbounds.experiments.networks import KINDS, Student
from rnnbounds.experiments.record import Outcome, Run
from rnnbounds.experiments.trainer import Data, falling_rates, part_loss, seeded_generator

TASK, SIZE, NORM = "a contractive RNN with sigmoid", 4, 0.9
SEQUENCES = 2000


class SigmoidStudent(Student):
    """h_t = σ(W h_{t−1} + U x_t + b), one input and one output; W is orthogonal at first."""

    def __init__(self, kind: str, units: int, seed: int) -> None:
        super().__init__(kind, (1, units, 1), seed, torch.nn.init.orthogonal_)

    def states(self, x: Tensor) -> Tensor:
        """All states (N, T, n)."""
        U, b = map(self.core.get_parameter, ("weight_ih_l0", "bias_ih_l0"))
        drives = x @ U.mT + b
        path = [torch.zeros_like(drives[:, 0])]
        for drive in drives.unbind(1):
            path.append(torch.sigmoid(path[-1] @ self.W.mT + drive))
        return torch.stack(path[1:], 1)


@torch.no_grad()
def imitation_data(seed: int, length: int) -> Data:
    """Inputs uniform in [−1, 1], and the outputs of a random contractive network, ‖W‖₂ = NORM,
    scaled to the variance 1."""
    teacher = SigmoidStudent("RNN", SIZE, 1000 + seed)
    teacher.W.mul_(NORM)
    teacher.core.get_parameter("weight_ih_l0").mul_(4)
    x = 2 * torch.rand(SEQUENCES, length, 1, generator=seeded_generator(seed, 9)) - 1
    y = teacher(x)
    return Data.split(x, (y - y.mean()) / y.std(), loss=mse_loss)


def run_unit(job: Job) -> Run:
    """One student of the unit's teacher."""
    s, unit = job.setting, job.unit
    task = imitation_data(unit.seed, s.length)
    student = SigmoidStudent(unit.model, int(unit.variant.split()[0]), unit.seed)
    job.train(student, task, falling_rates(s.steps), project=Student.project)
    return job.make_run({"held out, relative error": part_loss(student, task, "held out") ** 0.5})


def judge_runs(runs: Sequence[Run], setting: Any) -> Outcome:
    """Judge whether each URNN's error exceeds that of free networks of as many states."""
    exceeds, words = [], []
    for size in dict.fromkeys(run.variant for run in runs):
        rnn, urnn = (record.select_runs(runs, model=kind, variant=size) for kind in KINDS)
        exceeds.append(record.mean_score(urnn) > record.mean_score(rnn))
        words.append(f"{size} {record.score_text(urnn)} against {record.score_text(rnn)}")
    summary = (
        f"Relative error of trained URNNs against free networks: {', '.join(words)}. That none is "
        "equivalent is proved, whatever is seen here."
    )
    return Outcome("holds" if all(exceeds) else "does not hold", summary)


EXPERIMENT = Experiment(
    name="sigmoid-gap",
    title="URNNs with sigmoid, as they grow",
    conclusion="URNNs with sigmoid stay behind contractive RNNs: none that is finite is equivalent "
    "(Emami et al., Input-Output Equivalence of Unitary and Contractive RNNs, theorem 4.1)",
    rule="that there is a gap is proved, and not tried; that it is seen in training holds if URNNs "
    "of every size have a mean error above that of free networks of as many states.",
    setting=record.make_setting(states=(4, 8, 16, 32), length=30, steps=800),
    units=lambda s: all_units(s, [TASK], KINDS, [f"{n} states" for n in s.states]),
    work=run_unit,
    judge=judge_runs,
)
