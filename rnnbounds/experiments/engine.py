"""The engine of all experiments: units of work, a measurement of each, a conclusion from all, the
record of all runs and its page, whose first line says what holds.

A module ends with EXPERIMENT = Experiment(…). `units(setting)` lists what to train, `work(job)`
trains and measures one unit, `judge(runs, setting)` concludes by the rule that `rule` states. Of a
record all but the environment is a function of settings, data and device.
"""

import math
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from statistics import fmean, stdev
from types import GenericAlias
from typing import Any, Literal, TypeVar

import msgspec
import torch
from msgspec.structs import replace

from rnnbounds.experiments.trainer import Data, train
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.models.device import check_device
from rnnbounds.impl.models.surroundings import isolated
from rnnbounds.impl.numbers.json_values import finite_or_none
from rnnbounds.properties.errors import InputError, UnknownChoiceError
from rnnbounds.properties.runs.run import run_environment
from rnnbounds.reports.files import write_all
from rnnbounds.reports.pages import experiment as html
from rnnbounds.reports.pages.figures import MOST_SERIES, Series
from rnnbounds.reports.pages.run import environment_items
from rnnbounds.reports.records.record import Environment
from rnnbounds.reports.text import NOTHING, plural, ratio_text

Holds = Literal["holds", "does not hold", "undecided"]
EPSILON = 1e-2
LAM, WINDOW = "certified λ", f"certified k at ε = {EPSILON:g}"


def make_setting(**sizes: Any) -> Any:
    """Settings of a run from `seed` on, of so many `seeds`; sizes by default are each a number or a
    tuple of one type."""
    fields = [
        (name, GenericAlias(tuple, (type(v[0]), ...)) if isinstance(v, tuple) else type(v), v)
        for name, v in {"seed": 0, "seeds": 3, **sizes}.items()
    ]
    return msgspec.defstruct("Setting", fields, frozen=True, kw_only=True)()


Curve = list[tuple[float, float | None]]


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """Measurement of one model: named figures with their unit, curves."""

    task: str
    model: str
    variant: str
    seed: int
    figures: dict[str, float | None] = {}
    curves: dict[str, Curve] = {}


class Outcome(msgspec.Struct, frozen=True):
    """Verdict on the papers' conclusion at this size, and a sentence with the figures that decide.
    `problems` are certified statements that were violated: they alone fail the run."""

    holds: Holds
    summary: str
    problems: tuple[str, ...] = ()


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One experiment, run."""

    schema: str = "rnnbounds/experiment/4"
    name: str
    settings: dict[str, Any]
    sources: dict[str, str]
    outcome: Outcome
    runs: tuple[Run, ...]
    environment: Environment


def make_curve(x: Sequence[float], y: Sequence[float]) -> Curve:
    """Points (x, y) as they are recorded, y null where it is not finite."""
    return [(float(a), finite_or_none(float(b))) for a, b in zip(x, y, strict=True)]


def certified_figures(certificate: Certificate) -> dict[str, float | None]:
    """λ and the window of EPSILON, of a network that is certified for all inputs ‖x_t‖₂ ≤ 1."""
    certified = certificate.verdict == "certified"
    return {LAM: certificate.lam if certified else None, WINDOW: certificate.window(EPSILON)}


def select_runs(runs: Sequence[Run], **labels: str) -> list[Run]:
    """The runs with this task, model or variant."""
    return [run for run in runs if all(getattr(run, key) == want for key, want in labels.items())]


def group_runs(runs: Sequence[Run]) -> dict[tuple[str, str, str], list[Run]]:
    """The runs of each task, model and variant, one for each seed, in their order."""
    groups: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.task, run.model, run.variant), []).append(run)
    return groups


def _values(runs: Sequence[Run], name: str) -> list[float | None]:
    """A figure of runs; the first one if none is named."""
    return [run.figures.get(name or next(iter(run.figures))) for run in runs]


def mean_score(runs: Sequence[Run], name: str = "") -> float:
    """The mean of a figure of which less is better, the first if none is named; ∞ if unknown."""
    return fmean(math.inf if value is None else value for value in _values(runs, name))


def score_text(runs: Sequence[Run], name: str = "") -> str:
    """Mean ± standard deviation of a figure over the seeds that have it; how many these are."""
    values = _values(runs, name)
    known = [value for value in values if value is not None]
    if not known:
        return NOTHING
    text = _text(fmean(known))
    if len(set(known)) > 1:
        text += f" ± {_text(float(f'{stdev(known):.2g}'))}"
    return text if len(known) == len(values) else f"{text} ({len(known)} of {len(values)})"


def _text(value: float) -> str:
    """A figure: a whole number in all its digits."""
    whole = abs(value) < 1e9 and value == int(value)
    return f"{value:.0f}".replace("-", "−") if whole else ratio_text(value)


def worst_text(runs: Sequence[Run], name: str) -> str:
    """The model and variant with the greatest mean of a figure, in words."""
    groups = group_runs(runs)
    label = max(groups, key=lambda key: mean_score(groups[key], name))
    return f"{' '.join(label)} {score_text(groups[label], name)}"


M = TypeVar("M", bound=torch.nn.Module)


def all_units(
    setting: Any,
    tasks: Iterable[str],
    models: Iterable[str],
    variants: Iterable[str] = ("trained",),
) -> list[Run]:
    """Each with each, without a figure, in this order: seeds change first."""
    seeds = range(setting.seed, setting.seed + setting.seeds)
    keys = product(tasks, models, variants, seeds)
    return [Run(task=task, model=model, variant=way, seed=seed) for task, model, way, seed in keys]


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One experiment. `load(setting)` gives `job.data` and the sources of the data; `x` is what
    the curves of its runs are over."""

    name: str
    conclusion: str
    rule: str
    setting: Any
    units: Callable[[Any], Sequence[Run]]
    work: Callable[["Job"], Run]
    judge: Callable[[Sequence[Run], Any], Outcome]
    load: Callable[[Any], tuple[Any, dict[str, str]]] = lambda setting: (None, {})
    x: str = "inputs k"


