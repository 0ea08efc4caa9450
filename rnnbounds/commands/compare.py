"""``rnnbounds compare``, what regressed between two records, and ``report``, a run's page."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rnnbounds import disk
from rnnbounds.commands.options import Baseline, FormatOption, path_option
from rnnbounds.reports.files import WriteError, write_atomic
from rnnbounds.reports.gate.certificates import compare_files
from rnnbounds.reports.gate.settings import load_thresholds
from rnnbounds.reports.pages.experiment import render_changes_page
from rnnbounds.reports.pages.run import CURVES, FILES, write_report
from rnnbounds.reports.records.codec import load
from rnnbounds.reports.records.outcome import run_problems
from rnnbounds.shell.output import Format, echo, print_json, require_folder
from rnnbounds.shell.results import RequestedOutputs
from rnnbounds.shell.terminal import write

Out = Annotated[Path | None, path_option("--out", "DIR", "write the changes as index.html there")]


INDEX = "index.html"


class ChangeFormat(StrEnum):
    """How changes are printed."""

    text = "text"
    markdown = "markdown"
    json = "json"


def compare(
    old: Annotated[Path, typer.Argument(metavar="OLD.json", help="a run or a certificate")],
    new: Annotated[Path, typer.Argument(metavar="NEW.json", help="a later run or certificate")],
    out: Out = None,
    format: Annotated[ChangeFormat, typer.Option("--format", help="text, markdown or json")]
    = ChangeFormat.text,
) -> int:  # fmt: skip
    """Compare two runs, or two certificates of a model: regressed, improved, new, gone; exit 1 if
    something regressed or is gone.

    Thresholds are in [tool.rnnbounds] of ./pyproject.toml. Certificates of different questions
    (inputs, readout, dtype, ε …) are not compared, with exit 2.
    """
    if out is not None:
        require_folder(out, INDEX)
    changes = compare_files(old, new, load_thresholds())
    if out is not None:
        write_atomic(out / INDEX, render_changes_page(changes))
    if format is ChangeFormat.json:
        print_json(changes)
    elif format is ChangeFormat.markdown:
        write(changes.markdown)
    else:
        for line in changes.text:
            echo(line)
    return int(bool(changes.failing))


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN.json", help="a record that verify wrote")],
    out: Annotated[Path, path_option("--out", "DIR", "write run.json and index.html there")],
    baseline: Baseline = None,
    csv: Annotated[bool, typer.Option("--csv",
        help="write the points of all curves too, as curves.csv")] = False,
    format: FormatOption = Format.text,
) -> int:  # fmt: skip
    """Write the page of a run record; exit 1 if the run failed or, with --baseline, something
    regressed."""
    record, page = load(run), out / INDEX
    if disk.is_same_file(run, page):
        raise WriteError(page, OSError(0, "it is the file that is read"))
    same_file = disk.is_same_file(run, out / "run.json")  # the record itself is left as it is
    names = ((INDEX,) if same_file else FILES) + ((CURVES,) if csv else ())
    changes = (
        RequestedOutputs(baseline).check(outputs=[out / name for name in names]).changes(record)
    )
    write_report(record, out, names=names, changes=changes)
    failures = run_problems(record)
    if format is Format.json:
        changes_entry = {} if changes is None else {"changes": changes}
        points = {"curves": str(out / CURVES)} if csv else {}
        print_json({"page": str(page), "problems": failures} | points | changes_entry)
    else:
        for problem in failures:
            echo(f"FAILS: {problem}")
        for line in () if changes is None else changes.text:
            echo(line)
        echo(f"wrote {' and '.join(str(out / name) for name in sorted(names))}")
    return int(bool(failures or (changes and changes.failing)))
