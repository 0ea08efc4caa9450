"""Scores of runs that are alike but for the seed, and what one kind loses against another."""

from collections.abc import Iterable, Sequence
from statistics import fmean

from rnnbounds.experiments.engine.record import Run


def picked(runs: Iterable[Run], **who: str) -> list[Run]:
    """The runs with this task, model or variant."""
    return [run for run in runs if all(getattr(run, name) == one for name, one in who.items())]


def held_out(runs: Sequence[Run]) -> float | None:
    """The mean of the first figure, None unless it is finite in all runs and there are some."""
    values = [next(iter(run.figures.values()), None) for run in runs]
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None


def unit(runs: Sequence[Run]) -> str:
    """What the first figure is in; more is better where it is in per cent."""
    return next(iter(runs[0].figures)).removeprefix("held out, ")


def lost(runs: Sequence[Run], others: Sequence[Run]) -> float | None:
    """By how much the mean of runs is worse than that of others, relatively; None if not finite."""
    mine, theirs = held_out(runs), held_out(others)
    if mine is None or theirs is None:
        return None
    better, worse = (mine, theirs) if unit(runs).endswith("%") else (theirs, mine)
    return worse / better - 1 if better > 0 else None
