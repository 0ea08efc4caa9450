"""The one kind of page of experiments, made from a record: its first line says what holds."""

from collections.abc import Sequence
from math import floor, log10
from statistics import fmean, stdev

from rnnbounds.experiments.engine.figures import Chart, chart_plots, first_figure_dots, group_runs
from rnnbounds.experiments.engine.record import Record, Run
from rnnbounds.reports.pages.experiment import (
    Block,
    Code,
    Drawing,
    Page,
    Paragraph,
    Plot,
    Section,
    Table,
    Verdict,
)
from rnnbounds.reports.pages.run.summary import environment_items
from rnnbounds.reports.pages.text import NOTHING, plain_number, plural, ratio_text, round_up

VERDICTS = {
    "holds": Verdict("holds at this size", "good"),
    "does not hold": Verdict("does not hold at this size", "bad"),
    "undecided": Verdict("undecided at this size", "open"),
}
_MOST_LISTED = 150  # runs that the page lists one by one: all are in the record


def build_page(record: Record, charts: Sequence[Chart] = (), more: Sequence[Section] = ()) -> Page:
    """The verdict and what was found, a figure first; it fails unmistakably if something that was
    certified or presupposed broke."""
    tasks = dict.fromkeys(run.task for run in record.runs)
    seeds = sorted({run.seed for run in record.runs})
    has_figures = any(
        isinstance(block, (Plot, Drawing)) for other in more for block in other.blocks
    )
    task_sections = [task_section(record, task, charts, has_figures=has_figures) for task in tasks]
    return Page(
        record.title,
        (
            *((*more, *task_sections) if has_figures else (*task_sections, *more)),
            question_section(record),
            runs_section(record),
            rerun_section(record),
        ),
        lead=lead_text(record),
        verdict=record_verdict(record),
        kicker=f"experiment {record.name} · {plural(len(seeds), 'seed')} from {seeds[0]}",
        problems=record.problems,
        environment=(*record.sources.items(), *environment_items(record.environment)),
    )


def all_tables(record: Record, more: Sequence[Section] = ()) -> list[Table]:
    """Tables for a terminal: one for each task, and those of the sections `more`."""
    tasks = dict.fromkeys(run.task for run in record.runs)
    blocks = (block for section in more for block in section.blocks)
    return [
        *(task_table([run for run in record.runs if run.task == task]) for task in tasks),
        *(block for block in blocks if isinstance(block, Table)),
    ]


def record_verdict(record: Record) -> Verdict:
    """Verdict of the record: `fails` if it has problems, otherwise that of its conclusion."""
    return Verdict("fails", "bad") if record.problems else VERDICTS[record.outcome.holds]


def lead_text(record: Record) -> str:
    """The conclusion that is tried, and what was found."""
    tried = record.conclusion.rstrip(".")
    broken = "Nothing is concluded, since something that was certified or presupposed broke. "
    return f"{broken if record.problems else ''}Tried: {tried}. Found: {record.outcome.said}"


def headline_text(record: Record) -> str:
    """The verdict and what was found, in a line of text."""
    word = record_verdict(record).word
    return f"{word[:1].upper()}{word[1:]}. {record.outcome.said}"


def question_section(record: Record) -> Section:
    """The question, the source of the conclusion, and the rule."""
    return Section(
        "What was asked",
        (
            Paragraph(record.question),
            Paragraph(f"The conclusion is of {record.source}."),
            Paragraph(f"The rule, stated before the runs: {record.rule}"),
        ),
    )


def task_section(
    record: Record, task: str, charts: Sequence[Chart], *, has_figures: bool = False
) -> Section:
    """One task: its figures, then its table. Without a curve and unless the page is `drawn`
    elsewhere, the figure is of the first number of each run."""
    runs = [run for run in record.runs if run.task == task]
    blocks: list[Block] = []
    for chart in charts:
        if not chart.tasks or task in chart.tasks:
            blocks += chart_plots(runs, chart)
    if not blocks and not has_figures:
        blocks += first_figure_dots(runs)
    return Section(task[:1].upper() + task[1:], (*blocks, task_table(runs)))


