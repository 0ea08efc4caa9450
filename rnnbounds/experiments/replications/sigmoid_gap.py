"""``rnnbounds experiment sigmoid-gap``: how near URNNs with sigmoid come as their states grow."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import torch
from torch import Tensor

from rnnbounds.experiments.engine.common import seeded_generator
from rnnbounds.experiments.engine.experiment import Experiment, Job, LoadedData, Unit, all_units
from rnnbounds.experiments.engine.figures import group_runs
from rnnbounds.experiments.engine.record import Outcome, Run, Setting, make_curve
from rnnbounds.experiments.engine.scores import mean_score, score_text, select_runs
from rnnbounds.experiments.engine.trainer import Plan, part_losses
from rnnbounds.impl.convert.urnn import polar

TASK, SIZE = "a contractive RNN with sigmoid", 4
_BATCH, _PART_KEYS = 32, {"validation": 1, "held out": 2}


class Sizes(Setting, frozen=True, kw_only=True):
    """Students of each of these numbers of `states`; the teacher of each seed has 4."""

    states: tuple[int, ...] = (4, 8, 16, 32)
    norm: float = 0.9
    length: int = 30
    steps: int = 800
    rates: tuple[float, ...] = (0.01, 0.03)


class Student(torch.nn.Module):
    """h_t = σ(W h_{t−1} + U x_t + b), y_t = C h_t + c, from the zero state."""

    def __init__(self, states: int, seed: int) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.W = torch.nn.Parameter(polar(torch.randn(states, states)))
            self.feed = torch.nn.Linear(1, states)
            self.readout = torch.nn.Linear(states, 1)

    def forward(self, x: Tensor) -> Tensor:
        """(N, T, 1) -> (N, T, 1)."""
        h, path = x.new_zeros(len(x), len(self.W)), []
        for drive in self.feed(x).unbind(1):
            h = torch.sigmoid(h @ self.W.mT + drive)
            path.append(h)
        outputs: Tensor = self.readout(torch.stack(path, 1))
        return outputs


class Teacher:
    """Outputs of a random contractive network, scaled to the variance 1; ‖W‖₂ = `norm`."""

    def __init__(self, seed: int, norm: float, length: int) -> None:
        self.seed, self.length = seed, length
        self.model = Student(SIZE, 1000 + seed)
        with torch.no_grad():
            self.model.W.mul_(norm)
            self.model.feed.weight.mul_(4)
            y = self.model(self.inputs(256, seeded_generator(seed, 9)))
            self.shift, self.scale = y.mean(), y.std()

    def inputs(self, size: int, generator: torch.Generator) -> Tensor:
        """Uniform in [−1, 1]."""
        return 2 * torch.rand(size, self.length, 1, generator=generator) - 1

    def pair(self, size: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Inputs, and what the teacher makes of them."""
        x = self.inputs(size, generator)
        with torch.no_grad():
            return x, (self.model(x) - self.shift) / self.scale

    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """Drawn anew for every step."""
        return self.pair(_BATCH, seeded_generator(seed, 0, step))

    def batches(self, part: str) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield one batch (x, y) of a part of the data, equal for all students."""
        yield self.pair(256, seeded_generator(self.seed, _PART_KEYS[part]))

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        """Mean squared error."""
        return (outputs - y).square().mean()


def load_data(setting: Sizes, data: str | None) -> LoadedData:
    """A teacher for each seed."""
    teachers = {seed: Teacher(seed, setting.norm, setting.length) for seed in setting.each_seed}
    return LoadedData(teachers, {TASK: "drawn from the seeds"})


def list_units(setting: Sizes) -> list[Unit]:
    """Free networks of the teacher's size, and URNNs of every size."""
    sizes = [f"{size} states" for size in setting.states]
    free = all_units([TASK], ["RNN"], [f"{SIZE} states"], setting.each_seed)
    return free + all_units([TASK], ["URNN"], sizes, setting.each_seed)


def project_orthogonal(model: Student) -> None:
    """W back to its polar factor."""
    with torch.no_grad():
        model.W.copy_(polar(model.W))


def run_unit(job: Job[Sizes]) -> Iterable[Run]:
    """The rate that validates best."""
    unit, s, teacher = job.unit, job.setting, job.data[job.unit.seed]
    project = project_orthogonal if unit.model == "URNN" else (lambda model: None)
    make = partial(Student, int(unit.variant.split()[0]), unit.seed)
    plan = Plan(steps=s.steps, schedule="cosine")
    trained, rate = job.search_rates(make, teacher, plan, s.rates, project=project)
    errors = make_curve(trained.steps, trained.validation[:, 0].sqrt().tolist())
    loss = float(part_losses(trained.model, teacher, "held out")[0])
    figures = {"held out, relative error": loss**0.5}  # the standard deviation is 1
    yield job.make_run(figures, {"validation error": errors}, notes={"rate": rate})


def judge_runs(runs: Sequence[Run], setting: Sizes) -> Outcome:
    """Judge whether each URNN's error exceeds that of free networks of the teacher's size."""
    rnns, urnns = select_runs(runs, model="RNN"), group_runs(select_runs(runs, model="URNN"))
    free, errors = mean_score(rnns), [mean_score(some) for some in urnns.values()]
    exceeds = free is not None and all(error is not None and error > free for error in errors)
    errors_text = ", ".join(f"{states} {score_text(some)}" for (_, states), some in urnns.items())
    summary = (
        f"Relative error of trained URNNs: {errors_text}; of free networks of {SIZE} states: "
        f"{score_text(rnns)}. That none is equivalent is proved, whatever is seen here."
    )
    return Outcome("holds" if exceeds else "does not hold", summary)


EXPERIMENT = Experiment(
    name="sigmoid-gap",
    title="URNNs with sigmoid, as they grow",
    question=(
        "No URNN with sigmoid has the outputs of every contractive RNN. How near do trained ones "
        "come as their states grow, beside a free RNN with as many states as the teacher?"
    ),
    conclusion=(
        "URNNs with sigmoid stay behind contractive RNNs, as none that is finite is equivalent"
    ),
    source="Emami et al., Input-Output Equivalence of Unitary and Contractive RNNs, theorem 4.1",
    rule=(
        "that there is a gap is proved, and not tried; that it is seen in training holds if URNNs "
        "of every size have a mean error above that of free networks of the teacher’s size."
    ),
    setting=Sizes(),
    full=Sizes(states=(4, 8, 16, 32, 64, 128), steps=10_000),
    units=list_units,
    work=run_unit,
    judge=judge_runs,
    load=load_data,
)
