"""The page of what changed between two records."""

from reports.pages.experiment import Page, Section, Table, render_experiment
from reports.records.changes import Changes, in_order

COLUMNS = ("", "of", "what", "before", "after")


def table(changes: Changes) -> Table:
    """A row for each change, the worst first."""
    return Table(
        columns=COLUMNS,
        rows=tuple(
            (row.kind, row.subject, row.what, row.before, row.after)
            for row in in_order(changes.rows)
        ),
    )


def render_changes(changes: Changes) -> bytes:
    """One self-contained page, UTF-8."""
    page = Page(
        title=f"{changes.summary[:1].upper()}{changes.summary[1:]}",
        kicker="compare",
        lead=f"From {changes.old} to {changes.new}.",
        problems=tuple(row.line for row in changes.failing),
        sections=(Section("What changed", (table(changes),)),) if changes.rows else (),
    )
    return render_experiment(page)
