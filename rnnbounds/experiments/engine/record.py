"""The one kind of record that experiments write: all runs of all seeds, and what they come to.

A `Record` says what was asked, what the papers conclude, the rule by which it holds here (stated
before the figures), the settings, and every `Run`: one task, model, variant and seed with

    figures: name -> number, curves: name -> points, the certificate by the shipped `certify`.

The name of a figure says what it is and its unit, as in "held-out, bits a character": it heads the
column of the page. What is not finite is null. `times` are seconds, `environment` says where and
when, and `timeless` leaves all of these out: there two runs of the same settings are equal, byte
for byte, whether killed and resumed or not.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.numbers import json_values
from rnnbounds.reports.records.record import Environment

SCHEMA = "rnnbounds/experiment/1"
Holds = Literal["holds", "does not hold", "undecided"]


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of a run; experiments add their sizes, and each is an option of the command.

    `seeds` networks of each kind are trained, from the seeds `seed`, `seed` + 1, …: all of them
    are in the record.
    """

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
    """Result of `certify` for a trained cell and all inputs of the set that `inputs` names.

    `lam` is the factor found in `norm`, a bound only where the verdict is "certified"; `k` is the
    window of `epsilon`.
    """

    verdict: str
    norm: str
    lam: float | None
    epsilon: float
    k: int | None
    inputs: str


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One model, trained by one variant on one task from one seed; what was read off it.

    `told` are words, such as the hyper-parameters that a search chose.
    """

    task: str
    model: str
    variant: str
    seed: int
    figures: dict[str, float | None] = {}
    curves: dict[str, Curve] = {}
    certificate: CertificateSummary | None = None
    told: dict[str, str] = {}
    times: dict[str, float] = {}


class Outcome(msgspec.Struct, frozen=True):
    """Conclusion of an experiment: if the papers' conclusion holds at this size, and why.

    `said` is a sentence or two with the figures that decide. `problems` are certified statements
    that were violated; they fail the run, which a conclusion that does not hold never does.
    """

    holds: Holds
    said: str
    problems: tuple[str, ...] = ()


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One experiment, run. All but `times` and `environment` is a function of the settings, the
    data (`sources`: where from, and their SHA-256) and the device. `options` are those of the
    command that makes it again; where the data came from a path they say PATH."""

    schema: str = SCHEMA
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

    @property
    def problems(self) -> tuple[str, ...]:
        """Certified statements that were violated: they fail the run."""
        return self.outcome.problems


def record_figures(values: Mapping[str, Any]) -> dict[str, float | None]:
    """Figures as they are recorded: floats, null where not finite."""
    return {name: finite_or_none(value) for name, value in values.items()}


def finite_or_none(value: Any) -> float | None:
    """A float, None where it is not finite."""
    return None if value is None else json_values.finite_or_none(float(value))


def make_curve(x: Sequence[Any], y: Sequence[Any]) -> Curve:
    """Points as they are recorded."""
    return Curve(tuple(map(float, x)), tuple(map(finite_or_none, y)))


def certify_summary(
    model: Any, inputs: Any, epsilon: float = 1e-2, **options: Any
) -> CertificateSummary:
    """The certificate of a model for inputs as `certify` takes them: a bound, or a set."""
    return summarise(certify(model, inputs, (epsilon,), **options), epsilon)


def summarise(certificate: Certificate, epsilon: float) -> CertificateSummary:
    """Record a certificate: its verdict, norm, λ and inputs, and its window k for this ε."""
    return CertificateSummary(
        verdict=certificate.verdict,
        norm=certificate.norm,
        lam=finite_or_none(certificate.lam),
        epsilon=epsilon,
        k=certificate.window(epsilon),
        inputs=certificate.speaks_of,
    )


def without_times(record: Record) -> Record:
    """The record without what depends on where and when."""
    return replace(
        record,
        runs=tuple(replace(run, times={}) for run in record.runs),
        environment=Environment(),
    )


def encode_record(record: Any) -> bytes:
    """A record as JSON."""
    return msgspec.json.format(msgspec.json.encode(record), indent=2)


def decode_record(data: bytes) -> Record:
    """The record of JSON; raises msgspec.DecodeError or ValidationError."""
    return msgspec.json.decode(data, type=Record)
