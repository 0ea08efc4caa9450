"""The page of an experiment, made from its record alone: its first line says what holds."""

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Literal

from rnnbounds.experiments.record import LAM, Record, Run, group_runs, select_runs
from rnnbounds.reports.pages import experiment as html
from rnnbounds.reports.pages.figures.dots import LEGEND, MOST_ROWS, draw_dots
from rnnbounds.reports.pages.figures.plot import MOST_SERIES, Series
from rnnbounds.reports.pages.run.summary import environment_items
from rnnbounds.reports.pages.text import NOTHING, plural, ratio_text

TONES: dict[str, html.Tone] = {"holds": "good", "does not hold": "bad", "undecided": "open"}


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Curves to be drawn for each task, at most six lines a figure: the means over the seeds,
    shaded by their standard deviation; the dashed curve `bound` is certified."""

    title: str
    curve: str
    x: str
    y: str
    log_y: bool = False
    bound: str = ""


def record_verdict(record: Record) -> html.Verdict:
    """Verdict of the record: `fails` if it has problems, otherwise that of its conclusion."""
    if record.outcome.problems:
        return html.Verdict("fails", "bad")
    return html.Verdict(f"{record.outcome.holds} at this size", TONES[record.outcome.holds])


def build_page(record: Record, charts: Sequence[Chart]) -> html.Page:
    """The verdict and what was found, figures and tables by task, the question, every run."""
    outcome, seeds = record.outcome, sorted({run.seed for run in record.runs})
    asked = (record.question, f"The conclusion is of {record.source}.",
             f"The rule, stated before the runs: {record.rule}")  # fmt: skip
    settings = html.Table(
        ("setting", "value"), tuple((k, str(v)) for k, v in record.settings.items())
    )
    command = shlex.join(("rnnbounds", "experiment", record.name, *record.options))
    return html.Page(
        record.title,
        (
            *(html.Section(task.capitalize(), (*_figures(runs, charts), task_table(runs)))
              for task, runs in split_tasks(record).items()),
            html.Section("What was asked", tuple(map(html.Paragraph, asked))),
            html.Section("Run it again", (settings, html.Code(command))),
        ),
        lead=f"Tried: {record.conclusion.rstrip('.')}. Found: {outcome.summary}",
        verdict=record_verdict(record),
        kicker=f"experiment {record.name} · {plural(len(seeds), 'seed')} from {seeds[0]}",
        problems=outcome.problems,
        environment=(*record.sources.items(), *environment_items(record.environment)),
    )  # fmt: skip


def split_tasks(record: Record) -> dict[str, list[Run]]:
    """The runs of each task."""
    tasks = dict.fromkeys(run.task for run in record.runs)
    return {task: select_runs(record.runs, task=task) for task in tasks}


def _figures(runs: Sequence[Run], charts: Sequence[Chart]) -> list[html.Block]:
    """The charts; without one the first figure of each run, a dot a seed."""
    if not charts:
        name = next(iter(runs[0].figures))
        rows = [
            (f"{model}, {variant}", [run.figures.get(name) for run in group])
            for (_, model, variant), group in group_runs(runs).items()
        ]
        parts = [rows[at : at + MOST_ROWS] for at in range(0, len(rows), MOST_ROWS)]
        return [html.Drawing(draw_dots(part, name), LEGEND, f"{name}, by seed.") for part in parts]
    blocks: list[html.Block] = []
    for chart in charts:
        lines = _mean_lines(runs, chart.curve) + _mean_lines(runs, chart.bound, certified=True)
        for at in range(0, len(lines), MOST_SERIES):
            part = lines[at : at + MOST_SERIES]
            blocks.append(html.Plot(part, chart.x, chart.y, f"{chart.title}.", log_y=chart.log_y))
    return blocks


def _mean_lines(runs: Sequence[Run], name: str, *, certified: bool = False) -> list[Series]:
    """The mean curve of each model and variant, where all seeds have a finite point."""
    lines = []
    for (_, model, variant), group in group_runs(runs).items():
        points: dict[float, list[float]] = {}
        for curve in (run.curves[name] for run in group if name in run.curves):
            for x, y in zip(curve.x, curve.y, strict=True):
                points.setdefault(x, []).append(math.nan if y is None else y)
        known = {x: ys for x, ys in points.items() if math.isfinite(sum(ys))}
        means = list(map(fmean, known.values()))
        spreads = [stdev(ys) if len(ys) > 1 else 0.0 for ys in known.values()]
        label = f"{model}, {variant}" + ", certified" * certified
        if known:
            style: Literal["dashed", "line"] = "dashed" if certified else "line"
            lines.append(Series(label, list(known), means, style, spreads))
    return lines


def task_table(runs: Sequence[Run]) -> html.Table:
    """A row for each model and variant: every figure as mean ± standard deviation."""
    names = list(dict.fromkeys(name for run in runs for name in run.figures))
    rows = tuple(
        (model, variant, *(score_text(group, name) for name in names))
        for (_, model, variant), group in group_runs(runs).items()
    )
    caption = "Mean ± standard deviation over the seeds."
    caption += " What is certified is so for all inputs of ‖x_t‖₂ ≤ 1." * (LAM in names)
    numeric = frozenset(range(2, len(names) + 2))
    return html.Table(("model", "variant", *names), rows, numeric, caption)


def _text(value: float) -> str:
    """A figure: a whole number in all its digits."""
    whole = abs(value) < 1e9 and value == int(value)
    return f"{value:.0f}".replace("-", "−") if whole else ratio_text(value)


def spread_text(values: Sequence[float | None]) -> str:
    """Mean ± standard deviation of what is known, to the digits that this leaves; how many are."""
    known = [value for value in values if value is not None]
    if not known:
        return NOTHING
    text = _text(fmean(known))
    if len(set(known)) > 1 and (deviation := float(f"{stdev(known):.2g}")):
        mean = round(fmean(known), 1 - math.floor(math.log10(deviation)))
        text = f"{_text(mean)} ± {_text(deviation)}"
    return text if len(known) == len(values) else f"{text} ({len(known)} of {len(values)})"


def score_text(runs: Sequence[Run], name: str = "") -> str:
    """A figure of runs that are alike but for the seed; the first one if none is named."""
    return spread_text([run.figures.get(name or next(iter(run.figures))) for run in runs])


def mean_score(runs: Sequence[Run], name: str = "") -> float:
    """The mean of a figure of which less is better, the first if none is named; ∞ if unknown."""
    values = [run.figures.get(name or next(iter(run.figures))) for run in runs]
    return fmean(math.inf if value is None else value for value in values)


def worst_text(runs: Sequence[Run], name: str) -> str:
    """The model and variant with the greatest mean of a figure, in words."""
    groups = group_runs(runs)
    label = max(groups, key=lambda key: mean_score(groups[key], name))
    return f"{' '.join(label)} {score_text(groups[label], name)}"
