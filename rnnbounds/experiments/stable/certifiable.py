"""``rnnbounds experiment certifiable``: what it costs to have a memory that is certified.

An LSTM, a GRU and a tanh RNN learn to forecast, each freely, with a penalty on the estimated factor
and with a projection after each step, from the same starts; all are certified as they are.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from statistics import fmean
from typing import Any

import torch
from torch import Tensor

from impl.arithmetic.inputs.sets import InputSet
from impl.certificate.certify import certify
from impl.certificate.contraction import contraction
from impl.certificate.stable_module import stable_
from reports.pages.experiment import Code, Section
from rnnbounds.experiments.engine.experiment import Experiment, Job, Loaded, Unit
from rnnbounds.experiments.engine.record import Outcome, Record, Run, Setting, certified
from rnnbounds.experiments.engine.trainer import Plan, losses
from rnnbounds.experiments.stable.forecasts import TASKS, Forecast

CELLS = {"LSTM": torch.nn.LSTM, "GRU": torch.nn.GRU, "RNN": torch.nn.RNN}
TRAININGS = ("free", "penalised", "projected")
BEGIN = 0.25  # of torch's first recurrent weights, for those that are to be certified
DEARER = 0.1  # what a certified memory may cost
SNIPPET = """\
penalty = torch.relu(rnnbounds.contraction(rnn, inputs) - 0.9)  # inputs: B, or a set
(loss + 0.2 * penalty).backward()
optimiser.step()
rnnbounds.stable_(rnn, 0.92, input_bound)  # or this, in place of the penalty
rnnbounds.certify(rnn, inputs)"""


class Sizes(Setting, frozen=True, kw_only=True):
    """Networks of `states` units, trained for `steps` steps of Adam.

    `lam`: what the projection asks for; `aim`: what the penalty aims at, which is `weight` times
    the excess of the estimate. Penalised weights are kept where the certified k at `epsilon` is at
    most `most`.
    """

    cells: tuple[str, ...] = tuple(CELLS)
    states: int = 32
    steps: int = 300
    rate: float = 0.01
    lam: float = 0.92
    aim: float = 0.9
    weight: float = 0.2
    epsilon: float = 1e-2
    most: int = 99


class Model(torch.nn.Module):
    """A recurrent layer and a linear readout: x (N, T, d) -> (N, T, p), in float32."""

    def __init__(self, cell: str, task: Forecast, states: int, start: float, seed: int) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.rnn = CELLS[cell](task.inputs, states, batch_first=True)
            self.readout = torch.nn.Linear(states, task.outputs)
        with torch.no_grad():
            self.rnn.weight_hh_l0.mul_(start)

    def forward(self, x: Tensor) -> Tensor:
        """The forecasts."""
        told: Tensor = self.readout(self.rnn(x)[0])
        return told


def load(setting: Sizes, data: str | None) -> Loaded:
    """The tasks by name; raises MissingPackageError without statsmodels."""
    return Loaded({task.name: task for task in (make() for make in TASKS)})


def units(setting: Sizes) -> list[Unit]:
    """Every task, cell, way of training and seed."""
    return [
        Unit(task.name, cell, training, seed)
        for task in TASKS
        for cell in setting.cells
        for training in TRAININGS
        for seed in setting.each_seed
    ]


def work(job: Job[Sizes]) -> Iterable[Run]:
    """One network, trained and certified."""
    unit, s, task = job.unit, job.setting, job.data[job.unit.task]
    start = 1.0 if unit.variant == "free" else BEGIN
    model = Model(unit.model, task, s.states, start, unit.seed)
    plan = Plan(steps=s.steps, rate=s.rate, every=10)
    ways: dict[str, dict[str, Any]] = {
        "free": {},
        "penalised": {
            "penalty": lambda m: s.weight * torch.relu(contraction(m.rnn, task.among) - s.aim),
            "admissible": partial(short, among=task.among, setting=s),
        },
        "projected": {"project": lambda m: stable_(m.rnn, s.lam, task.bound)},
    }
    trained = job.train(model, task, plan, **ways[unit.variant])
    loss = task.score(float(losses(trained.model, task, "held out", job.device)[0]))
    yield job.run(
        {f"held-out {task.unit}": loss},
        certificate=certified(model.rnn.cpu(), task.among, s.epsilon),
    )


def short(model: Model, among: InputSet, setting: Sizes) -> bool:
    """Whether a k is certified that is short enough."""
    k = certify(model.rnn, among, setting.epsilon).window(setting.epsilon)
    return k is not None and k <= setting.most


def judge(runs: Sequence[Run], setting: Sizes) -> Outcome:
    """What a certificate from every seed costs in mean held-out loss, task by task."""
    told, fits = [], []
    for task, cell in dict.fromkeys((run.task, run.model) for run in runs):
        costs = {}
        free = mean_loss(runs, task, cell, "free")
        for training in ("penalised", "projected"):
            known = [run.certificate for run in some(runs, task, cell, training)]
            if all(one is not None and one.verdict == "certified" for one in known):
                costs[training] = mean_loss(runs, task, cell, training) / free - 1
        if costs:
            training = min(costs, key=lambda name: costs[name])
            told.append(f"{task}, {cell}: {100 * costs[training]:+.1f} % {training}")
            fits.append(costs[training] <= DEARER)
        else:
            told.append(f"{task}, {cell}: not certified from every seed")
            fits.append(False)
    broken = tuple(
        f"{run.task}: the projected {run.model} of seed {run.seed} is {run.certificate.verdict}"
        for run in runs
        if run.variant == "projected"
        and run.certificate is not None
        and run.certificate.verdict != "certified"
    )
    said = f"Mean held-out loss of certified networks against free ones: {'; '.join(told)}."
    return Outcome("holds" if all(fits) else "does not hold", said, broken)


def some(runs: Sequence[Run], task: str, cell: str, training: str) -> list[Run]:
    """One run for each seed."""
    wanted = (task, cell, training)
    return [run for run in runs if (run.task, run.model, run.variant) == wanted]


def mean_loss(runs: Sequence[Run], task: str, cell: str, training: str) -> float:
    """Over the seeds."""
    found = (next(iter(run.figures.values())) for run in some(runs, task, cell, training))
    return fmean(float("inf") if loss is None else loss for loss in found)


def sections(record: Record) -> Sequence[Section]:
    """How it is done in a training of your own."""
    return (Section("In a training of your own", (Code(SNIPPET),)),)


EXPERIMENT = Experiment(
    name="certifiable",
    title="What a certified memory costs",
    question=(
        "Freely trained LSTMs and GRUs are hardly ever certified. What does it cost to train one "
        "that is, for inputs of the data’s range and of unit vectors? Penalised: the excess of an "
        "estimate of λ is added to the loss; projected: after "
        "each step the weights go to the nearest ones with λ at most as asked. Both begin with a "
        "quarter of torch’s recurrent weights."
    ),
    conclusion="a model that is kept stable while it is trained does about as well as a free one",
    source="Miller & Hardt, Stable Recurrent Models, section 4",
    rule=(
        f"it holds if in every task and cell one of the two ways gives a certificate from every "
        f"seed at a mean held-out loss at most {DEARER:.0%} above that of the free networks."
    ),
    setting=Sizes(),
    units=units,
    work=work,
    judge=judge,
    load=load,
    sections=sections,
    packages=("statsmodels",),
)
