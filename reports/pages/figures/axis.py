"""Axes of figures: from where to where, and the labels between; whole numbers where all data are.

Labels are spaced for the widest digits that a page sets, those of a phone.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from rnnbounds.reports.pages.figures.quiet import quiet_matplotlib

DIGIT_WIDTH = 7.9  # units of width that a character of a label takes on a phone, the largest
X_LENGTH = 350  # units that are sure for the x axis
MOST_LABELS = 7  # labels of one axis
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
Tick = tuple[float, str]


@dataclass(frozen=True)
class Axis:
    """One side of a figure: its title, the numbers at both ends, and labels at some between."""

    title: str
    low: float
    high: float
    ticks: Sequence[Tick] = ()


def linear_axis(title: str, values: Iterable[float], length: float = math.inf) -> Axis:
    """The axis that holds these finite numbers, its labels apart on so many units of length."""
    numbers = list(values)
    if not numbers:
        return Axis(title, 0, 1)
    with quiet_matplotlib():
        from matplotlib.ticker import MaxNLocator
        from matplotlib.transforms import nonsingular

        low, high = nonsingular(min(numbers), max(numbers), expander=0.05)
        margin = 0.03 * (high - low)
        low, high = low - margin, high + margin
        are_whole = all(value == round(value) for value in numbers)
        for count in range(MOST_LABELS, 0, -1):
            locator = MaxNLocator(count, integer=are_whole, steps=[1, 2, 2.5, 5, 10], min_n_ticks=1)
            ticks = _label_ticks([v for v in locator.tick_values(low, high) if low <= v <= high])
            widest = max((len(label) for _, label in ticks), default=0)
            if len(ticks) < 2 or _tick_step(ticks) / (high - low) * length >= DIGIT_WIDTH * (
                widest + 1
            ):
                break
    return Axis(title, low, high, ticks)


def logarithmic_axis(title: str, logarithms: Iterable[float]) -> Axis:
    """The axis of logarithms to the base ten; labels at whole powers alone, six at most."""
    values = list(logarithms)
    if not values:
        return Axis(title, 0, 1)
    first, last = math.floor(min(values)), math.ceil(max(values))
    step = max(1, -(-(last - first) // 5))
    powers = range(last - step * -(-(last - first) // step), last + 1, step)
    ticks = [(float(power), power_label(power)) for power in powers]
    half = 0.5 if first == last else 0.0
    return Axis(title, powers[0] - half, last + half, ticks)


def power_label(power: int) -> str:
    """A power of ten as it stands at an axis."""
    return {0: "1", 1: "10", -1: "0.1"}.get(power, f"10{str(power).translate(_SUPERSCRIPTS)}")


def short_number(number: Decimal) -> str:
    """12,000, 0.25, −3, and 2·10⁻⁷ or 10⁶ where that would be long."""
    power = number.adjusted()
    if not number or -4 <= power < 6:
        return f"{number.normalize():,f}".replace("-", "−")
    mantissa = number.scaleb(-power).normalize()
    times = f"{mantissa:f}·"
    times = times[:-2] if abs(mantissa) == 1 else times
    return times.replace("-", "−") + power_label(power)


def _label_ticks(spots: Sequence[float]) -> list[Tick]:
    """The places with the fewest digits that tell each from its neighbours, to a thousandth."""
    if not spots:
        return []
    step = min((b - a for a, b in pairwise(spots)), default=1.0)
    exact = [0.0 if abs(spot) < step / 1e3 else float(spot) for spot in spots]
    for digits in range(17):
        texts = [f"{spot:.{digits}e}" for spot in exact]
        if all(abs(float(t) - p) <= step / 1e3 for t, p in zip(texts, exact, strict=True)):
            break
    return [(spot, short_number(Decimal(text))) for spot, text in zip(exact, texts, strict=True)]


def _tick_step(ticks: Sequence[Tick]) -> float:
    return ticks[1][0] - ticks[0][0]
