"""The page of what changed between two records."""

from rnnbounds.reports.pages.experiment import (
    Cell,
    Page,
    Section,
    Table,
    Tone,
    Verdict,
    render_page,
)
from rnnbounds.reports.records.changes import Change, Changes, sort_changes

COLUMNS = ("change", "of", "what", "before", "after")


def changes_table(changes: Changes) -> Table:
    """A row for each change, the worst first; rows of one subject alone do not name it."""
    rows = [
        (_kind_cell(row, changes), row.subject, row.what, row.before, row.after)
        for row in sort_changes(changes.rows)
    ]
    several = len({row.subject for row in changes.rows}) > 1
    columns = [index for index in range(len(COLUMNS)) if several or COLUMNS[index] != "of"]
    cells: tuple[tuple[Cell, ...], ...] = tuple(tuple(row[i] for i in columns) for row in rows)
    return Table(tuple(COLUMNS[i] for i in columns), cells, look="changes")


def _kind_cell(row: Change, changes: Changes) -> Cell:
    """The kind of a change, red if it fails the gate."""
    if row.kind in changes.fails:
        return Verdict(row.kind, "bad")
    tones: dict[str, Tone] = {"improved": "good", "regressed": "open", "gone": "open"}
    return Verdict(row.kind, tones[row.kind]) if row.kind in tones else row.kind


def gate_verdict(changes: Changes) -> Verdict:
    """Red if the gate fails, green if it passes."""
    return Verdict("fails", "bad") if changes.failing else Verdict("passes", "good")


def render_changes_page(changes: Changes) -> bytes:
    """One self-contained page, UTF-8."""
    page = Page(
        title=f"{changes.summary[:1].upper()}{changes.summary[1:]}",
        kicker="compare",
        lead=f"From {changes.old} to {changes.new}.",
        verdict=gate_verdict(changes),
        failed=bool(changes.failing),
        sections=(Section("What changed", (changes_table(changes),)),) if changes.rows else (),
    )
    return render_page(page)
