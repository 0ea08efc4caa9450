"""The page of kept runs: how tightness, pairs, coverage and seconds went from commit to commit."""

from collections.abc import Callable, Sequence
from statistics import median

from reports.pages.experiment import Page, Plot, Section, Table, render_experiment
from reports.pages.figures.figure import Series
from reports.pages.text import NOTHING, count, plural, ratio
from reports.records.matrix import coverage
from reports.records.number import finite
from reports.records.outcome import passed
from reports.records.record import Run

SHOWN = 12  # runs that the table of tightness has room for
TRENDS: tuple[tuple[str, str, Callable[[Run], float]], ...] = (
    ("Tightness", "median of the claims' greatest lhs/rhs", lambda run: tightness(run)),
    ("Pairs", "pairs of system and input", lambda run: sum(claim.pairs for claim in run.claims)),
    ("Coverage", "cells of the matrix, claim by claim, that were judged", lambda run: judged(run)),
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
    order = list(range(1, len(runs) + 1))
    plots = tuple(
        Section(title, (Plot(
            lines=(Series(label=what, x=order, y=[float(of(run)) for run in runs]),),
            x_label="run, the oldest first", y_label=what, caption=f"{what}, run by run.",
        ),))
        for title, what, of in TRENDS
    )  # fmt: skip
    return Page(
        title="Runs over time",
        kicker="history",
        lead=f"{plural(len(runs), 'run')}, of which {count(sum(map(passed, runs)))} passed.",
        sections=(*(plots if runs else ()), Section("Runs", (_table(runs),)), _claims(runs)),
    )


def render_trends(runs: Sequence[Run]) -> bytes:
    """One self-contained page, UTF-8."""
    return render_experiment(trends(runs))


def _table(runs: Sequence[Run]) -> Table:
    names = ("", "commit", "started", "profile", "seed", "verdict", "pairs", "cells", "seconds")
    rows = [
        (
            str(number), run.environment.commit[:12] or NOTHING, run.environment.started,
            run.profile, str(run.seed), "passes" if passed(run) else "FAILS",
            count(sum(claim.pairs for claim in run.claims)), count(judged(run)),
            f"{run.environment.seconds:.0f}",
        )
        for number, run in enumerate(runs, 1)
    ]  # fmt: skip
    return Table(columns=names, rows=tuple(rows), numeric=frozenset({0, 4, 6, 7, 8}))


def _claims(runs: Sequence[Run]) -> Section:
    """The greatest lhs/rhs of each claim in the last runs."""
    shown = list(enumerate(runs, 1))[-SHOWN:]
    ids = list(dict.fromkeys(claim.id for _, run in shown for claim in run.claims))
    best = [{claim.id: ratio(claim.best_ratio) for claim in run.claims} for _, run in shown]
    rows = tuple((id, *(told.get(id, NOTHING) for told in best)) for id in ids)
    columns = ("claim", *(str(number) for number, _ in shown))
    numeric = frozenset(range(1, len(columns)))
    return Section("Tightest lhs/rhs, claim by claim",
                   (Table(columns=columns, rows=rows, numeric=numeric),))  # fmt: skip
