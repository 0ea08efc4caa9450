"""The page of a guard's history: λ, k and the verdict of each model, run by run."""

from collections.abc import Sequence

from rnnbounds.reports.pages.experiment import (
    Block,
    Page,
    Paragraph,
    Section,
    Table,
    render_experiment,
)
from rnnbounds.reports.pages.figures.dates import iso_date
from rnnbounds.reports.pages.text import NOTHING, up
from rnnbounds.reports.pages.trends import lead, of_run, over_time
from rnnbounds.reports.records.guarded import Guarded, Outcome


def kept_models(runs: Sequence[Guarded]) -> Page:
    """A section for each model of any run, the oldest run first; those of the last run lead."""
    names = dict.fromkeys(one.name for run in reversed(runs) for one in run.outcomes)
    passes = [not run.problems for run in runs]
    return Page(
        title="Models over time",
        kicker="guard · history",
        lead=lead([run.finished for run in runs], passes),
        verdict=of_run(passes[-1]) if runs else None,
        failed=bool(passes) and not passes[-1],
        sections=tuple(_model(name, runs) for name in names),
    )


def render_kept_models(runs: Sequence[Guarded]) -> bytes:
    """One self-contained page, UTF-8."""
    return render_experiment(kept_models(runs))


def _model(name: str, runs: Sequence[Guarded]) -> Section:
    """One model: k and λ against the date, as far as they are known, then a row for each run."""
    found = [(run.finished, one) for run in runs for one in run.outcomes if one.name == name]
    times = [when for when, _ in found]
    figures: list[Block] = []
    for what, values in (
        ("k, number of last inputs", [_number(one.k) for _, one in found]),
        ("λ, contraction factor", [_number(one.lam) for _, one in found]),
    ):
        if any(value == value for value in values):  # NaN stands for what is not known
            figures.append(over_time(times, [(f"{what.split(',')[0]} of {name}", values)], what))
    if not figures:
        figures.append(Paragraph("Neither k nor λ is known of any run."))
    rows = tuple(
        (iso_date(when), of_run(one.passes), one.verdict or NOTHING, _lam(one),
         NOTHING if one.k is None else str(one.k), "; ".join(one.problems) or NOTHING)
        for when, one in reversed(found)
    )  # fmt: skip
    columns = ("date", "guard", "verdict", "λ", "k", "why it fails")
    table = Table(columns, rows, frozenset((0, 3, 4)), "The latest first.", "cards")
    return Section(name, (*figures, table))


def _lam(one: Outcome) -> str:
    return NOTHING if one.lam is None else up(one.lam, 6)


def _number(value: float | None) -> float:
    return float("nan") if value is None else value
