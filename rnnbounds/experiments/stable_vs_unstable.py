"""``rnnbounds experiment stable-vs-unstable``: Table 1 of Miller & Hardt, at a size that fits."""

from collections.abc import Sequence
from typing import Any

from rnnbounds.experiments import engine, networks
from rnnbounds.experiments.engine import Job, Outcome, Run, mean_score, score_text
from rnnbounds.experiments.trainer import part_loss

WORSE, SHARE = 0.05, 0.75  # what counts as doing as well, relative; and in how many pairs


def run_unit(job: Job) -> Run:
    """One network: its score and its certificate."""
    model, task, certificate = networks.train_network(job)
    figures = {f"held out, {task.unit}": task.score(part_loss(model, task, "held out"))}
    return job.make_run(figures | engine.certified_figures(certificate))


def judge_runs(runs: Sequence[Run], setting: Any) -> Outcome:
    """How many pairs of task and cell lose at most so much by the projection; stable networks that
    are not certified are problems."""
    costs, words = [], []
    for task, cell in dict.fromkeys((run.task, run.model) for run in runs):
        stable, free = (
            engine.select_runs(runs, task=task, model=cell, variant=way) for way in networks.WAYS
        )
        costs.append(mean_score(stable) / mean_score(free) - 1)
        scores = f"{score_text(stable)} against {score_text(free)}"
        words.append(f"{task}, {cell} {100 * costs[-1]:+.1f} % ({scores})")
    fits = sum(cost <= WORSE for cost in costs)
    problems = tuple(
        f"{run.task}: the stable {run.model} of seed {run.seed} is not certified"
        for run in engine.select_runs(runs, variant="stable")
        if run.figures[engine.LAM] is None
    )
    summary = (
        f"The projection costs at most {100 * WORSE:g} % in {fits} of {len(costs)} pairs of task "
        f"and cell: {'; '.join(words)}."
    )
    holds = fits >= SHARE * len(costs)
    return Outcome("holds" if holds else "does not hold", summary, problems)


EXPERIMENT = networks.make_experiment(
    name="stable-vs-unstable",
    conclusion="stable recurrent models often perform as well as their unstable counterparts "
    "(Miller & Hardt, Stable Recurrent Models, Table 1)",
    rule=f"it holds if the mean held-out score of stable networks is at most {100 * WORSE:g} % "
    f"worse than that of free ones in at least {100 * SHARE:g} % of the pairs; "
    "stable ones are projected after each step.",
    work=run_unit,
    judge=judge_runs,
)
