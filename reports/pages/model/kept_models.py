"""The page of a guard's history: λ, k and the verdict of each model, run by run."""

from collections.abc import Sequence

from rnnbounds.reports.pages.experiment import (
    Block,
    Page,
    Paragraph,
    Section,
    Table,
    render_page,
)
from rnnbounds.reports.pages.figures.dates import iso_date
from rnnbounds.reports.pages.text import NOTHING, round_up
from rnnbounds.reports.pages.trends import history_lead, pass_verdict, plot_over_time
from rnnbounds.reports.records.guarded import GuardResults, ModelOutcome


def guard_history_page(runs: Sequence[GuardResults]) -> Page:
    """A section for each model of any run, the oldest run first; those of the last run lead."""
    names = dict.fromkeys(model.name for run in reversed(runs) for model in run.outcomes)
    passes = [not run.problems for run in runs]
    return Page(
        title="Models over time",
        kicker="guard · history",
        lead=history_lead([run.finished for run in runs], passes),
        verdict=pass_verdict(passes[-1]) if runs else None,
        failed=bool(passes) and not passes[-1],
        sections=tuple(_model_section(name, runs) for name in names),
    )


def render_guard_history(runs: Sequence[GuardResults]) -> bytes:
    """One self-contained page, UTF-8."""
    return render_page(guard_history_page(runs))


def _model_section(name: str, runs: Sequence[GuardResults]) -> Section:
    """One model: k and λ against the date, as far as they are known, then a row for each run."""
    results = [
        (run.finished, model) for run in runs for model in run.outcomes if model.name == name
    ]
    times = [time for time, _ in results]
    figures: list[Block] = []
    for title, values in (
        ("k, number of last inputs", [_or_nan(model.k) for _, model in results]),
        ("λ, contraction factor", [_or_nan(model.lam) for _, model in results]),
    ):
        if any(value == value for value in values):  # NaN stands for what is not known
            figures.append(
                plot_over_time(times, [(f"{title.split(',')[0]} of {name}", values)], title)
            )
    if not figures:
        figures.append(Paragraph("Neither k nor λ is known of any run."))
    rows = tuple(
        (iso_date(time), pass_verdict(model.passes), model.verdict or NOTHING, _lam_text(model),
         NOTHING if model.k is None else str(model.k), "; ".join(model.problems) or NOTHING)
        for time, model in reversed(results)
    )  # fmt: skip
    columns = ("date", "guard", "verdict", "λ", "k", "why it fails")
    table = Table(columns, rows, frozenset((0, 3, 4)), "The latest first.", "cards")
    return Section(name, (*figures, table))


def _lam_text(model: ModelOutcome) -> str:
    return NOTHING if model.lam is None else round_up(model.lam, 6)


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value
