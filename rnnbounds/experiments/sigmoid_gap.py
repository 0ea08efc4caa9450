"""``rnnbounds experiment sigmoid-gap``: how near URNNs with sigmoid come as their states grow."""

from collections.abc import Iterable, Iterator, Sequence

import torch
from torch import Tensor

from rnnbounds.experiments.engine import Experiment, Job, Unit, all_units
from rnnbounds.experiments.networks import StudentGroup
from rnnbounds.experiments.page import mean_score, score_text
from rnnbounds.experiments.record import Outcome, Run, Setting, group_runs, select_runs
from rnnbounds.experiments.trainer import Plan, part_losses, seeded_generator

TASK, SIZE = "a contractive RNN with sigmoid", 4


class Sizes(Setting, frozen=True, kw_only=True):
    """Students of each of these numbers of `states`; the teacher of each seed has 4."""

    states: tuple[int, ...] = (4, 8, 16, 32)
    norm: float = 0.9
    length: int = 30
    steps: int = 800
    rates: tuple[float, ...] = (0.01, 0.03)


class Teacher:
    """Outputs of a random contractive network, scaled to the variance 1; ‖W‖₂ = `norm`."""

    def __init__(self, seed: int, norm: float, length: int) -> None:
        self.seed, self.length = seed, length
        self.model = student("RNN", SIZE, 1000 + seed)
        with torch.no_grad():
            self.model.weights["W"].mul_(norm)
            self.model.weights["U"].mul_(4)
            y = self.model(self.inputs(256, seeded_generator(seed, 9)))
        self.shift, self.scale = y.mean(), y.std()

    def inputs(self, size: int, generator: torch.Generator) -> Tensor:
        """Uniform in [−1, 1], (T, 1, N, 1)."""
        return 2 * torch.rand(self.length, 1, size, 1, generator=generator) - 1

    def pair(self, size: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Inputs, and what the teacher makes of them."""
        x = self.inputs(size, generator)
        with torch.no_grad():
            return x, (self.model(x) - self.shift) / self.scale

    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """Drawn anew for every step."""
        return self.pair(32, seeded_generator(seed, 0, step))

    def batches(self, part: str) -> Iterator[tuple[Tensor, Tensor]]:
        """One batch of a part, equal for all students."""
        yield self.pair(256, seeded_generator(self.seed, 1 + (part == "held out")))

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Mean squared error."""
        return (outputs - y).square().mean()


def student(kind: str, states: int, seed: int) -> StudentGroup:
    """One network with sigmoid, whose W is orthogonal at first."""
    return StudentGroup(kind, [states], 1, 1, [seeded_generator(seed, 4)], orthogonal=True,
                        rho=torch.sigmoid)  # fmt: skip


def list_units(setting: Sizes) -> list[Unit]:
    """URNNs of every size, and free networks of the teacher's."""
    sizes = [f"{states} states" for states in setting.states]
    return [*all_units([TASK], ["URNN"], sizes, setting.each_seed),
            *all_units([TASK], ["RNN"], [f"{SIZE} states"], setting.each_seed)]  # fmt: skip


def run_unit(job: Job) -> Iterable[Run]:
    """The rate that validates best."""
    s, unit = job.setting, job.unit
    teacher = Teacher(unit.seed, s.norm, s.length)
    trained, rate = job.search_rates(
        lambda: student(unit.model, int(unit.variant.split()[0]), unit.seed), teacher,
        Plan(steps=s.steps, schedule="cosine"), s.rates, project=StudentGroup.project,
    )  # fmt: skip
    loss = float(part_losses(trained.model, teacher, "held out")[0])
    yield job.make_run({"held out, relative error": loss**0.5}, notes={"rate": rate})


def judge_runs(runs: Sequence[Run], setting: Sizes) -> Outcome:
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
    conclusion="URNNs with sigmoid stay behind contractive RNNs, as none that is finite is "
    "equivalent",
    source="Emami et al., Input-Output Equivalence of Unitary and Contractive RNNs, theorem 4.1",
    rule="that there is a gap is proved, and not tried; that it is seen in training holds if URNNs "
    "of every size have a mean error above that of free networks of the teacher's size.",
    setting=Sizes(),
    units=list_units,
    work=run_unit,
    judge=judge_runs,
)
