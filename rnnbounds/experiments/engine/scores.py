"""Scores of runs that are alike but for the seed, and what one kind loses against another."""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from rnnbounds.experiments.engine.figures import group_runs
from rnnbounds.experiments.engine.page import spread_text
from rnnbounds.experiments.engine.record import Run
from rnnbounds.reports.pages.text import NOTHING


def select_runs(runs: Iterable[Run], **labels: str) -> list[Run]:
    """The runs with this task, model or variant."""
    return [
        run for run in runs if all(getattr(run, name) == value for name, value in labels.items())
    ]


def figure_or_inf(run: Run, name: str) -> float:
    """A figure, of those of which less is better: one that is not known is the worst."""
    value = run.figures.get(name)
    return math.inf if value is None else value


def mean_score(runs: Sequence[Run]) -> float | None:
    """The mean of the first figure, None unless it is finite in all runs and there are some."""
    values = [next(iter(run.figures.values()), None) for run in runs]
    finite = [value for value in values if value is not None]
    return fmean(finite) if finite and len(finite) == len(values) else None


def score_text(runs: Sequence[Run], name: str = "") -> str:
    """A figure in words, mean ± standard deviation: the first one if none is named."""
    return spread_text([run.figures.get(name or next(iter(run.figures))) for run in runs])


def worst_group(runs: Sequence[Run], name: str) -> tuple[str, Sequence[Run]]:
    """The row with the greatest mean of a figure, and what it is; one that is not known is."""
    tasks = dict.fromkeys(run.task for run in runs)
    rows = {
        (task, *label)[len(tasks) == 1 :]: group
        for task in tasks
        for label, group in group_runs(select_runs(runs, task=task)).items()
    }

    def size(label: tuple[str, ...]) -> float:
        return fmean(figure_or_inf(run, name) for run in rows[label])

    label = max(rows, key=size, default=())
    return " ".join(label), rows.get(label, ())


def worst_text(runs: Sequence[Run], name: str) -> str:
    """The row with the greatest mean of a figure, in words."""
    label, group = worst_group(runs, name)
    return f"{label} {score_text(group, name)}" if group else NOTHING


def uncertified_lines(runs: Iterable[Run], variant: str) -> tuple[str, ...]:
    """The networks of a variant that should be certified and are not, in words."""
    return tuple(
        f"{run.task}: the {variant} {run.model} of seed {run.seed} is {run.certificate.verdict}"
        for run in select_runs(runs, variant=variant)
        if run.certificate and run.certificate.verdict != "certified"
    )


def score_unit(runs: Sequence[Run]) -> str:
    """Unit of the runs' first figure, from its name; more is better if it is in per cent."""
    return next(iter(runs[0].figures)).removeprefix("held out, ").removeprefix("held-out ")


def cost_text(costs: Mapping[str, tuple[float, str]], limit: float) -> str:
    """How many of (relative cost, figures) are at most so much, and which are not, with figures;
    the dearest where all are."""
    dearer = [pair for pair, (cost, _) in costs.items() if not cost <= limit]
    listed = dearer or [max(costs, key=lambda pair: costs[pair][0])]
    details = "; ".join(
        f"{pair}{f' {100 * cost:+.1f} %' if math.isfinite(cost) else ''} ({figures})"
        for pair, (cost, figures) in ((pair, costs[pair]) for pair in listed)
    )
    return (
        f"at most {100 * limit:g} % in {len(costs) - len(dearer)} of {len(costs)} pairs of task "
        f"and cell, {'more' if dearer else 'the most'} in {details}"
    )


def relative_loss(runs: Sequence[Run], references: Sequence[Run]) -> float | None:
    """By how much the mean of runs is worse than that of others, relatively; None if not finite."""
    own, other = mean_score(runs), mean_score(references)
    if own is None or other is None:
        return None
    better, worse = (own, other) if score_unit(runs).endswith("%") else (other, own)
    return worse / better - 1 if better > 0 else None
