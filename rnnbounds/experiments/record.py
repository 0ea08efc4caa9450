"""The record that experiments write: all runs of all seeds, and what they come to.

All but the environment is a function of settings, data and device. What is not finite is null.
"""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.numbers.json_values import finite_or_none
from rnnbounds.reports.records.record import Environment

Holds = Literal["holds", "does not hold", "undecided"]


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of a run, from the seeds `seed`, `seed` + 1, …; experiments add their sizes."""

    seed: int = 0
    seeds: int = 3

    @property
    def each_seed(self) -> range:
        """The seeds."""
        return range(self.seed, self.seed + self.seeds)


class Curve(msgspec.Struct, frozen=True):
    """Points (x, y); y is null where it is not finite."""

    x: tuple[float, ...]
    y: tuple[float | None, ...]


class CertificateSummary(msgspec.Struct, frozen=True):
    """Result of `certify` for all inputs of the set that `inputs` names; `lam` is a bound only
    where the verdict is "certified", `k` the window of `epsilon`."""

    verdict: str
    lam: float | None
    epsilon: float
    k: int | None
    inputs: str


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """Measurement of one model: named figures with their unit, curves, the certificate."""

    task: str
    model: str
    variant: str
    seed: int
    figures: dict[str, float | None] = {}
    curves: dict[str, Curve] = {}
    certificate: CertificateSummary | None = None
    notes: dict[str, str] = {}


class Outcome(msgspec.Struct, frozen=True):
    """Verdict on the papers' conclusion at this size, and a sentence with the figures that decide.
    `problems` are certified statements that were violated: they alone fail the run."""

    holds: Holds
    summary: str
    problems: tuple[str, ...] = ()


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One experiment, run; `options` are those of the command that makes it again."""

    schema: str = "rnnbounds/experiment/2"
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


def summarise(certificate: Certificate, epsilon: float) -> CertificateSummary:
    """Record a certificate and its window k for this ε."""
    lam, k = finite_or_none(certificate.lam), certificate.window(epsilon)
    return CertificateSummary(certificate.verdict, lam, epsilon, k, certificate.speaks_of)


def select_runs(runs: Sequence[Run], **labels: str) -> list[Run]:
    """The runs with this task, model or variant."""
    return [run for run in runs if all(getattr(run, key) == want for key, want in labels.items())]


def group_runs(runs: Sequence[Run]) -> dict[tuple[str, str, str], list[Run]]:
    """The runs of each task, model and variant, one for each seed, in their order."""
    groups: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.task, run.model, run.variant), []).append(run)
    return groups
