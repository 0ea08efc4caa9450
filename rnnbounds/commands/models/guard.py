"""``rnnbounds guard``: each model of a project is asked what its pyproject.toml asks, certified or
measured, and held against its baseline."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from rnnbounds.commands.models.outcomes import GuardResults, require_named
from rnnbounds.commands.options import FormatOption, Summary, path_option
from rnnbounds.reports.files import write_atomic
from rnnbounds.reports.gate import settings
from rnnbounds.shell.output import Format, echo, print_json, require_folder, show_progress
from rnnbounds.shell.results import JOB_SUMMARY, add_summary


def guard(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME",
        help="models; all by default")] = None,
    config: Annotated[Path, path_option("--config", "FILE.toml",
        "the file with [tool.rnnbounds.models.NAME]")] = settings.PROJECT,
    summary: Summary = None,
    update: Annotated[bool, typer.Option("--update",
        help="write the baselines of models that pass")] = False,
    format: FormatOption = Format.text,
) -> int:  # fmt: skip
    """Certify or measure each model of ./pyproject.toml and compare it with its baseline; exit 1 if
    one fails.

    A model fails if it is not certified, has less than its share, or has k above at-most; without
    at-most, if its k is above that of its baseline. --update accepts all changes since that.
    """
    model_settings = settings.load_model_settings(config)
    require_named(model_settings, names or ())
    if summary is not None:
        require_folder(summary.parent, summary.name)
    from rnnbounds.commands.models.questions import Guard

    chosen = [name for name in model_settings.names if not names or name in names]
    outcomes = []
    with show_progress(len(chosen), "checking models") as advance:
        for outcome in Guard(config.parent, update).outcomes(model_settings, chosen):
            advance(outcome.name)
            outcomes.append(outcome)
    results = GuardResults(outcomes=tuple(outcomes))
    if summary is not None:
        write_atomic(summary, results.markdown.encode())
    if job_summary := os.environ.get(JOB_SUMMARY):
        add_summary(Path(job_summary), results.markdown)
    if format is Format.json:
        print_json(results)
    else:
        _print_results(results)
    if any(outcome.unread for outcome in outcomes):
        return 2
    return int(bool(results.problems))


def _print_results(results: GuardResults) -> None:
    """The answers in lines of text."""
    for result in results.outcomes:
        verdict = "passes" if result.passes else "UNREAD" if result.unread else "FAILS"
        first, *others = (*result.problems, result.line)  # a failure begins with its reason
        echo(f"{verdict}: {result.name}: {first}")
        for line in (*others, *result.further, *result.advice):
            echo(f"  {line}")
