"""``rnnbounds guard``: the models of a project keep what its pyproject.toml asks of them."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from rnnbounds.commands.models.guarding import Guard, UnknownModelError
from rnnbounds.commands.options import FormatOption, path_option
from rnnbounds.reports.files import write_all, write_atomic
from rnnbounds.reports.formats.guarded import junit, markdown, sarif
from rnnbounds.reports.gate.models import load_model_settings
from rnnbounds.reports.gate.thresholds import PROJECT
from rnnbounds.reports.history import load_guard_history
from rnnbounds.reports.pages.model.guard import render_guard_page
from rnnbounds.reports.pages.model.kept_models import render_guard_history
from rnnbounds.reports.records.guarded import GuardResults
from rnnbounds.shell.output import Format, echo, print_json, require_folder, show_progress
from rnnbounds.shell.results import JOB_SUMMARY, add_summary


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
    format: FormatOption = Format.text,
) -> int:
    """Certify or measure each model of ./pyproject.toml and compare it with its baseline; exit 1 if
    one fails.

    A model fails if it is not certified, has less than its share, or has k above at-most; without
    at-most, if its k is above that of its baseline. --update accepts all changes since that.
    """
    model_settings = load_model_settings(config)
    for name in names or ():
        if name not in model_settings.names:
            raise UnknownModelError(name, model_settings.names)
    files = [path for path in (junit_file, sarif_file, summary, history) if path is not None]
    for path in files:
        require_folder(path.parent, path.name)
    if out is not None:
        require_folder(out, "index.html")
    runs = [] if history is None else load_guard_history(history)
    if history is not None:
        require_folder(history.parent, history_page(history).name)
    chosen = [name for name in model_settings.names if not names or name in names]
    guard = Guard(config.parent, out, update)
    outcomes = []
    with show_progress(len(chosen), "checking models") as advance:
        for outcome in guard.outcomes(model_settings, chosen):
            advance(outcome.name)
            outcomes.append(outcome)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    results = GuardResults(finished=now, outcomes=tuple(outcomes))
    if junit_file is not None:
        write_atomic(junit_file, junit(results))
    if sarif_file is not None:
        write_atomic(sarif_file, sarif(results, config.as_posix(), model_settings.text))
    if summary is not None:
        write_atomic(summary, markdown(results).encode())
    if history is not None:
        old_lines = history.read_bytes() if runs else b""
        write_all(history.parent, {
            history.name: old_lines + msgspec.json.encode(results) + b"\n",
            history_page(history).name: render_guard_history([*runs, results]),
        })  # fmt: skip
    if out is not None:
        write_atomic(out / "index.html", render_guard_page(results))
    if job_summary := os.environ.get(JOB_SUMMARY):
        add_summary(Path(job_summary), markdown(results))
    if format is Format.json:
        print_json(results)
    else:
        print_results(results)
    if any(result.unread for result in outcomes):
        return 2
    return int(bool(results.problems))


def history_page(history: Path) -> Path:
    """The page beside a history."""
    return history.with_suffix(".html" if history.suffix != ".html" else ".page.html")


def print_results(results: GuardResults) -> None:
    """The answers in lines of text."""
    for result in results.outcomes:
        verdict = "passes" if result.passes else "UNREAD" if result.unread else "FAILS"
        echo(f"{verdict}: {result.name}: {result.line}")
        for line in result.problems:
            echo(f"  {line}")
        if result.changes is not None:
            for row in result.changes.rows:
                if row not in result.changes.failing:
                    echo(f"  {row.kind}: {row.line}")
        for line in result.advice:
            echo(f"  {line}")
