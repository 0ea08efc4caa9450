"""The page of an experiment: its first line says what holds."""

import math
import shlex
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import msgspec

from rnnbounds.experiments.engine import Experiment
from rnnbounds.experiments.record import LAM, Record, Run, group_runs, score_text, select_runs
from rnnbounds.reports.files import write_all
from rnnbounds.reports.pages import experiment as html
from rnnbounds.reports.pages.figures import MOST_SERIES, Series
from rnnbounds.reports.pages.run import environment_items
from rnnbounds.reports.text import plural

TONES: dict[str, html.Tone] = {"holds": "good", "does not hold": "bad", "undecided": "open"}


def build_page(experiment: Experiment, record: Record) -> html.Page:
    """The verdict and what was found, tables and figures by task, the question, the command."""
    outcome, settings = record.outcome, record.settings
    options = (f"--set={k}={msgspec.json.encode(v).decode()}" for k, v in settings.items())
    command = html.Code(shlex.join(("rnnbounds", "experiment", record.name, *options)))
    verdict = html.Verdict(f"{outcome.holds} at this size", TONES[outcome.holds])
    if outcome.problems:
        verdict = html.Verdict("fails", "bad")
    sections = []
    for task in dict.fromkeys(run.task for run in record.runs):
        runs = select_runs(record.runs, task=task)
        blocks = (_table(runs), *_figures(runs, experiment.x))
        sections.append(html.Section(task.capitalize(), blocks))
    return html.Page(
        record.name.replace("-", " ").capitalize(),
        (
            *sections,
            html.Section("The rule, stated before the runs", (html.Paragraph(experiment.rule),)),
            html.Section("Run it again with these settings", (command,)),
        ),
        lead=f"Asked: is it so that {experiment.conclusion}? Found: {outcome.summary}",
        verdict=verdict,
        kicker=f"experiment · {plural(settings['seeds'], 'seed')} from {settings['seed']}",
        problems=outcome.problems,
        environment=(*record.sources.items(), *environment_items(record.environment)),
    )


def write_run(out: Path, experiment: Experiment, record: Record) -> html.Page:
    """Write NAME.json and index.html to `out`; the page."""
    document = msgspec.json.format(msgspec.json.encode(record), indent=2)
    page = build_page(experiment, record)
    write_all(out, {f"{record.name}.json": document, "index.html": html.render_page(page)})
    return page


def _figures(runs: Sequence[Run], x_label: str) -> list[html.Block]:
    """A figure for each curve of the runs, at most six lines in one: means over the seeds, dashed
    those of the curve "…, certified"."""
    blocks: list[html.Block] = []
    names = dict.fromkeys(name.removesuffix(", certified") for run in runs for name in run.curves)
    for name in names:
        lines = _mean_lines(runs, name) + _mean_lines(runs, f"{name}, certified")
        for at in range(0, len(lines), MOST_SERIES):
            part = lines[at : at + MOST_SERIES]
            blocks.append(html.Plot(part, x_label, name, "Means over the seeds.", log_y=True))
    return blocks


def _mean_lines(runs: Sequence[Run], name: str) -> list[Series]:
    """The mean curve of each model and variant, with gaps where a seed has no finite value."""
    lines = []
    for (_, model, variant), group in group_runs(runs).items():
        if curves := [run.curves[name] for run in group if name in run.curves]:
            points = zip(*curves, strict=True)
            ys = [fmean(math.nan if y is None else y for _, y in seeds) for seeds in points]
            suffix = ", certified" * name.endswith(", certified")
            label, xs = f"{model}, {variant}{suffix}", [x for x, _ in curves[0]]
            lines.append(Series(label, xs, ys, "dashed" if suffix else "line"))
    return lines


def _table(runs: Sequence[Run]) -> html.Table:
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
