"""``rnnbounds experiment certifiable``: what it costs to have a memory that is certified."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from rnnbounds.experiments.engine.experiment import Experiment, Job, LoadedData, all_units
from rnnbounds.experiments.engine.record import Outcome, Record, Run, Setting, certify_summary
from rnnbounds.experiments.engine.scores import (
    cost_text,
    mean_score,
    score_text,
    score_unit,
    select_runs,
    uncertified_lines,
)
from rnnbounds.experiments.engine.trainer import Plan, part_losses
from rnnbounds.experiments.models import tasks
from rnnbounds.experiments.models.nets import ReadoutNet
from rnnbounds.experiments.models.training import (
    admissible_options,
    penalty_options,
    projection_options,
)
from rnnbounds.reports.pages.experiment import Code, Section

TASKS, CELLS = ("sunspots", "text"), ("LSTM", "GRU", "RNN tanh")
TRAININGS = ("free", "penalised", "projected")
MOST_COST = 0.1  # what a certified memory may cost
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


def load_data(setting: Sizes, data: str | None) -> LoadedData:
    """The tasks by name; raises MissingPackageError without statsmodels."""
    return tasks.load_named(TASKS)


def run_unit(job: Job[Sizes]) -> Iterable[Run]:
    """One network, trained and certified."""
    unit, s, task = job.unit, job.setting, job.data[job.unit.task]
    net = ReadoutNet(unit.model, task, s.states, unit.seed, shrunk=unit.variant != "free")
    options: dict[str, dict[str, Any]] = {
        "free": {},
        "penalised": penalty_options(task.among, aim=s.aim, weight=s.weight)
        | admissible_options(task.among, epsilon=s.epsilon, limit=s.most),
        "projected": projection_options(task.among, s.lam),
    }
    job.train(net, task, Plan(steps=s.steps, rate=s.rate, every=25), **options[unit.variant])
    loss = task.score(float(part_losses(net, task, "held out")[0]))
    certificate = certify_summary(net.rnn.cpu(), task.among, s.epsilon)
    yield job.make_run({f"held-out {task.unit}": loss}, certificate=certificate)


def judge_runs(runs: Sequence[Run], setting: Sizes) -> Outcome:
    """Judge the cost of a certificate from every seed, in mean held-out loss, task by task."""
    dearest = {}
    for task, cell in dict.fromkeys((run.task, run.model) for run in runs):
        groups = {way: select_runs(runs, task=task, model=cell, variant=way) for way in TRAININGS}
        free, costs = mean_score(groups["free"]), {"": (math.inf, "not certified from every seed")}
        for way in TRAININGS[1:]:
            mean, certificates = mean_score(groups[way]), [run.certificate for run in groups[way]]
            if (
                free
                and mean
                and all(
                    certificate and certificate.verdict == "certified"
                    for certificate in certificates
                )
            ):
                figures = f"{way}: {score_text(groups[way])} against {score_text(groups['free'])}"
                costs[way] = (mean / free - 1, f"{figures}, {score_unit(groups[way])}")
        dearest[f"{task}, {cell}"] = min(costs.values())
    fits = all(cost <= MOST_COST for cost, _ in dearest.values())
    summary = (
        f"A certificate from every seed costs, in mean held-out loss, "
        f"{cost_text(dearest, MOST_COST)}."
    )
    broken = uncertified_lines(runs, "projected")
    return Outcome("holds" if fits else "does not hold", summary, broken)


def extra_sections(record: Record) -> Sequence[Section]:
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
        f"seed at a mean held-out loss at most {100 * MOST_COST:g} % above that of the free "
        "networks."
    ),
    setting=Sizes(),
    units=lambda setting: all_units(TASKS, setting.cells, TRAININGS, setting.each_seed),
    work=run_unit,
    judge=judge_runs,
    load=load_data,
    sections=extra_sections,
    packages=("statsmodels",),
)
