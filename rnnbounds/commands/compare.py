"""``rnnbounds compare``: what regressed from one record to another, run or certificate."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rnnbounds.commands.options import path_option
from rnnbounds.reports.files import write_atomic
from rnnbounds.reports.gate.files import compare_files
from rnnbounds.reports.gate.thresholds import load_thresholds
from rnnbounds.reports.pages.changes import render_changes_page
from rnnbounds.shell.output import check_target, echo, print_json
from rnnbounds.shell.terminal import write

Page = Annotated[Path | None, path_option("--page", "FILE.html", "write the changes as a page too")]


class ChangeFormat(StrEnum):
    """How changes are printed."""

    text = "text"
    markdown = "markdown"
    json = "json"


def compare(
    old: Annotated[Path, typer.Argument(metavar="OLD.json", help="a run or a certificate")],
    new: Annotated[Path, typer.Argument(metavar="NEW.json", help="a later run or certificate")],
    page: Page = None,
    format: Annotated[ChangeFormat, typer.Option("--format", help="text, markdown or json")]
    = ChangeFormat.text,
) -> int:  # fmt: skip
    """Compare two runs, or two certificates of a model: regressed, improved, new, gone; exit 1 if
    something regressed or is gone.

    Thresholds are in [tool.rnnbounds] of ./pyproject.toml. Certificates of different questions
    (inputs, readout, dtype, ε …) are not compared, with exit 2.
    """
    if page is not None:
        check_target(page, ".html")
    changes = compare_files(old, new, load_thresholds())
    if format is ChangeFormat.json:
        print_json(changes)
    elif format is ChangeFormat.markdown:
        write(changes.markdown)
    else:
        for line in changes.text:
            echo(line)
    if page is not None:
        write_atomic(page, render_changes_page(changes))
    return int(bool(changes.failing))
