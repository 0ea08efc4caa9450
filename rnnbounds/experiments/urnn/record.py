"""The record of the URNN experiment, what it says of URNNs, and what is wrong with it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean, pstdev
from typing import Literal

from reports.records.record import Environment
from rnnbounds.experiments.urnn.teacher import NEAR, Setting

SCHEMA = "rnnbounds/urnn/1"

Rows = tuple[tuple[float, ...], ...]  # a row for each realisation, in it an entry for each size
Reached = Literal["reached", "within the spread", "not reached"]


@dataclass(frozen=True)
class Curve:
    """R² of students of one kind at one SNR, on the test and on the validation sequences.

    `mean` and `spread` (the standard deviation) are those of `test` over the realisations.
    """

    kind: str
    snr: float
    test: Rows
    validation: Rows
    mean: tuple[float, ...]
    spread: tuple[float, ...]

    @classmethod
    def of(cls, kind: str, snr: float, test: Rows, validation: Rows) -> "Curve":
        """The curve with its mean and spread."""
        columns = list(zip(*test, strict=True))
        mean = tuple(fmean(column) for column in columns)
        spread = tuple(pstdev(c) if all(map(math.isfinite, c)) else math.nan for c in columns)
        return cls(kind, snr, test, validation, mean, spread)


@dataclass(frozen=True)
class Equivalent:
    """One teacher and its exact URNN, made by the converter for all inputs as large as those drawn.

    `on` are the shares of time of the teacher's units; `gap` is the largest ‖h − h_u‖ seen on the
    test sequences, certified to be at most `bound` in float64 (null where nothing finite is);
    `off` says that the further units were exactly 0 at all times. R² of both against the noisy
    outputs, an entry for each SNR.
    """

    norm: float
    on: tuple[float, ...]
    input_bound: float
    states: int
    gap: float
    bound: float | None
    off: bool
    teacher: tuple[float, ...]
    urnn: tuple[float, ...]


@dataclass(frozen=True)
class Comparison:
    """An RNN with n hidden units against the URNN with `units` ≤ 2n, chosen on validation.

    "reached": the URNN's mean test R² is at least the RNN's; "within the spread": at least that
    less the RNN's standard deviation over the realisations; else "not reached".
    """

    snr: float
    n: int
    units: int
    rnn: float
    spread: float
    urnn: float
    reached: Reached


@dataclass(frozen=True)
class Unitary:
    """One run; everything but `environment` is a function of the seed, the setting and the device.

    `ceilings` are the R² that noise allows, 1 − 1/(1 + 10^(SNR/10)), one for each SNR.
    """

    seed: int
    setting: Setting
    ceilings: tuple[float, ...]
    curves: tuple[Curve, ...]
    comparisons: tuple[Comparison, ...]
    equivalents: tuple[Equivalent, ...]
    environment: Environment
    problems: tuple[str, ...] = ()
    schema: str = field(default=SCHEMA)

    def curve(self, kind: str, snr: float) -> Curve:
        """The curve of a kind at an SNR."""
        return next(c for c in self.curves if c.kind == kind and c.snr == snr)


def ceiling(snr: float) -> float:
    """The R² of the noiseless outputs, 1 − 1/(1 + 10^(SNR/10)), SNR in dB."""
    return 1 - 1 / (1 + 10 ** (snr / 10))


def compare(rnn: Curve, urnn: Curve, hidden: Sequence[int]) -> tuple[Comparison, ...]:
    """Each RNN against the best URNN with at most twice its hidden units."""
    chosen = [fmean(column) for column in zip(*urnn.validation, strict=True)]
    found = []
    for i, n in enumerate(hidden):
        allowed = [j for j, m in enumerate(hidden) if m <= 2 * n]
        best = max(allowed, key=lambda j: chosen[j])
        reached = verdict(urnn.mean[best], rnn.mean[i], rnn.spread[i])
        told = hidden[best], rnn.mean[i], rnn.spread[i], urnn.mean[best]
        found.append(Comparison(rnn.snr, n, *told, reached))
    return tuple(found)


def verdict(urnn: float, rnn: float, spread: float) -> Reached:
    """What the means say; NaN reaches nothing."""
    if urnn >= rnn:
        return "reached"
    return "within the spread" if urnn >= rnn - spread else "not reached"


def problems(run: Unitary) -> tuple[str, ...]:
    """What fails, in words: a teacher or a student that is not what it should be.

    That trained URNNs do not reach the RNNs is an observation, and no failure.
    """
    found = []
    for r, told in enumerate(run.equivalents):
        who = f"realisation {r}"
        if not all(abs(share - run.setting.on) <= NEAR for share in told.on):
            found.append(f"{who}: a unit of the teacher is not on {run.setting.on:.0%} of the time")
        if not told.states <= 2 * run.setting.states:
            found.append(f"{who}: the exact URNN has {told.states} states")
        if not told.off:
            found.append(f"{who}: a further unit of the exact URNN is on")
        if not told.gap <= (math.inf if told.bound is None else told.bound):
            found.append(f"{who}: the exact URNN is {told.gap:g} from the teacher, not ≤ its bound")
    for curve in run.curves:
        if not all(math.isfinite(value) for row in curve.test for value in row):
            found.append(f"{curve.kind} at {curve.snr:g} dB: an R² is not finite")
    return tuple(found)
