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
    render_experiment,
)
from rnnbounds.reports.pages.figures.dates import iso_date, seconds
from rnnbounds.reports.pages.figures.plot import Series
from rnnbounds.reports.pages.text import NOTHING, count, plural, ratio
from rnnbounds.reports.records.matrix import coverage
from rnnbounds.reports.records.number import finite
from rnnbounds.reports.records.outcome import passed
from rnnbounds.reports.records.record import Run

SHOWN = 12  # runs that the table of tightness has room for
TRENDS: tuple[tuple[str, str, Callable[[Run], float]], ...] = (
    ("Tightness", "median of tightest lhs/rhs", lambda run: tightness(run)),
    ("Pairs", "pairs of system and input", lambda run: sum(claim.pairs for claim in run.claims)),
    ("Coverage", "cells judged, of all claims", lambda run: judged(run)),
    ("Time", "seconds", lambda run: run.environment.seconds),
)


def tightness(run: Run) -> float:
    """The median of the claims' greatest ratios; NaN without any."""
    best = [claim.best_ratio for claim in run.claims]
    ratios = [float(reached) for reached in best if reached is not None and finite(reached)]
    return median(ratios) if ratios else float("nan")


def judged(run: Run) -> int:
    """How many cells a check was judged on, claim by claim."""
    return coverage(run.matrix, {claim.id for claim in run.claims})


def trends(runs: Sequence[Run]) -> Page:
    """The kept runs, the oldest first."""
    times = [run.environment.started for run in runs]
    plots = tuple(
        Section(title, (over_time(times, [(what, [of(run) for run in runs])], what),))
        for title, what, of in TRENDS
    )
    return Page(
        title="Runs over time",
        kicker="history",
        lead=lead(times, [passed(run) for run in runs]),
        verdict=of_run(passed(runs[-1])) if runs else None,
        sections=(*(plots if runs else ()), Section("Runs", (_table(runs),)), _claims(runs)),
    )


def lead(times: Sequence[str], passes: Sequence[bool]) -> str:
    """How many runs there are, of which dates, and how many of them pass."""
    if not times:
        return "No runs are kept."
    if len(times) == 1:
        return f"One run is kept, of {iso_date(times[0])}; a trend takes two."
    return (
        f"The last of {plural(len(times), 'run')}, of {iso_date(times[-1])}; {count(sum(passes))} "
        f"of them {'passes' if sum(passes) == 1 else 'pass'}."
    )


def over_time(
    times: Sequence[str], lines: Sequence[tuple[str, Sequence[float]]], what: str
) -> Plot:
    """Values against the dates of their runs, a dot each; against their numbers if a run has no
    date."""
    known = [at for at in map(seconds, times) if at is not None]
    dated = len(known) == len(times)
    x = known if dated else [float(number) for number in range(1, len(times) + 1)]
    drawn = [Series(label, x, list(values), "dotted") for label, values in lines]
    points = max((sum(map(math.isfinite, line.y)) for line in drawn), default=0)
    one = " One point so far." if points == 1 else ""
    axis = "date of the run" if dated else "number of the run, the oldest first"
    return Plot(drawn, axis, what, f"Run by run: {what}.{one}", dates_x=dated)


def of_run(passes: bool) -> Verdict:
    """Verdict of a run, in colour: `passes` or `FAILS`."""
    return Verdict("passes", "good") if passes else Verdict("FAILS", "bad")


def render_trends(runs: Sequence[Run]) -> bytes:
    """One self-contained page, UTF-8."""
    return render_experiment(trends(runs))


def _table(runs: Sequence[Run]) -> Table:
    names = ("run", "commit", "date", "profile", "seed", "verdict", "pairs", "cells", "seconds")
    rows = [
        (
            str(number), run.environment.commit[:12] or NOTHING, iso_date(run.environment.started),
            run.profile, str(run.seed), of_run(passed(run)),
            count(sum(claim.pairs for claim in run.claims)), count(judged(run)),
            f"{run.environment.seconds:.0f}",
        )
        for number, run in enumerate(runs, 1)
    ]  # fmt: skip
    return Table(columns=names, rows=tuple(rows), numeric=frozenset({0, 2, 4, 6, 7, 8}))


def _claims(runs: Sequence[Run]) -> Section:
    """The greatest lhs/rhs of each claim in the last runs."""
    shown = list(enumerate(runs, 1))[-SHOWN:]
    ids = list(dict.fromkeys(claim.id for _, run in shown for claim in run.claims))
    best = [{claim.id: ratio(claim.best_ratio) for claim in run.claims} for _, run in shown]
    rows = tuple((id, *(ratios.get(id, NOTHING) for ratios in best)) for id in ids)
    columns = ("claim", *(str(number) for number, _ in shown))
    numeric = frozenset(range(1, len(columns)))
    return Section("Tightest lhs/rhs, claim by claim",
                   (Table(columns=columns, rows=rows, numeric=numeric),))  # fmt: skip
