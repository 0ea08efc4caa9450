"""The record that experiments write: all runs of all seeds, and what they come to.

All but the environment is a function of settings, data and device. What is not finite is null.
"""

import math
from collections.abc import Sequence
from statistics import fmean, stdev
from types import GenericAlias
from typing import Any, Literal

import msgspec

from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.numbers.json_values import finite_or_none
from rnnbounds.reports.records.record import Environment
from rnnbounds.reports.text import NOTHING, ratio_text

Holds = Literal["holds", "does not hold", "undecided"]
EPSILON = 1e-2
LAM, WINDOW = "certified λ", f"certified k at ε = {EPSILON:g}"


def make_setting(**sizes: Any) -> Any:
    """Settings of a run from `seed` on, of so many `seeds`; sizes by default are each a number or a
    tuple of one type."""
    fields = [
        (name, GenericAlias(tuple, (type(v[0]), ...)) if isinstance(v, tuple) else type(v), v)
        for name, v in {"seed": 0, "seeds": 3, **sizes}.items()
    ]
    return msgspec.defstruct("Setting", fields, frozen=True, kw_only=True)()


Curve = list[tuple[float, float | None]]


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
    """One experiment, run."""

    schema: str = "rnnbounds/experiment/4"
    name: str
    settings: dict[str, Any]
    sources: dict[str, str]
    outcome: Outcome
    runs: tuple[Run, ...]
    environment: Environment


def make_curve(x: Sequence[float], y: Sequence[float]) -> Curve:
    """Points (x, y) as they are recorded, y null where it is not finite."""
    return [(float(a), finite_or_none(float(b))) for a, b in zip(x, y, strict=True)]


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


def _values(runs: Sequence[Run], name: str) -> list[float | None]:
    """A figure of runs; the first one if none is named."""
    return [run.figures.get(name or next(iter(run.figures))) for run in runs]


def mean_score(runs: Sequence[Run], name: str = "") -> float:
    """The mean of a figure of which less is better, the first if none is named; ∞ if unknown."""
    return fmean(math.inf if value is None else value for value in _values(runs, name))


def score_text(runs: Sequence[Run], name: str = "") -> str:
    """Mean ± standard deviation of a figure over the seeds that have it; how many these are."""
    values = _values(runs, name)
    known = [value for value in values if value is not None]
    if not known:
        return NOTHING
    text = _text(fmean(known))
    if len(set(known)) > 1:
        text += f" ± {_text(float(f'{stdev(known):.2g}'))}"
    return text if len(known) == len(values) else f"{text} ({len(known)} of {len(values)})"


def _text(value: float) -> str:
    """A figure: a whole number in all its digits."""
    whole = abs(value) < 1e9 and value == int(value)
    return f"{value:.0f}".replace("-", "−") if whole else ratio_text(value)


def worst_text(runs: Sequence[Run], name: str) -> str:
    """The model and variant with the greatest mean of a figure, in words."""
    groups = group_runs(runs)
    label = max(groups, key=lambda key: mean_score(groups[key], name))
    return f"{' '.join(label)} {score_text(groups[label], name)}"
