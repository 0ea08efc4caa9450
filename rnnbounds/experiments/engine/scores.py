"""Scores of runs that are alike but for the seed, and what one kind loses against another."""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from rnnbounds.experiments.engine.figures import rows_of
from rnnbounds.experiments.engine.page import spread
from rnnbounds.experiments.engine.record import Run
from rnnbounds.reports.pages.text import NOTHING


def picked(runs: Iterable[Run], **who: str) -> list[Run]:
    """The runs with this task, model or variant."""
    return [run for run in runs if all(getattr(run, name) == one for name, one in who.items())]


def figure(run: Run, name: str) -> float:
    """A figure, of those of which less is better: one that is not known is the worst."""
    value = run.figures.get(name)
    return math.inf if value is None else value


def held_out(runs: Sequence[Run]) -> float | None:
    """The mean of the first figure, None unless it is finite in all runs and there are some."""
    values = [next(iter(run.figures.values()), None) for run in runs]
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None


def stated(runs: Sequence[Run], name: str = "") -> str:
    """A figure in words, mean ± standard deviation: the first one if none is named."""
    return spread([run.figures.get(name or next(iter(run.figures))) for run in runs])


def farthest(runs: Sequence[Run], name: str) -> tuple[str, Sequence[Run]]:
    """The row with the greatest mean of a figure, and what it is; one that is not known is."""
    tasks = dict.fromkeys(run.task for run in runs)
    rows = {
        (task, *who)[len(tasks) == 1 :]: some
        for task in tasks
        for who, some in rows_of(picked(runs, task=task)).items()
    }

    def size(who: tuple[str, ...]) -> float:
        return fmean(figure(run, name) for run in rows[who])

    who = max(rows, key=size, default=())
    return " ".join(who), rows.get(who, ())


def worst(runs: Sequence[Run], name: str) -> str:
    """The row with the greatest mean of a figure, in words."""
    who, some = farthest(runs, name)
    return f"{who} {stated(some, name)}" if some else NOTHING


def not_certified(runs: Iterable[Run], variant: str) -> tuple[str, ...]:
    """The networks of a variant that should be certified and are not, in words."""
    return tuple(
        f"{run.task}: the {variant} {run.model} of seed {run.seed} is {run.certificate.verdict}"
        for run in picked(runs, variant=variant)
        if run.certificate and run.certificate.verdict != "certified"
    )


def unit(runs: Sequence[Run]) -> str:
    """Unit of the runs' first figure, from its name; more is better if it is in per cent."""
    return next(iter(runs[0].figures)).removeprefix("held out, ").removeprefix("held-out ")


def dear(costs: Mapping[str, tuple[float, str]], most: float) -> str:
    """How many of (relative cost, figures) are at most so much, and which are not, with figures;
    the dearest where all are."""
    more = [who for who, (cost, _) in costs.items() if not cost <= most]
    shown = more or [max(costs, key=lambda who: costs[who][0])]
    told = "; ".join(
        f"{who}{f' {100 * cost:+.1f} %' if math.isfinite(cost) else ''} ({figures})"
        for who, (cost, figures) in ((who, costs[who]) for who in shown)
    )
    return (
        f"at most {100 * most:g} % in {len(costs) - len(more)} of {len(costs)} pairs of task and "
        f"cell, {'more' if more else 'the most'} in {told}"
    )


def lost(runs: Sequence[Run], others: Sequence[Run]) -> float | None:
    """By how much the mean of runs is worse than that of others, relatively; None if not finite."""
    mine, theirs = held_out(runs), held_out(others)
    if mine is None or theirs is None:
        return None
    better, worse = (mine, theirs) if unit(runs).endswith("%") else (theirs, mine)
    return worse / better - 1 if better > 0 else None
