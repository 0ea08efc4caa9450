"""``rnnbounds experiment sigmoid-gap``: how near URNNs with sigmoid come as their states grow."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import mse_loss

from rnnbounds.experiments.engine import Experiment, Job, all_units
from rnnbounds.experiments.networks import Student
from rnnbounds.experiments.record import (
    Outcome,
    Run,
    group_runs,
    make_setting,
    mean_score,
    score_text,
    select_runs,
)
from rnnbounds.experiments.trainer import Data, part_loss, seeded_generator

TASK, SIZE, NORM = "a contractive RNN with sigmoid", 4, 0.9
RATES, SEQUENCES = (0.01, 0.03), 2000


class SigmoidStudent(Student):
    """h_t = σ(W h_{t−1} + U x_t + b), one input and one output; W is orthogonal at first."""

    def __init__(self, kind: str, units: int, seed: int) -> None:
        super().__init__(kind, units, 1, 1, seeded_generator(seed, 4), orthogonal=True)

    def states(self, x: Tensor) -> Tensor:
        """All states (N, T, n)."""
        drives = x @ self.U.mT + self.core.get_parameter("bias_ih_l0")
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
    teacher.U.mul_(4)
    x = 2 * torch.rand(SEQUENCES, length, 1, generator=seeded_generator(seed, 9)) - 1
    y = teacher(x)
    return Data.split(x, (y - y.mean()) / y.std(), loss=mse_loss)


def list_units(setting: Any) -> list[Run]:
    """URNNs of every size, and free networks of the teacher's."""
    sizes = [f"{states} states" for states in setting.states]
    return [*all_units([TASK], ["URNN"], sizes, setting.each_seed),
            *all_units([TASK], ["RNN"], [f"{SIZE} states"], setting.each_seed)]  # fmt: skip


def run_unit(job: Job) -> Run:
    """The rate that validates best."""
    unit, task = job.unit, imitation_data(job.unit.seed, job.setting.length)

    def make() -> SigmoidStudent:
        return SigmoidStudent(unit.model, int(unit.variant.split()[0]), unit.seed)

    student = job.search_rates(make, task, RATES, project=Student.project)
    return job.make_run({"held out, relative error": part_loss(student, task, "held out") ** 0.5})


def judge_runs(runs: Sequence[Run], setting: Any) -> Outcome:
    """Judge whether each URNN's error exceeds that of free networks of the teacher's size."""
    rnns, urnns = select_runs(runs, model="RNN"), group_runs(select_runs(runs, model="URNN"))
    exceeds = all(mean_score(some) > mean_score(rnns) for some in urnns.values())
    errors = ", ".join(f"{size} {score_text(some)}" for (_, _, size), some in urnns.items())
    summary = (
        f"Relative error of trained URNNs: {errors}; of free networks of {SIZE} states: "
        f"{score_text(rnns)}. That none is equivalent is proved, whatever is seen here."
    )
    return Outcome("holds" if exceeds else "does not hold", summary)


EXPERIMENT = Experiment(
    name="sigmoid-gap",
    title="URNNs with sigmoid, as they grow",
    question="No URNN with sigmoid has the outputs of every contractive RNN. How near do trained "
    "ones come as their states grow, beside a free RNN with as many states as the teacher?",
    conclusion="URNNs with sigmoid stay behind contractive RNNs: none that is finite is equivalent",
    source="Emami et al., Input-Output Equivalence of Unitary and Contractive RNNs, theorem 4.1",
    rule="that there is a gap is proved, and not tried; that it is seen in training holds if URNNs "
    "of every size have a mean error above that of free networks of the teacher's size.",
    setting=make_setting(states=(4, 8, 16, 32), length=30, steps=800),
    units=list_units,
    work=run_unit,
    judge=judge_runs,
)
