"""The page of what changed between two records."""

from rnnbounds.reports.pages.experiment import (
    Cell,
    Page,
    Section,
    Table,
    Tone,
    Verdict,
    render_experiment,
)
from rnnbounds.reports.records.changes import Change, Changes, in_order

COLUMNS = ("change", "of", "what", "before", "after")


def table(changes: Changes) -> Table:
    """A row for each change, the worst first; what has no row is counted.

    Rows of one subject alone do not name it.
    """
    rows = [
        (_kind(row, changes), row.subject, row.what, row.before, row.after)
        for row in in_order(changes.rows)
    ]
    several = len({row.subject for row in changes.rows}) > 1
    shown = [index for index in range(len(COLUMNS)) if several or COLUMNS[index] != "of"]
    cells: tuple[tuple[Cell, ...], ...] = tuple(tuple(row[i] for i in shown) for row in rows)
    counted = f"{changes.unchanged}." if changes.unchanged else ""
    return Table(tuple(COLUMNS[i] for i in shown), cells, caption=counted, look="changes")


def _kind(row: Change, changes: Changes) -> Cell:
    """The kind of a change, red if it fails the gate."""
    if row.kind in changes.fails:
        return Verdict(row.kind, "bad")
    tones: dict[str, Tone] = {"improved": "good", "regressed": "open", "gone": "open"}
    return Verdict(row.kind, tones[row.kind]) if row.kind in tones else row.kind


def verdict(changes: Changes) -> Verdict:
    """Red if the gate fails, green if it passes."""
    return Verdict("fails", "bad") if changes.failing else Verdict("passes", "good")


def render_changes(changes: Changes) -> bytes:
    """One self-contained page, UTF-8."""
    counted = f" {changes.unchanged}." if changes.unchanged and not changes.rows else ""
    page = Page(
        title=f"{changes.summary[:1].upper()}{changes.summary[1:]}",
        kicker="compare",
        lead=f"From {changes.old} to {changes.new}.{counted}",
        verdict=verdict(changes),
        failed=bool(changes.failing),
        sections=(Section("What changed", (table(changes),)),) if changes.rows else (),
    )
    return render_experiment(page)
