"""``rnnbounds report``: the page again, from a record alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reports.codec import load
from reports.outcome import problems
from reports.page import write_report
from rnnbounds.commands.claims import As
from rnnbounds.output import Format, print_json


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command()(report)


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN.json", help="a record that verify wrote")],
    out: Annotated[Path, typer.Option("--out", help="folder for run.json and index.html")],
    format: As = Format.text,
) -> int:
    """Write the page of a run record; exit 1 if the run it records failed."""
    record = load(run)
    write_report(record, out)
    found, page = problems(record), out / "index.html"
    if format is Format.json:
        print_json({"page": str(page), "problems": found})
    else:
        for problem in found:
            typer.echo(f"FAILS: {problem}")
        typer.echo(f"wrote {page} and {out / 'run.json'}")
    return int(bool(found))
