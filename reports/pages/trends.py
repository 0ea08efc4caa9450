"""The page of kept runs: how tightness, pairs, coverage and seconds went from commit to commit."""

import math
from collections.abc import Callable, Sequence
from statistics import median

from rnnbounds.reports.pages.experiment import (
    Page,
    Plot,
    Section,
    Table,
    Verdict,
    render_page,
)
from rnnbounds.reports.pages.figures.dates import epoch_seconds, iso_date
from rnnbounds.reports.pages.figures.plot import Series
from rnnbounds.reports.pages.text import NOTHING, count, plural, ratio_text
from rnnbounds.reports.records.matrix import count_covered_cells
from rnnbounds.reports.records.number import is_finite
from rnnbounds.reports.records.outcome import is_passed
from rnnbounds.reports.records.record import Run

MOST_RUNS = 12  # runs that the table of tightness has room for
TRENDS: tuple[tuple[str, str, Callable[[Run], float]], ...] = (
    ("Tightness", "median of tightest lhs/rhs", lambda run: median_tightness(run)),
    ("Pairs", "pairs of system and input", lambda run: sum(claim.pairs for claim in run.claims)),
    ("Coverage", "cells judged, of all claims", lambda run: count_judged_cells(run)),
    ("Time", "seconds", lambda run: run.environment.seconds),
)


def median_tightness(run: Run) -> float:
    """The median of the claims' greatest ratios; NaN without any."""
    best = [claim.best_ratio for claim in run.claims]
    ratios = [float(reached) for reached in best if reached is not None and is_finite(reached)]
    return median(ratios) if ratios else float("nan")


def count_judged_cells(run: Run) -> int:
    """How many cells a check was judged on, claim by claim."""
    return count_covered_cells(run.matrix, {claim.id for claim in run.claims})


def trends_page(runs: Sequence[Run]) -> Page:
    """The kept runs, the oldest first."""
    times = [run.environment.started for run in runs]
    plots = tuple(
        Section(title, (plot_over_time(times, [(field, [measure(run) for run in runs])], field),))
        for title, field, measure in TRENDS
    )
    return Page(
        title="Runs over time",
        kicker="history",
        lead=history_lead(times, [is_passed(run) for run in runs]),
        verdict=pass_verdict(is_passed(runs[-1])) if runs else None,
        sections=(
            *(plots if runs else ()),
            Section("Runs", (_runs_table(runs),)),
            _claims_section(runs),
        ),
    )


def history_lead(times: Sequence[str], passes: Sequence[bool]) -> str:
    """How many runs there are, of which dates, and how many of them pass."""
    if not times:
        return "No runs are kept."
    if len(times) == 1:
        return f"One run is kept, of {iso_date(times[0])}; a trend takes two."
    return (
        f"The last of {plural(len(times), 'run')}, of {iso_date(times[-1])}; {count(sum(passes))} "
        f"of them {'passes' if sum(passes) == 1 else 'pass'}."
    )


def plot_over_time(
    times: Sequence[str], lines: Sequence[tuple[str, Sequence[float]]], field: str
) -> Plot:
    """Values against the dates of their runs, a dot each; against their numbers if a run has no
    date."""
    start_times = [at for at in map(epoch_seconds, times) if at is not None]
    has_dates = len(start_times) == len(times)
    x = start_times if has_dates else [float(number) for number in range(1, len(times) + 1)]
    series = [Series(label, x, list(values), "dotted") for label, values in lines]
    points = max((sum(map(math.isfinite, line.y)) for line in series), default=0)
    remark = " One point so far." if points == 1 else ""
    axis = "date of the run" if has_dates else "number of the run, the oldest first"
    return Plot(series, axis, field, f"Run by run: {field}.{remark}", dates_x=has_dates)


def pass_verdict(passes: bool) -> Verdict:
    """Verdict of a run, in colour: `passes` or `FAILS`."""
    return Verdict("passes", "good") if passes else Verdict("FAILS", "bad")


def render_trends_page(runs: Sequence[Run]) -> bytes:
    """One self-contained page, UTF-8."""
    return render_page(trends_page(runs))


def _runs_table(runs: Sequence[Run]) -> Table:
    names = ("run", "commit", "date", "profile", "seed", "verdict", "pairs", "cells", "seconds")
    rows = [
        (
            str(number), run.environment.commit[:12] or NOTHING, iso_date(run.environment.started),
            run.profile, str(run.seed), pass_verdict(is_passed(run)),
            count(sum(claim.pairs for claim in run.claims)), count(count_judged_cells(run)),
            f"{run.environment.seconds:.0f}",
        )
        for number, run in enumerate(runs, 1)
    ]  # fmt: skip
    return Table(columns=names, rows=tuple(rows), numeric=frozenset({0, 2, 4, 6, 7, 8}))


def _claims_section(runs: Sequence[Run]) -> Section:
    """The greatest lhs/rhs of each claim in the last runs."""
    numbered_runs = list(enumerate(runs, 1))[-MOST_RUNS:]
    ids = list(dict.fromkeys(claim.id for _, run in numbered_runs for claim in run.claims))
    best = [
        {claim.id: ratio_text(claim.best_ratio) for claim in run.claims} for _, run in numbered_runs
    ]
    rows = tuple((id, *(ratios.get(id, NOTHING) for ratios in best)) for id in ids)
    columns = ("claim", *(str(number) for number, _ in numbered_runs))
    numeric = frozenset(range(1, len(columns)))
    return Section("Tightest lhs/rhs, claim by claim",
                   (Table(columns=columns, rows=rows, numeric=numeric),))  # fmt: skip
