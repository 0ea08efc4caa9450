"""The record that experiments write: all runs of all seeds, and what they come to.

All but the environment is a function of settings, data and device. What is not finite is null.
"""

from collections.abc import Sequence
from types import GenericAlias
from typing import Any, Literal

import msgspec

from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.numbers.json_values import finite_or_none
from rnnbounds.reports.records.record import Environment

Holds = Literal["holds", "does not hold", "undecided"]
EPSILON = 1e-2
LAM, WINDOW = "certified λ", f"certified k at ε = {EPSILON:g}"


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of a run, from the seeds `seed`, `seed` + 1, …; experiments add their sizes."""

    seed: int = 0
    seeds: int = 3

    @property
    def each_seed(self) -> range:
        """The seeds."""
        return range(self.seed, self.seed + self.seeds)


def make_setting(**sizes: Any) -> Any:
    """A setting with these sizes by default, each a number or a tuple of one type."""
    fields = [
        (name, GenericAlias(tuple, (type(v[0]), ...)) if isinstance(v, tuple) else type(v), v)
        for name, v in sizes.items()
    ]
    return msgspec.defstruct("Sizes", fields, bases=(Setting,), frozen=True, kw_only=True)()


class Curve(msgspec.Struct, frozen=True):
    """Points (x, y); y is null where it is not finite."""

    x: tuple[float, ...]
    y: tuple[float | None, ...]


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """Measurement of one model: named figures with their unit, curves."""

    task: str
    model: str
    variant: str
    seed: int
    figures: dict[str, float | None] = {}
    curves: dict[str, Curve] = {}


class Outcome(msgspec.Struct, frozen=True):
    """Verdict on the papers' conclusion at this size, and a sentence with the figures that decide.
    `problems` are certified statements that were violated: they alone fail the run."""

    holds: Holds
    summary: str
    problems: tuple[str, ...] = ()


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One experiment, run; `options` are those of the command that makes it again."""

    schema: str = "rnnbounds/experiment/3"
    name: str
    title: str
    question: str
    conclusion: str
    source: str
    rule: str
    outcome: Outcome
    options: tuple[str, ...]
    settings: dict[str, Any]
    sources: dict[str, str]
    runs: tuple[Run, ...]
    environment: Environment


def make_curve(x: Sequence[Any], y: Sequence[Any]) -> Curve:
    """Points as they are recorded."""
    return Curve(tuple(map(float, x)), tuple(finite_or_none(float(value)) for value in y))


def certified_figures(certificate: Certificate) -> dict[str, float | None]:
    """λ and the window of EPSILON, of a network that is certified for all inputs ‖x_t‖₂ ≤ 1."""
    certified = certificate.verdict == "certified"
    return {LAM: certificate.lam if certified else None, WINDOW: certificate.window(EPSILON)}


def select_runs(runs: Sequence[Run], **labels: str) -> list[Run]:
    """The runs with this task, model or variant."""
    return [run for run in runs if all(getattr(run, key) == want for key, want in labels.items())]


def group_runs(runs: Sequence[Run]) -> dict[tuple[str, str, str], list[Run]]:
    """The runs of each task, model and variant, one for each seed, in their order."""
    groups: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.task, run.model, run.variant), []).append(run)
    return groups
