"""``rnnbounds guard``: each model of a project is asked what its pyproject.toml asks, certified or
measured, and held against its baseline."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

from rnnbounds.commands.options import FormatOption, Summary, path_option
from rnnbounds.reports.errors import InputError
from rnnbounds.reports.files import write_atomic
from rnnbounds.reports.gate import settings
from rnnbounds.reports.records.changes import Changes, escape_markdown, shorten
from rnnbounds.reports.text import NOTHING, plural, round_up
from rnnbounds.shell.output import Format, echo, print_json, require_folder, show_progress
from rnnbounds.shell.results import JOB_SUMMARY, add_summary


class ModelOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """One model: the answer in a line, and each reason why it fails.

    changes: since its baseline. verdict: of the certificate, or whether a measurement is stated.
    advice: what to do, or which file was written. unread: what the only problem says was not read.
    """

    name: str
    line: str
    problems: tuple[str, ...] = ()
    changes: Changes | None = None
    lam: float | None = None
    k: int | None = None
    verdict: str = ""
    advice: tuple[str, ...] = ()
    unread: bool = False

    @property
    def passes(self) -> bool:
        """True if nothing speaks against the model."""
        return not self.problems


class GuardResults(msgspec.Struct, frozen=True, kw_only=True):
    """All models in the order of the settings."""

    schema: Literal["rnnbounds/guarded/2"] = "rnnbounds/guarded/2"
    outcomes: tuple[ModelOutcome, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        """Every reason why a model fails, each with its model's name."""
        return tuple(f"{model.name}: {line}" for model in self.outcomes for line in model.problems)

    @property
    def markdown(self) -> str:
        """A table: a row for each model, with what fails, what changed and what to do."""
        failing = sum(not model.passes for model in self.outcomes)
        verdict = f"{failing} of {plural(len(self.outcomes), 'model')} fail" + "s" * (failing == 1)
        lines = [f"## rnnbounds: {verdict if failing else 'all pass'}", ""]
        lines += ["| model | | λ | k | answer |", "|---|---|---|---|---|"]
        for model in self.outcomes:
            lam = NOTHING if model.lam is None else round_up(model.lam)
            k = NOTHING if model.k is None else str(model.k)
            mark = "passes" if model.passes else "**fails**"
            changes = () if model.changes is None else model.changes.rows
            todo = () if model.passes else [f"to do: {line}" for line in model.advice]
            told = (model.line, *model.problems, *(row.line for row in changes), *todo)
            answer = "<br>".join(escape_markdown(shorten(line)) for line in told)
            lines.append(f"| {escape_markdown(model.name)} | {mark} | {lam} | {k} | {answer} |")
        return "\n".join((*lines, ""))


def require_named(model_settings: settings.ModelSettings, names: Iterable[str]) -> None:
    """Raise InputError for a name that the settings do not have."""
    for name in names:
        if name not in model_settings.names:
            known = ", ".join(model_settings.names)
            raise InputError(f"the settings have no model {name!r}; name one of {known}")


def guard(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME",
        help="models; all by default")] = None,
    config: Annotated[Path, path_option("--config", "FILE.toml",
        "the file with [tool.rnnbounds.models.NAME]")] = settings.PROJECT,
    summary: Summary = None,
    update: Annotated[bool, typer.Option("--update",
        help="write the baselines of models that are certified")] = False,
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
    from rnnbounds.commands.models.outcomes import Guard

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
        rows = () if result.changes is None else result.changes.rows
        failing = () if result.changes is None else result.changes.failing
        told = [f"{row.kind}: {row.line}" for row in rows if row not in failing]
        for line in (*others, *told, *result.advice):
            echo(f"  {line}")
