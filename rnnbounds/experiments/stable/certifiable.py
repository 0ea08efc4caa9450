"""``rnnbounds experiment certifiable``: what it costs to have a memory that is certified.

An LSTM, a GRU and a tanh RNN learn to forecast, each freely, with a penalty on the estimated factor
and with a projection after each step, from the same starts; all are certified as they are.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from impl.certificate.certify import certify
from impl.certificate.contraction import contraction
from impl.certificate.stable_module import stable_
from reports.pages.experiment import Code, Section
from rnnbounds.experiments.engine.experiment import Experiment, Job, Loaded, Unit
from rnnbounds.experiments.engine.record import Outcome, Record, Run, Setting, certified
from rnnbounds.experiments.engine.trainer import Plan, losses
from rnnbounds.experiments.models.nets import Net
from rnnbounds.experiments.models.tasks import Characters, Sunspots
from rnnbounds.experiments.replications.scores import held_out, picked

TASKS, CELLS = (Sunspots, Characters), ("LSTM", "GRU", "RNN tanh")
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

    cells: tuple[str, ...] = CELLS
    states: int = 32
    steps: int = 300
    rate: float = 0.01
    lam: float = 0.92
    aim: float = 0.9
    weight: float = 0.2
    epsilon: float = 1e-2
    most: int = 99


def load(setting: Sizes, data: str | None) -> Loaded:
    """The tasks by name; raises MissingPackageError without statsmodels."""
    tasks = {task.name: task for task in (make() for make in TASKS)}
    return Loaded(tasks, {name: task.source for name, task in tasks.items()})


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
    d, p = task.windows.shape[2], task.outputs
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(unit.seed)
        net = Net(unit.model, 1, d, p, s.states)
    if unit.variant != "free":
        net.shrink(BEGIN)

    def short(net: Net) -> bool:
        k = certify(net.rnn, task.among, s.epsilon).window(s.epsilon)
        return k is not None and k <= s.most

    def penalty(net: Net) -> Tensor:
        return s.weight * torch.relu(contraction(net.rnn, task.among) - s.aim)

    ways: dict[str, dict[str, Any]] = {
        "free": {},
        "penalised": {"penalty": penalty, "admissible": short},
        "projected": {"project": lambda net: stable_(net.rnn, s.lam, task.bound)},
    }
    job.train(net, task, Plan(steps=s.steps, rate=s.rate, every=25), **ways[unit.variant])
    loss = task.score(float(losses(net, task, "held out", job.device)[0]))
    found = certified(net.rnn.cpu(), task.among, s.epsilon)
    yield job.run({f"held-out {task.unit}": loss}, certificate=found)


def judge(runs: Sequence[Run], setting: Sizes) -> Outcome:
    """What a certificate from every seed costs in mean held-out loss, task by task."""
    told, fits = [], []
    for task, cell in dict.fromkeys((run.task, run.model) for run in runs):
        some = {way: picked(runs, task=task, model=cell, variant=way) for way in TRAININGS}
        free, costs = held_out(some["free"]), {}
        for way in TRAININGS[1:]:
            mean, known = held_out(some[way]), [run.certificate for run in some[way]]
            if free and mean and all(one and one.verdict == "certified" for one in known):
                costs[way] = mean / free - 1
        way = min(costs, key=lambda name: costs[name], default="")
        fits.append(bool(costs) and costs[way] <= DEARER)
        cost = f"{100 * costs[way]:+.1f} % {way}" if costs else "not certified from every seed"
        told.append(f"{task}, {cell}: {cost}")
    broken = tuple(
        f"{run.task}: the projected {run.model} of seed {run.seed} is {run.certificate.verdict}"
        for run in runs
        if run.variant == "projected"
        and run.certificate is not None
        and run.certificate.verdict != "certified"
    )
    said = f"Mean held-out loss of certified networks against free ones: {'; '.join(told)}."
    return Outcome("holds" if all(fits) else "does not hold", said, broken)


def sections(record: Record) -> Sequence[Section]:
    """How it is done in a training of your own."""
    return (Section("In a training of your own", (Code(SNIPPET),)),)


EXPERIMENT = Experiment(
    name="certifiable",
    title="What a certified memory costs",
    question=(
        "Freely trained LSTMs and GRUs are hardly ever certified. What does it cost to train one "
        "that is, for inputs of the data’s range and of unit vectors? Penalised: the excess of an "
        "estimate of λ is added to the loss; projected: after each step the weights go to the "
        "nearest ones with λ at most as asked. Both begin with a quarter of torch’s recurrent "
        "weights."
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
