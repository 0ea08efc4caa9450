"""``rnnbounds guard``: the models of a project keep what its pyproject.toml asks of them."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from rnnbounds.commands.options import As, path_option
from rnnbounds.guarding import Guard, UnknownModelError
from rnnbounds.reports.files import write_all, write_atomic
from rnnbounds.reports.formats.guarded import junit, markdown, sarif
from rnnbounds.reports.gate.models import load_model_settings
from rnnbounds.reports.gate.thresholds import PROJECT
from rnnbounds.reports.history import load_guard_history
from rnnbounds.reports.pages.guard_page import render_guard_page
from rnnbounds.reports.pages.kept_models import render_guard_history
from rnnbounds.reports.records.guarded import GuardResults
from rnnbounds.results import STEP, add_summary
from rnnbounds.shell.output import Format, check_folder, echo, print_json, progress


def guard(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="models; all by default")
    ] = None,
    config: Annotated[
        Path, path_option("--config", "FILE.toml", "the file with [tool.rnnbounds.models.NAME]")
    ] = PROJECT,
    out: Annotated[
        Path | None,
        path_option("--out", "DIR", "write a page of all models, and a folder per model"),
    ] = None,
    junit_file: Annotated[
        Path | None, path_option("--junit", "FILE.xml", "write JUnit XML, one test case per model")
    ] = None,
    sarif_file: Annotated[
        Path | None, path_option("--sarif", "FILE.sarif", "write the failures as SARIF")
    ] = None,
    summary: Annotated[
        Path | None, path_option("--summary", "FILE.md", "write a summary in Markdown")
    ] = None,
    history: Annotated[
        Path | None,
        path_option("--history", "FILE.jsonl", "append λ and k, a line per run, and write a page"),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="write the baselines of models that are certified")
    ] = False,
    format: As = Format.text,
) -> int:
    """Certify or measure each model of ./pyproject.toml and compare it with its baseline; exit 1 if
    one fails.

    A model fails if it is not certified, has less than its share, or has k above at-most; without
    at-most, if its k is above that of its baseline. --update accepts all changes since that.
    """
    asked = load_model_settings(config)
    for name in names or ():
        if name not in asked.names:
            raise UnknownModelError(name, asked.names)
    files = [path for path in (junit_file, sarif_file, summary, history) if path is not None]
    for path in files:
        check_folder(path.parent, path.name)
    if out is not None:
        check_folder(out, "index.html")
    runs = [] if history is None else load_guard_history(history)
    if history is not None:
        check_folder(history.parent, page_of(history).name)
    chosen = [name for name in asked.names if not names or name in names]
    guard = Guard(config.parent, out, update)
    outcomes = []
    with progress(len(chosen), "checking models") as advance:
        for outcome in guard.each(asked, chosen):
            advance(outcome.name)
            outcomes.append(outcome)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    found = GuardResults(finished=now, outcomes=tuple(outcomes))
    if junit_file is not None:
        write_atomic(junit_file, junit(found))
    if sarif_file is not None:
        write_atomic(sarif_file, sarif(found, config.as_posix(), asked.text))
    if summary is not None:
        write_atomic(summary, markdown(found).encode())
    if history is not None:
        before = history.read_bytes() if runs else b""
        write_all(history.parent, {
            history.name: before + msgspec.json.encode(found) + b"\n",
            page_of(history).name: render_guard_history([*runs, found]),
        })  # fmt: skip
    if out is not None:
        write_atomic(out / "index.html", render_guard_page(found))
    if step := os.environ.get(STEP):
        add_summary(Path(step), markdown(found))
    if format is Format.json:
        print_json(found)
    else:
        show(found)
    if any(one.unread for one in outcomes):
        return 2
    return int(bool(found.problems))


def page_of(history: Path) -> Path:
    """The page beside a history."""
    return history.with_suffix(".html" if history.suffix != ".html" else ".page.html")


def show(found: GuardResults) -> None:
    """The answers in lines of text."""
    for one in found.outcomes:
        verdict = "passes" if one.passes else "UNREAD" if one.unread else "FAILS"
        echo(f"{verdict}: {one.name}: {one.line}")
        for line in one.problems:
            echo(f"  {line}")
        if one.changes is not None:
            for row in one.changes.rows:
                if row not in one.changes.failing:
                    echo(f"  {row.kind}: {row.line}")
        for line in one.advice:
            echo(f"  {line}")
