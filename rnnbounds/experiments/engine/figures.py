"""Figures of experiments: curves by task and model, or the first number of each run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, stdev
from typing import TypeVar

from rnnbounds.experiments.engine.record import Run
from rnnbounds.reports.pages.experiment import Drawing, Plot
from rnnbounds.reports.pages.figures.dots import LEGEND, MOST_ROWS, draw_dots
from rnnbounds.reports.pages.figures.plot import MOST_SERIES
from rnnbounds.reports.pages.figures.plot import Series as Line

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Curves to be drawn, one figure a task (one a model where they are more than six lines).

    A line is the mean over the seeds, shaded by their standard deviation; curves named in `dashed`
    are bounds. `tasks` and `models`: those alone, if any are named.
    """

    title: str
    curves: tuple[str, ...]
    x: str
    y: str
    caption: str = ""
    log_y: bool = False
    dashed: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


def group_runs(runs: Iterable[Run]) -> dict[tuple[str, str], list[Run]]:
    """The runs of each model and variant, one for each seed, in their order."""
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.model, run.variant), []).append(run)
    return groups


def chart_plots(runs: Sequence[Run], chart: Chart) -> list[Plot]:
    """The figures of one chart: one, or one a model, or one a model and curve."""
    chosen = [run for run in runs if not chart.models or run.model in chart.models]
    lines = [
        (model, name, line)
        for (model, variant), group in group_runs(chosen).items()
        for name in chart.curves
        for line in mean_lines(f"{model}, {variant}", name, group, chart)
    ]
    lines.sort(key=lambda line: line[2].style == "dashed")  # bounds have the last colours
    several = len({run.seed for run in chosen}) > 1
    caption_end = "Means over the seeds, shaded by their standard deviation." if several else ""
    groups: list[tuple[str, list[Line]]] = [("", [line for _, _, line in lines])]
    if len(lines) > MOST_SERIES:
        by_model: dict[str, list[Line]] = {}
        for model, _, line in lines:
            by_model.setdefault(model, []).append(line)
        groups = list(by_model.items())
    return [
        Plot(
            part[first : first + MOST_SERIES],
            chart.x,
            chart.y,
            f"{f'{model}: ' if model else ''}{chart.title}. {chart.caption} {caption_end}".strip(),
            log_y=chart.log_y,
        )
        for model, part in groups
        for first in range(0, len(part), MOST_SERIES)
    ]


def mean_lines(owner: str, name: str, runs: Sequence[Run], chart: Chart) -> list[Line]:
    """The mean curve over the runs, where all have a finite point; no line where none has."""
    curves = [run.curves[name] for run in runs if name in run.curves]
    points: dict[float, list[float]] = {}
    for curve in curves:
        for x, y in zip(curve.x, curve.y, strict=True):
            if y is not None:
                points.setdefault(x, []).append(y)
    complete = {x: ys for x, ys in sorted(points.items()) if len(ys) == len(curves)}
    if not complete:
        return []
    label = owner if len(chart.curves) == 1 else f"{owner}: {name}"
    dashed = name in chart.dashed
    spreads = [stdev(ys) if len(ys) > 1 else 0.0 for ys in complete.values()]
    ys = [fmean(ys) for ys in complete.values()]
    return [Line(label, list(complete), ys, "dashed" if dashed else "line", spreads)]


def split_evenly(rows: Sequence[T], limit: int) -> list[Sequence[T]]:
    """As few parts as hold at most so many each, all of about one length."""
    count = -(-len(rows) // limit)
    ends = [len(rows) * part // count for part in range(count + 1)] if count else []
    return [rows[start:end] for start, end in pairwise(ends)]


def first_figure_dots(runs: Sequence[Run]) -> list[Drawing]:
    """The first number of each run by model and variant, a dot a seed."""
    name = next((name for run in runs for name in run.figures), "")
    if not name:
        return []
    rows = [
        (f"{model}, {variant}" if variant else model, [run.figures.get(name) for run in some])
        for (model, variant), some in group_runs(runs).items()
    ]
    drawings = []
    for part in split_evenly(rows, MOST_ROWS):
        drawings.append(
            Drawing(draw_dots(part, name), LEGEND, f"{name[:1].upper()}{name[1:]}, by seed.")
        )
    return drawings