@dataclass(frozen=True)
class Job:
    """One unit at work, with the setting of its experiment."""

    unit: Run
    setting: Any
    data: Any
    device: str

    def train(self, model: M, data: Data, rates: Sequence[float], **more: Any) -> float:
        """`trainer.train` with this unit's seed and device."""
        return train(model, data, rates, seed=self.unit.seed, device=self.device, **more)

    def make_run(self, figures: Mapping[str, Any], curves: Mapping[str, Any] | None = None) -> Run:
        """The run of this unit."""
        known = {
            name: None if v is None else finite_or_none(float(v)) for name, v in figures.items()
        }
        return replace(self.unit, figures=known, curves=dict(curves or {}))


@isolated()
def run_experiment(
    experiment: Experiment, *, setting: Any, device: str = "auto",
    advance: Callable[[str], None] = lambda label: None,
) -> Record:  # fmt: skip
    """Run an experiment. `advance` is called once a unit.

    Raises InputError for a device or a package that is not there, before anything is trained.
    """
    started, runs = datetime.now(UTC), list[Run]()
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    device = check_device(device)
    data, sources = experiment.load(setting)
    for unit in experiment.units(setting):
        runs.append(experiment.work(Job(unit, setting, data, device)))
        advance(f"{unit.task}, {unit.model}, {unit.variant}, {unit.seed}")
    return Record(
        name=experiment.name, settings=msgspec.to_builtins(setting), sources=sources,
        outcome=experiment.judge(runs, setting), runs=tuple(runs),
        environment=run_environment(device, 1, started, ()),
    )  # fmt: skip


def change_setting(experiment: Experiment, changed: Mapping[str, Any]) -> Any:
    """The sizes by default with these in place; raises UnknownChoiceError and InputError."""
    fields, name = msgspec.structs.asdict(experiment.setting), experiment.name
    for key in changed:
        if key not in fields:
            raise UnknownChoiceError(f"setting of {name}", key, tuple(fields))
    try:
        return msgspec.convert({**fields, **changed}, type(experiment.setting), strict=False)
    except msgspec.ValidationError as error:
        raise InputError(f"{error}; give a setting as {name} has it by default") from None


CERTIFIED = ", certified"  # ends the name of a curve that bounds the one of the name before it
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
    """A figure for each curve of the runs, of at most three models and variants: means over the
    seeds, dashed and in the same colour those of the curve "…, certified"."""
    blocks: list[html.Block] = []
    names = dict.fromkeys(name.removesuffix(CERTIFIED) for run in runs for name in run.curves)
    for name in names:
        measured, certified = (_mean_lines(runs, curve) for curve in (name, name + CERTIFIED))
        groups, most = list(measured | certified), MOST_SERIES // (2 if certified else 1)
        for at in range(0, len(groups), most):
            part = groups[at : at + most]
            lines = [means[one] for means in (measured, certified) for one in part if one in means]
            blocks.append(html.Plot(lines, x_label, name, "Means over the seeds.", log_y=True))
    return blocks


def _mean_lines(runs: Sequence[Run], name: str) -> dict[tuple[str, str, str], Series]:
    """The mean curve of each model and variant, with gaps where a seed has no finite value."""
    lines, suffix = {}, CERTIFIED * name.endswith(CERTIFIED)
    for place, (key, group) in enumerate(group_runs(runs).items()):
        if curves := [run.curves[name] for run in group if name in run.curves]:
            points = zip(*curves, strict=True)
            ys = [fmean(math.nan if y is None else y for _, y in seeds) for seeds in points]
            label, xs = f"{key[1]}, {key[2]}{suffix}", [x for x, _ in curves[0]]
            style: Literal["line", "dashed"] = "dashed" if suffix else "line"
            lines[key] = Series(label, xs, ys, style, f"s{place % MOST_SERIES + 1}")
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
