"""``rnnbounds experiment stable-vs-unstable``: Table 1 of Miller & Hardt, at a size that fits."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from rnnbounds.experiments import record
from rnnbounds.experiments.engine import Experiment, Job, all_units
from rnnbounds.experiments.networks import projection, recurrent_network
from rnnbounds.experiments.record import Outcome, Run, mean_score, score_text
from rnnbounds.experiments.tasks import load_texts
from rnnbounds.experiments.trainer import part_loss
from rnnbounds.impl.certificate.certify import certify

WORSE, SHARE = 0.05, 0.75  # what counts as doing as well, relative; and in how many pairs


def run_unit(job: Job) -> Run:
    """One network for each rate; the one that validates best is judged and certified."""
    unit, s, task = job.unit, job.setting, job.data[job.unit.task]
    make = partial(recurrent_network, unit.model, task, s.states, unit.seed)
    project = projection(unit.variant == "stable")
    model = job.search_rates(make, task, s.rates, project=project)
    figures = {f"held out, {task.unit}": task.score(part_loss(model, task, "held out"))}
    certificate = certify(model.core.cpu(), 1.0, (record.EPSILON,))
    return job.make_run(figures | record.certified_figures(certificate))


def judge_runs(runs: Sequence[Run], setting: Any) -> Outcome:
    """How many pairs of task and cell lose at most so much by the projection; stable networks that
    are not certified are problems."""
    costs, words = [], []
    for task, cell in dict.fromkeys((run.task, run.model) for run in runs):
        stable, free = (record.select_runs(runs, task=task, model=cell, variant=way)
                        for way in ("stable", "unstable"))  # fmt: skip
        costs.append(mean_score(stable) / mean_score(free) - 1)
        words.append(f"{task}, {cell} {100 * costs[-1]:+.1f} % ({score_text(stable)} against "
                     f"{score_text(free)})")  # fmt: skip
    fits = sum(cost <= WORSE for cost in costs)
    problems = tuple(
        f"{run.task}: the stable {run.model} of seed {run.seed} is not certified"
        for run in record.select_runs(runs, variant="stable")
        if run.figures[record.LAM] is None
    )
    summary = (
        f"The projection costs at most {100 * WORSE:g} % in {fits} of {len(costs)} pairs of task "
        f"and cell: {'; '.join(words)}."
    )
    holds = fits >= SHARE * len(costs)
    return Outcome("holds" if holds else "does not hold", summary, problems)


EXPERIMENT = Experiment(
    name="stable-vs-unstable",
    title="Stable models against unstable ones",
    question="Does it cost performance to keep a recurrent model stable while it is trained? After "
    "each step an RNN's W is clipped to ‖W‖₂ ≤ λ, and an LSTM's weights go to the nearest ones of "
    "Miller and Hardt's stable set; all else is equal, and so is the search.",
    conclusion="stable recurrent models often perform as well as their unstable counterparts",
    source="Miller & Hardt, Stable Recurrent Models, abstract and Table 1",
    rule=f"it holds if the mean held-out score of stable networks is at most {100 * WORSE:g} % "
    f"worse than that of unstable ones in at least {100 * SHARE:g} % of the pairs.",
    setting=record.make_setting(
        tasks=("words", "characters"), states=48, steps=300, rates=(0.003, 0.01, 0.03)
    ),
    units=lambda setting: all_units(
        setting.tasks, ("RNN", "LSTM"), ("unstable", "stable"), setting.each_seed
    ),
    work=run_unit,
    judge=judge_runs,
    load=lambda setting: load_texts(setting.tasks),
)
