"""What the page reads off a curve, and how its numbers are written."""

import math
from collections.abc import Sequence
from statistics import fmean

from reports.pages.text import error, ratio
from rnnbounds.experiments.engine.common import logarithmic
from rnnbounds.experiments.gradients.record import Closeness, Curve, Descent

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LARGEST = 300.0  # log₁₀ of what is drawn and written as a float


def vacuous(run: Closeness, told: Descent, index: int) -> bool:
    """Whether the bound at one window is above the diameter of the set of weights, somewhere."""
    return any(
        not bounds[index] <= math.log10(diameter)
        for bounds, diameter in zip(
            told.weights.log10_bound, run.constants["diameter"], strict=True
        )
    )


def used(curve: Curve) -> float:
    """The largest observed gap as a part of its bound."""
    shares = [
        math.log10(gap) - bound
        for gaps, bounds in zip(curve.observed, curve.log10_bound, strict=True)
        for gap, bound in zip(gaps, bounds, strict=True)
        if gap > 0
    ]
    return math.pow(10.0, min(max(shares, default=-math.inf), _LARGEST))


def columns(curve: Curve) -> list[tuple[float, ...]]:
    """The observed gaps, window by window."""
    return list(zip(*curve.observed, strict=True))


def mean(curve: Curve) -> list[float]:
    """The mean observed gap, window by window."""
    return [fmean(column) for column in columns(curve)]


def mean_bound(curve: Curve) -> list[float]:
    """The mean bound, window by window, infinite beyond floats."""
    return [
        fmean([10.0**bound if bound < _LARGEST else math.inf for bound in column])
        for column in zip(*curve.log10_bound, strict=True)
    ]


def cloud(windows: Sequence[int], curve: Curve) -> tuple[list[float], list[float]]:
    """Every observed gap as a point."""
    points = [(k, gap) for row in curve.observed for k, gap in zip(windows, row, strict=True)]
    return [float(k) for k, _ in points], logarithmic([gap for _, gap in points])


def flat_from(means: Sequence[float]) -> int | None:
    """The first window, not the last, after which no mean but 0 is below a tenth of its own."""
    for index, value in enumerate(means[:-1]):
        if all(later > value / 10 or later == 0 for later in means[index + 1 :]):
            return index
    return None


def short(value: float) -> str:
    """Two digits."""
    return ratio(float(f"{value:.1e}"))


def power(log10: float) -> str:
    """A bound given by its log₁₀, to two digits, rounded up; of huge ones the power alone."""
    if not math.isfinite(log10):
        return "∞"
    if log10 < _LARGEST:
        return error(10.0**log10 * (1 + 2.0**-40))
    return f"10{str(math.ceil(log10)).translate(_SUPERSCRIPTS)}"
