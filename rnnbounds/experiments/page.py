"""The page of an experiment, made from its record alone: its first line says what holds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10
from statistics import fmean, stdev
from typing import Literal

from rnnbounds.experiments.record import Record, Run, group_runs, select_runs
from rnnbounds.reports.pages.experiment import (
    Block,
    Code,
    Drawing,
    Page,
    Paragraph,
    Plot,
    Section,
    Table,
    Tone,
    Verdict,
)
from rnnbounds.reports.pages.figures.dots import LEGEND, MOST_ROWS, draw_dots
from rnnbounds.reports.pages.figures.plot import MOST_SERIES, Series
from rnnbounds.reports.pages.run.summary import environment_items
from rnnbounds.reports.pages.text import NOTHING, plural, ratio_text, round_up

TONES: dict[str, Tone] = {"holds": "good", "does not hold": "bad", "undecided": "open"}


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Curves to be drawn for each task, at most six lines a figure: the means over the seeds,
    shaded by their standard deviation; curves named in `dashed` are bounds."""

    title: str
    curves: tuple[str, ...]
    x: str
    y: str
    log_y: bool = False
    dashed: tuple[str, ...] = ()


def record_verdict(record: Record) -> Verdict:
    """Verdict of the record: `fails` if it has problems, otherwise that of its conclusion."""
    if record.outcome.problems:
        return Verdict("fails", "bad")
    return Verdict(f"{record.outcome.holds} at this size", TONES[record.outcome.holds])


def build_page(record: Record, charts: Sequence[Chart]) -> Page:
    """The verdict and what was found, figures and tables by task, the question, every run."""
    outcome, seeds = record.outcome, sorted({run.seed for run in record.runs})
    tasks = split_tasks(record)
    asked = (record.question, f"The conclusion is of {record.source}.",
             f"The rule, stated before the runs: {record.rule}")  # fmt: skip
    settings = Table(("setting", "value"), tuple((k, str(v)) for k, v in record.settings.items()))
    command = " ".join(("rnnbounds experiment", record.name, *record.options))
    return Page(
        record.title,
        (
            *(Section(task.capitalize(), (*_figures(runs, charts), task_table(runs)))
              for task, runs in tasks.items()),
            Section("What was asked", tuple(map(Paragraph, asked))),
            Section("Run it again", (settings, Code(command))),
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


def _figures(runs: Sequence[Run], charts: Sequence[Chart]) -> list[Block]:
    """The charts; without a curve the first figure of each run, a dot a seed."""
    blocks: list[Block] = []
    for chart in charts:
        lines = [line for name in chart.curves for line in _mean_lines(runs, name, chart)]
        for at in range(0, len(lines), MOST_SERIES):
            part = lines[at : at + MOST_SERIES]
            blocks.append(Plot(part, chart.x, chart.y, f"{chart.title}.", log_y=chart.log_y))
    name, groups = next(iter(runs[0].figures)), group_runs(runs)
    rows = [
        (f"{model}, {variant}", [run.figures.get(name) for run in group])
        for (_, model, variant), group in groups.items()
    ]
    return blocks or [
        Drawing(draw_dots(rows[at : at + MOST_ROWS], name), LEGEND, f"{name}, by seed.")
        for at in range(0, len(rows), MOST_ROWS)
    ]


def _mean_lines(runs: Sequence[Run], name: str, chart: Chart) -> list[Series]:
    """The mean curve of each model and variant, where all seeds have a finite point."""
    lines = []
    for (_, model, variant), group in group_runs(runs).items():
        points: dict[float, list[float]] = {}
        for curve in (run.curves[name] for run in group if name in run.curves):
            for x, y in zip(curve.x, curve.y, strict=True):
                points.setdefault(x, []).append(math.nan if y is None else y)
        known = {x: ys for x, ys in points.items() if math.isfinite(sum(ys))}
        label = f"{model}, {variant}" + (f": {name}" if len(chart.curves) > 1 else "")
        style: Literal["dashed", "line"] = "dashed" if name in chart.dashed else "line"
        spreads = [stdev(ys) if len(ys) > 1 else 0.0 for ys in known.values()]
        if known:
            lines.append(
                Series(label, list(known), [fmean(ys) for ys in known.values()], style, spreads)
            )
    return lines


def task_table(runs: Sequence[Run]) -> Table:
    """A row for each model and variant: every figure as mean ± standard deviation, and how many
    are certified, with the largest λ and k among these."""
    names = list(dict.fromkeys(name for run in runs for name in run.figures))
    certificates = [run.certificate for run in runs if run.certificate is not None]
    rows = [
        (model, variant, *(spread_text([run.figures.get(name) for run in group]) for name in names),
         *(_memory_cells(group) if certificates else ()))
        for (_, model, variant), group in group_runs(runs).items()
    ]  # fmt: skip
    columns, caption = ["model", "variant", *names], "Mean ± standard deviation over the seeds."
    if certificates:
        columns += ["certified", "λ", "k"]
        inputs = "; ".join(sorted({one.inputs for one in certificates})[:3])
        caption += f" λ and k, at ε = {certificates[0].epsilon:g}, are certified for {inputs}."
    return Table(tuple(columns), tuple(rows), frozenset(range(2, len(columns))), caption)


def _memory_cells(runs: Sequence[Run]) -> tuple[str, str, str]:
    """How many are certified, and the largest λ and k among these."""
    certificates = [run.certificate for run in runs if run.certificate is not None]
    certified = [one for one in certificates if one.verdict == "certified"]
    lam = max((one.lam for one in certified if one.lam is not None), default=None)
    k = max((one.k for one in certified if one.k is not None), default=None)
    return (
        f"{len(certified)} of {len(certificates)}",
        NOTHING if lam is None else round_up(lam, 4),
        NOTHING if k is None else str(k),
    )


def _text(value: float | None) -> str:
    """A figure: a whole number in all its digits."""
    is_whole = value is not None and abs(value) < 1e9 and value == int(value)
    return f"{value:.0f}".replace("-", "−") if is_whole else ratio_text(value)


def spread_text(values: Sequence[float | None]) -> str:
    """Mean ± standard deviation of what is known, to the digits that this leaves; how many are."""
    known = [value for value in values if value is not None]
    if not known:
        return NOTHING
    text = _text(fmean(known))
    if len(set(known)) > 1 and (deviation := float(f"{stdev(known):.2g}")):
        mean = round(fmean(known), 1 - floor(log10(deviation)))
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
