"""``rnnbounds experiment certifiable``: what it costs to have a memory that is certified."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from rnnbounds.experiments.engine.experiment import Experiment, Job, Loaded, every
from rnnbounds.experiments.engine.record import Outcome, Record, Run, Setting, certified
from rnnbounds.experiments.engine.scores import dear, held_out, not_certified, picked, stated, unit
from rnnbounds.experiments.engine.trainer import Plan, losses
from rnnbounds.experiments.models import tasks
from rnnbounds.experiments.models.nets import Net
from rnnbounds.experiments.models.training import kept_short, penalised, projected
from rnnbounds.reports.pages.experiment import Code, Section

TASKS, CELLS = ("sunspots", "text"), ("LSTM", "GRU", "RNN tanh")
TRAININGS = ("free", "penalised", "projected")
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
    return tasks.load(TASKS)


def work(job: Job[Sizes]) -> Iterable[Run]:
    """One network, trained and certified."""
    unit, s, task = job.unit, job.setting, job.data[job.unit.task]
    net = Net(unit.model, task, s.states, unit.seed, shrunk=unit.variant != "free")
    ways: dict[str, dict[str, Any]] = {
        "free": {},
        "penalised": penalised(task.among, aim=s.aim, weight=s.weight)
        | kept_short(task.among, epsilon=s.epsilon, most=s.most),
        "projected": projected(task.among, s.lam),
    }
    job.train(net, task, Plan(steps=s.steps, rate=s.rate, every=25), **ways[unit.variant])
    loss = task.score(float(losses(net, task, "held out")[0]))
    found = certified(net.rnn.cpu(), task.among, s.epsilon)
    yield job.run({f"held-out {task.unit}": loss}, certificate=found)


def judge(runs: Sequence[Run], setting: Sizes) -> Outcome:
    """Judge the cost of a certificate from every seed, in mean held-out loss, task by task."""
    dearest = {}
    for task, cell in dict.fromkeys((run.task, run.model) for run in runs):
        some = {way: picked(runs, task=task, model=cell, variant=way) for way in TRAININGS}
        free, costs = held_out(some["free"]), {"": (math.inf, "not certified from every seed")}
        for way in TRAININGS[1:]:
            mean, known = held_out(some[way]), [run.certificate for run in some[way]]
            if free and mean and all(one and one.verdict == "certified" for one in known):
                figures = f"{way}: {stated(some[way])} against {stated(some['free'])}"
                costs[way] = (mean / free - 1, f"{figures}, {unit(some[way])}")
        dearest[f"{task}, {cell}"] = min(costs.values())
    fits = all(cost <= DEARER for cost, _ in dearest.values())
    said = f"A certificate from every seed costs, in mean held-out loss, {dear(dearest, DEARER)}."
    broken = not_certified(runs, "projected")
    return Outcome("holds" if fits else "does not hold", said, broken)


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
        f"seed at a mean held-out loss at most {100 * DEARER:g} % above that of the free networks."
    ),
    setting=Sizes(),
    units=lambda setting: every(TASKS, setting.cells, TRAININGS, setting.each_seed),
    work=work,
    judge=judge,
    load=load,
    sections=sections,
    packages=("statsmodels",),
)
