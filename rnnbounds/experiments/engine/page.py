"""The one kind of page of experiments, made from a record: its first line says what holds."""

from collections.abc import Sequence
from math import floor, log10
from statistics import fmean, stdev

from rnnbounds.experiments.engine.figures import Chart, figures, first_figure, rows_of
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
from rnnbounds.reports.pages.summary import environment_items
from rnnbounds.reports.pages.text import NOTHING, plain_number, plural, ratio_text, round_up

VERDICTS = {
    "holds": Verdict("holds at this size", "good"),
    "does not hold": Verdict("does not hold at this size", "bad"),
    "undecided": Verdict("undecided at this size", "open"),
}
_LISTED = 150  # runs that the page lists one by one: all are in the record


def page(record: Record, charts: Sequence[Chart] = (), more: Sequence[Section] = ()) -> Page:
    """The verdict and what was found, a figure first; it fails unmistakably if something that was
    certified or presupposed broke."""
    tasks = dict.fromkeys(run.task for run in record.runs)
    seeds = sorted({run.seed for run in record.runs})
    drawn = any(isinstance(block, (Plot, Drawing)) for one in more for block in one.blocks)
    of_tasks = [section(record, task, charts, drawn=drawn) for task in tasks]
    return Page(
        record.title,
        (
            *((*more, *of_tasks) if drawn else (*of_tasks, *more)),
            asked(record),
            each(record),
            made(record),
        ),
        lead=lead(record),
        verdict=verdict(record),
        kicker=f"experiment {record.name} · {plural(len(seeds), 'seed')} from {seeds[0]}",
        problems=record.problems,
        environment=(*record.sources.items(), *environment_items(record.environment)),
    )


def tables(record: Record, more: Sequence[Section] = ()) -> list[Table]:
    """Tables for a terminal: one for each task, and those of the sections `more`."""
    tasks = dict.fromkeys(run.task for run in record.runs)
    blocks = (block for section in more for block in section.blocks)
    return [
        *(table([run for run in record.runs if run.task == task]) for task in tasks),
        *(block for block in blocks if isinstance(block, Table)),
    ]


def verdict(record: Record) -> Verdict:
    """Verdict of the record: `fails` if it has problems, otherwise that of its conclusion."""
    return Verdict("fails", "bad") if record.problems else VERDICTS[record.outcome.holds]


def lead(record: Record) -> str:
    """The conclusion that is tried, and what was found."""
    tried = record.conclusion.rstrip(".")
    broken = "Nothing is concluded, since something that was certified or presupposed broke. "
    return f"{broken if record.problems else ''}Tried: {tried}. Found: {record.outcome.said}"


def headline(record: Record) -> str:
    """The verdict and what was found, in a line of text."""
    word = verdict(record).word
    return f"{word[:1].upper()}{word[1:]}. {record.outcome.said}"


def asked(record: Record) -> Section:
    """The question, the source of the conclusion, and the rule."""
    return Section(
        "What was asked",
        (
            Paragraph(record.question),
            Paragraph(f"The conclusion is of {record.source}."),
            Paragraph(f"The rule, stated before the runs: {record.rule}"),
        ),
    )


def section(record: Record, task: str, charts: Sequence[Chart], *, drawn: bool = False) -> Section:
    """One task: its figures, then its table. Without a curve and unless the page is `drawn`
    elsewhere, the figure is of the first number of each run."""
    runs = [run for run in record.runs if run.task == task]
    blocks: list[Block] = []
    for chart in charts:
        if not chart.tasks or task in chart.tasks:
            blocks += figures(runs, chart)
    if not blocks and not drawn:
        blocks += first_figure(runs)
    return Section(task[:1].upper() + task[1:], (*blocks, table(runs)))


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
            f" λ and k (at ε = {', '.join(plain_number(epsilon) for epsilon in epsilons)}) are the "
            f"largest that are certified, for {plural(len(bounds), 'set')} of inputs: "
            f"{'; '.join(bounds[:3])}{'; …' if len(bounds) > 3 else ''}."
        )
    return Table(tuple(columns), tuple(rows), frozenset(range(2, len(columns))), caption)


def told(value: float | None) -> str:
    """A figure: a whole number in all its digits."""
    whole = value is not None and abs(value) < 1e9 and value == int(value)
    return f"{value:.0f}".replace("-", "−") if whole else ratio_text(value)


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
    lam = round_up(max(lams), 4) if lams else NOTHING
    return told, lam, str(max(ks)) if ks else NOTHING


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
    """Shell command that makes the record again, with the options that were given."""
    return " ".join(("rnnbounds experiment", record.name, *record.options))
