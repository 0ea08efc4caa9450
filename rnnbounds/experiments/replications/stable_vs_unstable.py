"""``rnnbounds experiment stable-vs-unstable``: Table 1 of Miller & Hardt, at a size that fits."""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from rnnbounds.experiments.engine.experiment import Experiment, Job, LoadedData, all_units
from rnnbounds.experiments.engine.record import (
    Holds,
    Outcome,
    Record,
    Run,
    Setting,
    certify_summary,
    make_curve,
)
from rnnbounds.experiments.engine.scores import (
    cost_text,
    mean_score,
    relative_loss,
    score_text,
    score_unit,
    select_runs,
    uncertified_lines,
)
from rnnbounds.experiments.engine.trainer import Plan
from rnnbounds.experiments.networks.recurrent import (
    no_projection,
    recurrent_network,
    stable_projection,
)
from rnnbounds.experiments.tasks import load_tasks
from rnnbounds.experiments.tasks.task import Task
from rnnbounds.reports.pages.experiment import Paragraph, Section, Table
from rnnbounds.reports.pages.text import ratio_text

PAPER: Mapping[str, str] = {
    "words": "WikiText-2, perplexity",
    "characters": "Penn Treebank, bits a character",
}
"""What Table 1 of the paper is about. Its figures are not at hand here, so none is given."""
ABSENT = "not at hand"
CELLS, VARIANTS = ("RNN", "LSTM"), ("unstable", "stable")
WORSE = 0.05  # relative: what still counts as doing as well
SHARE = 0.75  # of pairs of task and cell


class Sizes(Setting, frozen=True, kw_only=True):
    """Networks of `states` units, `steps` steps of Adam for each of `rates`; λ of the projection.

    Symbols become `vectors` numbers; `whole` takes all of the data, with every word in it.
    """

    tasks: tuple[str, ...] = tuple(PAPER)
    states: int = 48
    vectors: int = 32
    steps: int = 300
    rates: tuple[float, ...] = (0.003, 0.01, 0.03)
    lam: float = 0.95
    epsilon: float = 1e-2
    whole: bool = False


def load_data(setting: Sizes, data: str | None) -> LoadedData:
    """The tasks; of `data`, the one that its files are of."""
    return load_tasks(setting.tasks, data, setting.whole)


def run_unit(job: Job[Sizes]) -> Iterable[Run]:
    """One network for each rate; the one that validates best is judged and certified."""
    unit, s = job.unit, job.setting
    task: Task = job.data[unit.task]
    project = stable_projection(s.lam, task.bound) if unit.variant == "stable" else no_projection
    make = partial(recurrent_network, unit.model, task, s.states, unit.seed, s.vectors)
    trained, rate = job.search_rates(make, task, Plan(steps=s.steps), s.rates, project=project)
    yield job.make_run(
        {f"held out, {task.unit}": task.evaluate(trained.model)},
        {"validation loss": make_curve(trained.steps, trained.validation[:, 0].tolist())},
        certificate=certify_summary(trained.model.core.cpu(), task.bound, s.epsilon),
        notes={"rate": rate},
    )


def judge_runs(runs: Sequence[Run], setting: Sizes) -> Outcome:
    """How many pairs of task and cell lose at most so much by the projection."""
    costs = {}
    for task, cell in dict.fromkeys((run.task, run.model) for run in runs):
        groups = [
            select_runs(runs, task=task, model=cell, variant=variant)
            for variant in ("stable", "unstable")
        ]
        loss, figures = (
            relative_loss(*groups),
            f"{' against '.join(map(score_text, groups))}, {score_unit(groups[0])}",
        )
        costs[f"{task}, {cell}"] = (math.inf if loss is None else loss, figures)
    fits = [cost <= WORSE for cost, _ in costs.values()]
    holds: Holds = "holds" if sum(fits) >= SHARE * len(fits) else "does not hold"
    summary = f"The projection costs {cost_text(costs, WORSE)}."
    return Outcome(holds, summary, uncertified_lines(runs, "stable"))


def extra_sections(record: Record) -> Sequence[Section]:
    """The paper's rows with ours beside them."""
    rows = []
    for task, cell in dict.fromkeys((run.task, run.model) for run in record.runs):
        groups = [
            select_runs(record.runs, task=task, model=cell, variant=variant) for variant in VARIANTS
        ]
        cells = [score_unit(groups[0]), *(ratio_text(mean_score(some)) for some in groups)]
        rows.append((PAPER.get(task, ABSENT), cell, ABSENT, ABSENT, record.sources[task], *cells))
    columns = (
        "the paper’s data", "cell", "unstable", "stable",
        "data here", "measured here in", "unstable here", "stable here",
    )  # fmt: skip
    explanation = (
        "The paper’s figures could not be had when this was written, and none is quoted from "
        "memory; the data here are others unless --data named the published files, and networks "
        "are smaller, so that rows compare conclusions, not figures."
    )
    table = Table(columns, tuple(rows), frozenset({2, 3, 6, 7}), "Means over the seeds.")
    return (Section("The paper’s Table 1, and here", (Paragraph(explanation), table)),)


EXPERIMENT = Experiment(
    name="stable-vs-unstable",
    title="Stable models against unstable ones",
    question=(
        "Does it cost performance to keep a recurrent model stable while it is trained? After each "
        "step the singular values of an RNN’s W are clipped to λ, and an LSTM’s weights go to the "
        "nearest ones of Miller and Hardt’s stable set; all else is equal, and so is the search."
    ),
    conclusion=(
        "stable recurrent models often perform as well as their unstable counterparts on benchmark "
        "sequence tasks"
    ),
    source="Miller & Hardt, Stable Recurrent Models, abstract and Table 1",
    rule=(
        "it holds if the mean held-out score of stable networks is at most "
        f"{100 * WORSE:g} % worse than that of unstable ones in at least {100 * SHARE:g} % of the "
        "pairs of task and cell."
    ),
    setting=Sizes(),
    full=Sizes(states=256, vectors=256, steps=20_000, rates=(0.001, 0.003, 0.01), whole=True),
    units=lambda setting: all_units(setting.tasks, CELLS, VARIANTS, setting.each_seed),
    work=run_unit,
    judge=judge_runs,
    load=load_data,
    takes_data=True,
    sections=extra_sections,
)