def task_table(runs: Sequence[Run]) -> Table:
    """A row for each model and variant: every figure as mean ± standard deviation."""
    names = list(dict.fromkeys(name for run in runs for name in run.figures))
    certified = any(run.certificate for run in runs)
    rows = []
    for (model, variant), group in group_runs(runs).items():
        row = [
            model,
            variant,
            *(spread_text([run.figures.get(name) for run in group]) for name in names),
        ]
        rows.append((*row, *(memory_cells(group) if certified else ())))
    epsilons = sorted({run.certificate.epsilon for run in runs if run.certificate})
    bounds = sorted({run.certificate.inputs for run in runs if run.certificate})
    columns = ["model", "variant", *names]
    caption = f"Mean ± standard deviation over {plural(len(group), 'run')} a row."
    if certified:
        columns += ["certified", "λ", "k"]
        caption += (
            f" λ and k (at ε = {', '.join(plain_number(epsilon) for epsilon in epsilons)}) are the "
            f"largest that are certified, for {plural(len(bounds), 'set')} of inputs: "
            f"{'; '.join(bounds[:3])}{'; …' if len(bounds) > 3 else ''}."
        )
    return Table(tuple(columns), tuple(rows), frozenset(range(2, len(columns))), caption)


def figure_text(value: float | None) -> str:
    """A figure: a whole number in all its digits."""
    is_whole = value is not None and abs(value) < 1e9 and value == int(value)
    return f"{value:.0f}".replace("-", "−") if is_whole else ratio_text(value)


def spread_text(values: Sequence[float | None]) -> str:
    """Mean ± standard deviation of what is known, to the digits that this leaves; how many are."""
    values_known = [value for value in values if value is not None]
    if not values_known:
        return NOTHING
    mean = figure_text(fmean(values_known))
    if len(set(values_known)) > 1 and (deviation := float(f"{stdev(values_known):.2g}")):
        rounded = round(fmean(values_known), 1 - floor(log10(deviation)))
        mean = f"{figure_text(rounded)} ± {figure_text(deviation)}"
    return (
        mean
        if len(values_known) == len(values)
        else f"{mean} ({len(values_known)} of {len(values)})"
    )


def memory_cells(runs: Sequence[Run]) -> tuple[str, str, str]:
    """How many are certified, and the largest λ and k among these."""
    certificates = [run.certificate for run in runs if run.certificate is not None]
    certified = [certificate for certificate in certificates if certificate.verdict == "certified"]
    lams = [certificate.lam for certificate in certified if certificate.lam is not None]
    ks = [certificate.k for certificate in certified if certificate.k is not None]
    counted = f"{len(certified)} of {len(certificates)}"
    refuted = sum(certificate.verdict == "refuted" for certificate in certificates)
    counted += f", {refuted} refuted" if refuted else ""
    lam = round_up(max(lams), 4) if lams else NOTHING
    return counted, lam, str(max(ks)) if ks else NOTHING


def runs_section(record: Record) -> Section:
    """Every run with its figures, a table a task: nothing is left out."""
    tasks = dict.fromkeys(run.task for run in record.runs)
    unlisted = len(record.runs) - _MOST_LISTED
    listed_runs = record.runs[:_MOST_LISTED]
    blocks: list[Block] = [
        runs_table([run for run in listed_runs if run.task == task]) for task in tasks
    ]
    if unlisted > 0:
        blocks.append(Paragraph(f"{plural(unlisted, 'further run')} are in the record."))
    return Section("Every seed", tuple(blocks))


def runs_table(runs: Sequence[Run]) -> Table:
    """The runs of one task, one by one."""
    names = list(dict.fromkeys(name for run in runs for name in run.figures))
    note_names = list(dict.fromkeys(name for run in runs for name in run.told))
    rows = tuple(
        (
            *(run.model, run.variant, str(run.seed)),
            *(figure_text(run.figures.get(name)) for name in names),
            *(run.told.get(name, NOTHING) for name in note_names),
        )
        for run in runs
    )
    columns = ("model", "variant", "seed", *names, *note_names)
    numeric = frozenset(range(2, 3 + len(names)))
    return Table(columns, rows, numeric, f"Every run: {runs[0].task}." if runs else "")


def rerun_section(record: Record) -> Section:
    """The settings, and the command that makes this page again."""
    rows = tuple((name, str(value)) for name, value in record.settings.items())
    return Section(
        "Run it again",
        (
            Table(("setting", "value"), rows),
            Paragraph(f"Every number of this page is in {record.name}.json beside it."),
            Code(rerun_command(record)),
        ),
    )


def rerun_command(record: Record) -> str:
    """Shell command that makes the record again, with the options that were given."""
    return " ".join(("rnnbounds experiment", record.name, *record.options))
