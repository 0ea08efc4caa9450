"""Outcomes of `rnnbounds guard`: the answer for each model, and for all of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from rnnbounds.reports.errors import InputError
from rnnbounds.reports.gate import settings
from rnnbounds.reports.records.changes import Changes, escape_markdown, shorten
from rnnbounds.reports.text import NOTHING, plural, round_up


class ModelOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """One model: the answer in a line, and each reason why it fails.

    changes: since its baseline. k: at the ε that is asked. verdict: of the certificate, or whether
    a measurement is stated. advice: what to do, or which file was written. unread: what the only
    problem says was not read.
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

    @property
    def further(self) -> tuple[str, ...]:
        """The changes that are no problems, one line each."""
        rows = () if self.changes is None else self.changes.rows
        failing = () if self.changes is None else self.changes.failing
        return tuple(f"{row.kind}: {row.line}" for row in rows if row not in failing)


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
            todo = () if model.passes else [f"to do: {line}" for line in model.advice]
            told = (model.line, *model.problems, *model.further, *todo)
            answer = "<br>".join(escape_markdown(shorten(line)) for line in told)
            lines.append(f"| {escape_markdown(model.name)} | {mark} | {lam} | {k} | {answer} |")
        return "\n".join((*lines, ""))


def require_named(model_settings: settings.ModelSettings, names: Iterable[str]) -> None:
    """Raise InputError for a name that the settings do not have."""
    for name in names:
        if name not in model_settings.names:
            known = ", ".join(model_settings.names)
            raise InputError(f"the settings have no model {name!r}; name one of {known}")
