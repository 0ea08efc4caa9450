"""``rnnbounds experiment sigmoid-gap``: how near URNNs with sigmoid come as their states grow."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import torch
from torch import Tensor

from rnnbounds.experiments.engine.common import chance
from rnnbounds.experiments.engine.experiment import Experiment, Job, Loaded, Unit, every
from rnnbounds.experiments.engine.figures import rows_of
from rnnbounds.experiments.engine.record import Outcome, Run, Setting, curve
from rnnbounds.experiments.engine.scores import held_out, picked, stated
from rnnbounds.experiments.engine.trainer import Plan, losses
from rnnbounds.impl.convert.urnn import polar

TASK, SIZE = "a contractive RNN with sigmoid", 4
_BATCH, _DRAWN = 32, {"validation": 1, "held out": 2}


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
        told: Tensor = self.readout(torch.stack(path, 1))
        return told


class Teacher:
    """Outputs of a random contractive network, scaled to the variance 1; ‖W‖₂ = `norm`."""

    def __init__(self, seed: int, norm: float, length: int) -> None:
        self.seed, self.length = seed, length
        self.model = Student(SIZE, 1000 + seed)
        with torch.no_grad():
            self.model.W.mul_(norm)
            self.model.feed.weight.mul_(4)
            y = self.model(self.inputs(256, chance(seed, 9)))
            self.shift, self.scale = y.mean(), y.std()

    def inputs(self, size: int, by: torch.Generator) -> Tensor:
        """Uniform in [−1, 1]."""
        return 2 * torch.rand(size, self.length, 1, generator=by) - 1

    def pair(self, size: int, by: torch.Generator) -> tuple[Tensor, Tensor]:
        """Inputs, and what the teacher makes of them."""
        x = self.inputs(size, by)
        with torch.no_grad():
            return x, (self.model(x) - self.shift) / self.scale

    def batch(self, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """Drawn anew for every step."""
        return self.pair(_BATCH, chance(seed, 0, step))

    def whole(self, part: str) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield one batch (x, y) of a part of the data, equal for all students."""
        yield self.pair(256, chance(self.seed, _DRAWN[part]))

    def loss(self, told: Tensor, y: Tensor) -> Tensor:
        """Mean squared error."""
        return (told - y).square().mean()


def load(setting: Sizes, data: str | None) -> Loaded:
    """A teacher for each seed."""
    teachers = {seed: Teacher(seed, setting.norm, setting.length) for seed in setting.each_seed}
    return Loaded(teachers, {TASK: "drawn from the seeds"})


def units(setting: Sizes) -> list[Unit]:
    """Free networks of the teacher's size, and URNNs of every size."""
    grown = [f"{size} states" for size in setting.states]
    free = every([TASK], ["RNN"], [f"{SIZE} states"], setting.each_seed)
    return free + every([TASK], ["URNN"], grown, setting.each_seed)


def orthogonal(model: Student) -> None:
    """W back to its polar factor."""
    with torch.no_grad():
        model.W.copy_(polar(model.W))


def work(job: Job[Sizes]) -> Iterable[Run]:
    """The rate that validates best."""
    unit, s, teacher = job.unit, job.setting, job.data[job.unit.seed]
    project = orthogonal if unit.model == "URNN" else (lambda model: None)
    make = partial(Student, int(unit.variant.split()[0]), unit.seed)
    plan = Plan(steps=s.steps, schedule="cosine")
    trained, rate = job.search(make, teacher, plan, s.rates, project=project)
    errors = curve(trained.steps, trained.validation[:, 0].sqrt().tolist())
    loss = float(losses(trained.model, teacher, "held out")[0])
    figures = {"held out, relative error": loss**0.5}  # the standard deviation is 1
    yield job.run(figures, {"validation error": errors}, told={"rate": rate})


def judge(runs: Sequence[Run], setting: Sizes) -> Outcome:
    """Judge whether each URNN's error exceeds that of free networks of the teacher's size."""
    rnns, urnns = picked(runs, model="RNN"), rows_of(picked(runs, model="URNN"))
    free, each = held_out(rnns), [held_out(some) for some in urnns.values()]
    above = free is not None and all(one is not None and one > free for one in each)
    told = ", ".join(f"{states} {stated(some)}" for (_, states), some in urnns.items())
    said = (
        f"Relative error of trained URNNs: {told}; of free networks of {SIZE} states: "
        f"{stated(rnns)}. That none is equivalent is proved, whatever is seen here."
    )
    return Outcome("holds" if above else "does not hold", said)


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
    units=units,
    work=work,
    judge=judge,
    load=load,
)
