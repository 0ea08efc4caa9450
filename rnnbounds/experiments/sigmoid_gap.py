"""``rnnbounds experiment sigmoid-gap``: how near URNNs with sigmoid come as their states grow."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from rnnbounds.experiments.engine import Experiment, Job, all_units
from rnnbounds.experiments.networks import Student
from rnnbounds.experiments.page import mean_score, score_text
from rnnbounds.experiments.record import Outcome, Run, group_runs, make_setting, select_runs
from rnnbounds.experiments.trainer import Plan, part_loss, seeded_generator

TASK, SIZE, NORM = "a contractive RNN with sigmoid", 4, 0.9
RATES = (0.01, 0.03)


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


class Imitation:
    """Outputs of a random contractive network, scaled to the variance 1; ‖W‖₂ = NORM."""

    loss = staticmethod(torch.nn.functional.mse_loss)

    @torch.no_grad()
    def __init__(self, seed: int, length: int) -> None:
        self.seed, self.length = seed, length
        self.teacher, self.shift, self.scale = SigmoidStudent("RNN", SIZE, 1000 + seed), 0.0, 1.0
        self.teacher.W.mul_(NORM)
        self.teacher.U.mul_(4)
        y = self.pair(256, 9)[1]
        self.shift, self.scale = float(y.mean()), float(y.std())

    @torch.no_grad()
    def pair(self, size: int, *key: int) -> tuple[Tensor, Tensor]:
        """Inputs uniform in [−1, 1], (N, T, 1), and what the teacher makes of them."""
        generator = seeded_generator(self.seed, *key)
        x = 2 * torch.rand(size, self.length, 1, generator=generator) - 1
        return x, (self.teacher(x) - self.shift) / self.scale

    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """Drawn anew for every step."""
        return self.pair(32, 0, step)

    def batches(self, part: str) -> Iterator[tuple[Tensor, Tensor]]:
        """One batch of a part, equal for all students."""
        yield self.pair(256, 1 + (part == "held out"))


def list_units(setting: Any) -> list[Run]:
    """URNNs of every size, and free networks of the teacher's."""
    sizes = [f"{states} states" for states in setting.states]
    return [*all_units([TASK], ["URNN"], sizes, setting.each_seed),
            *all_units([TASK], ["RNN"], [f"{SIZE} states"], setting.each_seed)]  # fmt: skip


def run_unit(job: Job) -> Iterable[Run]:
    """The rate that validates best."""
    s, unit = job.setting, job.unit
    task, plan = Imitation(unit.seed, s.length), Plan(steps=s.steps, schedule="cosine")

    def make() -> SigmoidStudent:
        return SigmoidStudent(unit.model, int(unit.variant.split()[0]), unit.seed)

    student = job.search_rates(make, task, plan, RATES, project=Student.project)
    yield job.make_run({"held out, relative error": part_loss(student, task, "held out") ** 0.5})


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
