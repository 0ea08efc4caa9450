"""Results of a guard: for each model of a project, the answer to its one question."""

from typing import Literal

import msgspec

from rnnbounds.reports.records.changes import Changes
from rnnbounds.reports.words import plural

SCHEMA: Literal["rnnbounds/guarded/1"] = "rnnbounds/guarded/1"


class ModelOutcome(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One model: the answer in a line, and each reason why it fails.

    changes: since its baseline, None without one. lam, k: of the answer, None where none is known.
    verdict: of the certificate, or "stated" or "not stated" of a measurement. advice: what to do
    about what fails, or which file was written. unread: whether the model, its data, or its
    baseline could not be read, which the only problem then says.
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


class GuardResults(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All models in the order of the settings; `finished` in UTC, ISO 8601."""

    schema: Literal["rnnbounds/guarded/1"] = SCHEMA
    finished: str
    outcomes: tuple[ModelOutcome, ...]

    @property
    def verdict(self) -> str:
        """How many models fail, in words."""
        failing = sum(not model.passes for model in self.outcomes)
        fail = "fails" if failing == 1 else "fail"
        count = plural(len(self.outcomes), "model")
        return f"{failing} of {count} {fail}" if failing else "all pass"

    @property
    def problems(self) -> tuple[str, ...]:
        """Every reason why a model fails, each with its model's name."""
        return tuple(f"{model.name}: {line}" for model in self.outcomes for line in model.problems)


def table_line(text: str, table: str) -> int:
    """The line of a TOML document that begins a table, 1 if none does so by that name."""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip().startswith("[") and line.strip().strip("[]").replace('"', "") == table:
            return number
    return 1
