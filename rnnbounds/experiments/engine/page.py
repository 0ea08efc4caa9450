"""The one kind of page of experiments, made from a record: its first line says what holds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor, log10
from statistics import fmean, stdev

from reports.pages.experiment import Block, Code, Page, Paragraph, Plot, Section, Table
from reports.pages.figures.figure import Series as Line
from reports.pages.figures.plot import MOST
from reports.pages.summary import environment_items
from reports.pages.text import NOTHING, plural, ratio, typed, up
from rnnbounds.experiments.engine.record import Record, Run

LEADS = {
    "holds": "Holds at this size.",
    "does not hold": "Does not hold at this size.",
    "undecided": "Undecided at this size.",
}
_LISTED = 150  # runs that the page lists one by one: all are in the record


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


def page(record: Record, charts: Sequence[Chart] = (), more: Sequence[Section] = ()) -> Page:
    """What is told of a run; it fails unmistakably if a certified statement broke."""
    tasks = dict.fromkeys(run.task for run in record.runs)
    seeds = sorted({run.seed for run in record.runs})
    return Page(
        record.title,
        (
            asked(record),
            *(section(record, task, charts) for task in tasks),
            *more,
            each(record),
            made(record),
        ),
        lead=lead(record),
        kicker=f"experiment {record.name} · {plural(len(seeds), 'seed')} from {seeds[0]}",
        problems=record.problems,
        environment=(*record.sources.items(), *environment_items(record.environment)),
    )


def tables(record: Record, more: Sequence[Section] = ()) -> list[Table]:
    """What a terminal is told: a table a task, and those of `more`."""
    tasks = dict.fromkeys(run.task for run in record.runs)
    blocks = (block for section in more for block in section.blocks)
    return [
        *(table([run for run in record.runs if run.task == task]) for task in tasks),
        *(block for block in blocks if isinstance(block, Table)),
    ]


def lead(record: Record) -> str:
    """Whether the conclusion holds, and what was found."""
    return f"{LEADS[record.outcome.holds]} {record.outcome.said}"


def asked(record: Record) -> Section:
    """The question, the papers' conclusion, and the rule."""
    tried = record.conclusion.rstrip(".")
    return Section(
        "What was asked",
        (
            Paragraph(record.question),
            Paragraph(f"The conclusion that is tried: {tried} ({record.source})."),
            Paragraph(f"The rule, stated before the figures: {record.rule}"),
        ),
    )


def section(record: Record, task: str, charts: Sequence[Chart]) -> Section:
    """One task: its table, and its figures."""
    runs = [run for run in record.runs if run.task == task]
    blocks: list[Block] = [table(runs)]
    for chart in charts:
        if not chart.tasks or task in chart.tasks:
            blocks += figures(runs, chart)
    return Section(task[:1].upper() + task[1:], tuple(blocks))


def rows_of(runs: Iterable[Run]) -> dict[tuple[str, str], list[Run]]:
    """The runs of each model and variant, one for each seed, in their order."""
    found: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        found.setdefault((run.model, run.variant), []).append(run)
    return found


def table(runs: Sequence[Run]) -> Table:
    """A row for each model and variant: every figure as mean ± standard deviation."""
    names = list(dict.fromkeys(name for run in runs for name in run.figures))
    certified = any(run.certificate for run in runs)
    rows = []
    for (model, variant), some in rows_of(runs).items():
        row = [model, variant, *(spread([run.figures.get(name) for run in some]) for name in names)]
        rows.append((*row, *(memory(some) if certified else ())))
    epsilons = sorted({run.certificate.epsilon for run in runs if run.certificate})
    bounds = sorted({run.certificate.inputs for run in runs if run.certificate})
    columns = ["model", "variant", *names]
    caption = f"Mean ± standard deviation over {plural(len(some), 'run')} a row."
    if certified:
        columns += ["certified", "λ", "k"]
        caption += (
            f" λ and k (at ε = {', '.join(typed(epsilon) for epsilon in epsilons)}) are the "
            f"largest that are certified, for {plural(len(bounds), 'set')} of inputs: "
            f"{'; '.join(bounds[:3])}{'; …' if len(bounds) > 3 else ''}."
        )
    return Table(tuple(columns), tuple(rows), frozenset(range(2, len(columns))), caption)


def told(value: float | None) -> str:
    """A figure: a whole number in all its digits."""
    whole = value is not None and abs(value) < 1e9 and value == int(value)
    return f"{value:.0f}".replace("-", "−") if whole else ratio(value)


