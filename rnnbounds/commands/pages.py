"""``rnnbounds report``: the page again, from a record alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reports.codec import load
from reports.outcome import problems
from reports.page import write_report


def register(app: typer.Typer) -> None:
    app.command()(report)


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN.json", help="a record that verify wrote")],
    out: Annotated[Path, typer.Option("--out", help="folder for run.json and index.html")],
) -> int:
    """Write the page of a run record; exit 1 if the run it records failed."""
    record = load(run)
    write_report(record, out)
    found = problems(record)
    typer.echo(
        f"wrote {out / 'index.html'}" + (f"; the run has {len(found)} problems" if found else "")
    )
    return int(bool(found))
