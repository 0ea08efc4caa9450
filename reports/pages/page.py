"""The page of a run: one self-contained HTML file, whole without JavaScript or network.

Made from the record alone. Every string of a record is escaped, its MathML filtered, and the page's
own policy forbids loads and every script but its own; the same record gives the same bytes.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from rnnbounds.reports.curves import NAME as CURVES
from rnnbounds.reports.curves import curves_csv
from rnnbounds.reports.files import write_all
from rnnbounds.reports.pages.frame import load_templates
from rnnbounds.reports.pages.run.headline import used_theorems
from rnnbounds.reports.pages.run.repeated import group_checks
from rnnbounds.reports.pages.run.summary import environment_items, summarise_run
from rnnbounds.reports.records.changes import Changes
from rnnbounds.reports.records.codec import encode
from rnnbounds.reports.records.record import Run

FILES = ("run.json", "index.html")
LIST_LIMIT, PAGE_LIMIT = 25, 500
"""Checks of one list, and of all lists, that a page shows; the record has all, each with its replay
command."""
# A browser closes these by itself where the next one begins or what holds them ends.
_ENDS = re.compile(r"</(?:td|th|tr|li|dt|dd)>")


def render_run(run: Run, changes: Changes | None = None) -> bytes:
    """The page of the run, UTF-8, with what changed since a baseline."""
    template = load_templates().get_template("page.html.j2")
    page = template.render(
        run=run, summary=summarise_run(run, changes), changes=changes, shown=checks_per_list(run),
        environment=environment_items(run.environment), theorems=used_theorems(run),
        symbols={symbol.name: symbol for symbol in run.symbols},
    )  # fmt: skip
    return _ENDS.sub("", page).encode()


def checks_per_list(run: Run) -> int:
    """How many checks of each list a page has room for."""
    lists = [
        len(group_checks(checks))
        for claim in run.claims
        for checks in (claim.failing, claim.tightest)
    ]
    lists += [len(group_checks(form.nearest)) for claim in run.claims for form in claim.forms]
    room = (
        limit
        for limit in range(LIST_LIMIT, 0, -1)
        if sum(min(n, limit) for n in lists) <= PAGE_LIMIT
    )
    return next(room, 1)


def write_report(
    run: Run, folder: Path, names: Sequence[str] = FILES, changes: Changes | None = None
) -> None:
    """Write the named files into the folder, each atomically, none unless all can be: run.json,
    index.html, and curves.csv where it is named.

    Raises RecordError for a run without a JSON form and WriteError for a bad place.
    """
    makers = {
        "run.json": lambda: encode(run),
        "index.html": lambda: render_run(run, changes),
        CURVES: lambda: curves_csv(run),
    }
    write_all(folder, {name: makers[name]() for name in names})