def spread(values: Sequence[float | None]) -> str:
    """Mean ± standard deviation of what is known, to the digits that this leaves; how many are."""
    known = [value for value in values if value is not None]
    if not known:
        return NOTHING
    mean = told(fmean(known))
    if len(set(known)) > 1 and (away := float(f"{stdev(known):.2g}")):
        mean = f"{told(round(fmean(known), 1 - floor(log10(away))))} ± {told(away)}"
    return mean if len(known) == len(values) else f"{mean} ({len(known)} of {len(values)})"


def memory(runs: Sequence[Run]) -> tuple[str, str, str]:
    """How many are certified, and the largest λ and k among these."""
    found = [run.certificate for run in runs if run.certificate is not None]
    known = [one for one in found if one.verdict == "certified"]
    lams = [one.lam for one in known if one.lam is not None]
    ks = [one.k for one in known if one.k is not None]
    told = f"{len(known)} of {len(found)}"
    refuted = sum(one.verdict == "refuted" for one in found)
    told += f", {refuted} refuted" if refuted else ""
    lam = up(max(lams), 4) if lams else NOTHING
    return told, lam, str(max(ks)) if ks else NOTHING


def figures(runs: Sequence[Run], chart: Chart) -> list[Plot]:
    """The figures of one chart: one, or one a model, or one a model and curve."""
    some = [run for run in runs if not chart.models or run.model in chart.models]
    lines = [
        (model, name, line)
        for (model, variant), group in rows_of(some).items()
        for name in chart.curves
        for line in mean(f"{model}, {variant}", name, group, chart)
    ]
    lines.sort(key=lambda line: line[2].style == "dashed")  # bounds have the last colours
    several = len({run.seed for run in some}) > 1
    shade = "Means over the seeds, shaded by their standard deviation." if several else ""
    groups: list[tuple[str, list[Line]]] = [("", [line for _, _, line in lines])]
    if len(lines) > MOST:
        split: dict[str, list[Line]] = {}
        for model, _, line in lines:
            split.setdefault(model, []).append(line)
        groups = list(split.items())
    return [
        Plot(
            part[first : first + MOST],
            chart.x,
            chart.y,
            f"{f'{model}: ' if model else ''}{chart.title}. {chart.caption} {shade}".strip(),
            log_y=chart.log_y,
        )
        for model, part in groups
        for first in range(0, len(part), MOST)
    ]


def mean(who: str, name: str, runs: Sequence[Run], chart: Chart) -> list[Line]:
    """The mean curve over the runs, where all have a finite point; no line where none has."""
    known = [run.curves[name] for run in runs if name in run.curves]
    points: dict[float, list[float]] = {}
    for curve in known:
        for x, y in zip(curve.x, curve.y, strict=True):
            if y is not None:
                points.setdefault(x, []).append(y)
    whole = {x: ys for x, ys in sorted(points.items()) if len(ys) == len(known)}
    if not whole:
        return []
    label = who if len(chart.curves) == 1 else f"{who}: {name}"
    dashed = name in chart.dashed
    spreads = [stdev(ys) if len(ys) > 1 else 0.0 for ys in whole.values()]
    ys = [fmean(ys) for ys in whole.values()]
    return [Line(label, list(whole), ys, "dashed" if dashed else "line", spreads)]


def each(record: Record) -> Section:
    """Every run with its figures, a table a task: nothing is left out."""
    tasks = dict.fromkeys(run.task for run in record.runs)
    left = len(record.runs) - _LISTED
    some = record.runs[:_LISTED]
    blocks: list[Block] = [listed([run for run in some if run.task == task]) for task in tasks]
    if left > 0:
        blocks.append(Paragraph(f"{plural(left, 'further run')} are in the record."))
    return Section("Every seed", tuple(blocks))


def listed(runs: Sequence[Run]) -> Table:
    """The runs of one task, one by one."""
    names = list(dict.fromkeys(name for run in runs for name in run.figures))
    words = list(dict.fromkeys(name for run in runs for name in run.told))
    rows = tuple(
        (
            *(run.model, run.variant, str(run.seed)),
            *(told(run.figures.get(name)) for name in names),
            *(run.told.get(name, NOTHING) for name in words),
        )
        for run in runs
    )
    columns = ("model", "variant", "seed", *names, *words)
    numeric = frozenset(range(2, 3 + len(names)))
    return Table(columns, rows, numeric, f"Every run: {runs[0].task}." if runs else "")


def made(record: Record) -> Section:
    """The settings, and the command that makes this page again."""
    rows = tuple((name, str(value)) for name, value in record.settings.items())
    return Section(
        "Run it again",
        (
            Table(("setting", "value"), rows),
            Paragraph(f"Every number of this page is in {record.name}.json beside it."),
            Code(command(record)),
        ),
    )


def command(record: Record) -> str:
    """What makes the record again, with the options that were given."""
    return " ".join(("rnnbounds experiment", record.name, *record.options))
