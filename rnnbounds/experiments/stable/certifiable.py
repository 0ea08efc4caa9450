"""``rnnbounds experiment certifiable``: what it costs to have a memory that is certified.

An LSTM, a GRU and a tanh RNN learn to forecast, each freely, with a penalty on the estimated factor
and with a projection after each step, from the same starts; all are certified as they are.
"""

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

import torch
from torch import Tensor

from impl.certificate.contraction import contraction
from reports.pages.experiment import Code, Section
from rnnbounds.experiments.engine.experiment import Experiment, Job, Loaded, Unit
from rnnbounds.experiments.engine.record import Outcome, Record, Run, Setting, certified
from rnnbounds.experiments.engine.trainer import Plan
from rnnbounds.experiments.networks.recurrent import Network, free, recurrent, stable
from rnnbounds.experiments.tasks.series import sunspots
from rnnbounds.experiments.tasks.text import characters

TASKS, CELLS = ("sunspots", "characters"), ("LSTM", "GRU", "RNN")
TRAININGS = ("free", "penalised", "projected")
BEGIN = 0.25  # of torch's first recurrent weights, for those that are to be certified
DEARER = 0.1  # what a certified memory may cost
SNIPPET = """\
penalty = torch.relu(rnnbounds.contraction(rnn, input_bound) - 0.92)
(loss + 0.2 * penalty).backward()
optimiser.step()
rnnbounds.stable_(rnn, 0.92, input_bound)  # or this, in place of the penalty
rnnbounds.certify(rnn, input_bound)"""


class Sizes(Setting, frozen=True, kw_only=True):
    """Networks of `states` units, trained for `steps` steps of Adam.

    `lam`: what the projection asks for and the penalty aims at, which is `weight` times the excess
    of the estimate; `epsilon` is the ε of k.
    """

    cells: tuple[str, ...] = CELLS
    states: int = 32
    steps: int = 300
    rate: float = 0.01
    lam: float = 0.92
    weight: float = 0.2
    epsilon: float = 1e-2


def load(setting: Sizes, data: str | None) -> Loaded:
    """The tasks by name; raises MissingPackageError without statsmodels."""
    tasks = {task.name: task for task in (sunspots(), characters())}
    sources = {name: f"{task.source}, SHA-256 {task.digest}" for name, task in tasks.items()}
    return Loaded(tasks, sources)


def units(setting: Sizes) -> list[Unit]:
    """Every task, cell, way of training and seed."""
    return [
        Unit(task, cell, training, seed)
        for task in TASKS
        for cell in setting.cells
        for training in TRAININGS
        for seed in setting.each_seed
    ]


def work(job: Job[Sizes]) -> Iterable[Run]:
    """One network, trained and certified."""
    unit, s, task = job.unit, job.setting, job.data[job.unit.task]
    model = recurrent(unit.model, task, s.states, unit.seed)
    if unit.variant != "free":
        with torch.no_grad():
            dict(model.core.named_parameters())["weight_hh_l0"].mul_(BEGIN)

    def estimate(model: Network) -> Tensor:
        return contraction(model.core, task.bound)

    def small(model: Network) -> bool:
        with torch.no_grad():
            return bool(estimate(model) <= (1 + s.lam) / 2)

    way: dict[str, Any] = {"project": free}
    if unit.variant == "penalised":
        way["penalty"] = lambda model: s.weight * torch.relu(estimate(model) - s.lam)
        way["admissible"] = small
    if unit.variant == "projected":
        way["project"] = stable(s.lam, task.bound)
    job.train(model, task, Plan(steps=s.steps, rate=s.rate, every=10), **way)
    yield job.run(
        {f"held-out {task.unit}": task.judged(model)},
        certificate=certified(model.core.cpu(), task.bound, s.epsilon),
    )


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
        "that is? Penalised: the excess of an estimate of λ is added to the loss; projected: after "
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
    key="held-out",
    sections=sections,
    packages=("statsmodels",),
)
