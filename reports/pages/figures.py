"""Figures of pages: curves under their bounds, and brackets of memories."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby, pairwise
from typing import Literal

from markupsafe import Markup

from rnnbounds.reports.pages.svg import (
    BOTTOM,
    DIGIT,
    TOP,
    Axis,
    FigureError,
    Point,
    Shape,
    Tick,
    draw_svg,
    quiet_matplotlib,
)
from rnnbounds.reports.records.checks import Curve
from rnnbounds.reports.text import SUPERSCRIPTS, bound_text

MOST_SERIES = 6
"""Lines in one figure: so many colours can be told apart by everybody."""
MOST_BARS = 6  # of one figure
_X_LENGTH = 350  # units that are sure for the x axis
_MOST_LABELS = 7  # of one axis
_LARGEST = 1e300  # beyond, the length of an axis may be no float
_HALF_BAR, _BAR_HEIGHT = 0.32, 38  # half of a bar, rows being 1 apart; units of height of a row
_MOST_SHORT = 3  # times the largest k that will do: so far a bar of k that will not do is drawn
_HALF_CAP = 0.011  # half of a cap, as a share of the width of the data
CURVE_AXES = {"k": "window k, steps", "N": "N, steps of descent", "T": "T, steps"}


@dataclass(frozen=True)
class Series:
    """One line, cloud of points, or caps, which are strokes that no line connects; `x` and `y` have
    the same length.

    colour: a class of the style sheet, so that one kind of answer looks the same on all pages;
    without one it is that of the place in the figure.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    style: Literal["line", "dashed", "points", "caps"] = "line"
    colour: str = ""


@dataclass(frozen=True)
class Bracket:
    """One bar: no k below `refuted_below` will do (0: none is refuted), any k from `certified_from`
    on will (None: none is certified); the k that was `seen`, and the one proved `near`
    some data, which `near_data` names."""

    label: str
    refuted_below: int = 0
    certified_from: int | None = None
    seen: int | None = None
    near: int | None = None
    near_data: str = "data"

    @property
    def enough(self) -> tuple[int, ...]:
        """The k that will do, for all inputs or some."""
        return tuple(k for k in (self.certified_from, self.seen, self.near) if k is not None)

    @property
    def summary(self) -> str:
        """The bar in words."""
        parts = [f"no k below {self.refuted_below} will do"] if self.refuted_below else []
        near = f"proved near {self.near_data}"
        told = {"seen": self.seen, near: self.near, "certified": self.certified_from}
        parts += [f"k = {k} is {how}" for how, k in told.items() if k is not None]
        return f"{self.label}: {', '.join(parts) or 'nothing is known'}"


def draw_plot(
    series: Sequence[Series], *, x_label: str, y_label: str, log_y: bool = False,
    summary: str = "",
) -> Markup:  # fmt: skip
    """The series as one <svg>, at most six of them, in the order of the legend.

    Points that are not finite, or beyond 1e300, leave gaps; on a logarithmic axis those that are
    not positive too. Raises FigureError for more than six series, and for one whose x and y differ
    in length.
    """
    if not 1 <= len(series) <= MOST_SERIES:
        raise FigureError(f"{len(series)} series in one figure; draw between one and six")
    shapes = []
    for number, line in enumerate(series, 1):
        runs = _split_at_gaps(_series_points(line, log_y))
        cloud, points = line.style in ("points", "caps"), [point for run in runs for point in run]
        dots = [[point] for run in runs for point in run if cloud or len(run) == 1]
        lines = [] if cloud else [run for run in runs if len(run) > 1]
        if line.style == "caps" and points:
            half = _HALF_CAP * (max(points)[0] - min(points)[0]) or 0.5
            dots, lines = [], [[(x - half, y), (x + half, y)] for x, y in points]
        colour = line.colour or f"s{number}"
        shapes += [Shape(f"{colour} {line.style}", lines), Shape(f"{colour} points", dots)]
    xs, ys = ([p[i] for s in shapes for run in s.outlines for p in run] for i in (0, 1))
    names = ", ".join(line.label for line in series)
    x = _linear_axis(x_label, xs, _X_LENGTH)
    y = (_logarithmic_axis if log_y else _linear_axis)(y_label, ys)
    return draw_svg(shapes, x, y, summary or f"{y_label} against {x_label}: {names}")


def curve_plot(curve: Curve) -> Markup:
    """The largest left side that was seen at each k (or N, or T), under its bound."""
    at = [point.at for point in curve.points]
    lhs, rhs = ([float(getattr(p, side)) for p in curve.points] for side in ("lhs", "rhs"))
    series = [
        Series("its bound", at, rhs, "caps", "enough"),
        Series("largest seen", at, lhs, "points", "seen"),
    ]
    summary = (
        f"The largest left side seen at {len(at)} values of {curve.against} and its bound, from"
        f" {bound_text(lhs[0], 3)} under {bound_text(rhs[0], 3)} at {curve.against} = {at[0]} to"
        f" {bound_text(lhs[-1], 3)} under {bound_text(rhs[-1], 3)} at {curve.against} = {at[-1]}."
    )
    labels = {"x_label": CURVE_AXES[curve.against], "y_label": "both sides"}
    return draw_plot(series, **labels, log_y=True, summary=summary)


def draw_brackets(bars: Sequence[Bracket]) -> Markup:
    """At most six bars as one <svg>, the first above, from k = 0 to beyond the largest k that is
    known to do; a bar whose k are refuted far beyond that is cut off at the end of the axis."""
    drawn_bars = bars[:MOST_BARS]
    enough = max([1, *(k for bar in drawn_bars for k in bar.enough)])
    short = max((bar.refuted_below for bar in drawn_bars), default=0)
    largest = max(enough, min(short, _MOST_SHORT * enough))
    end = 1.15 * largest
    ticks = _linear_axis("", [0, largest], _X_LENGTH).ticks
    x = Axis("window k, steps", 0, end, [tick for tick in ticks if 0 <= tick[0] <= end])
    rows = {len(drawn_bars) - 1 - place: bar for place, bar in enumerate(drawn_bars)}
    y = Axis("", -0.6, len(drawn_bars) - 0.4, [(row, bar.label) for row, bar in rows.items()])
    looks: dict[str, list[list[Point]]] = {
        look: [] for look in ("short", "open", "enough", "seen", "near")
    }
    for row, bar in rows.items():
        foot, head = row - _HALF_BAR, row + _HALF_BAR
        middle = end if bar.certified_from is None else bar.certified_from
        ends = (0, min(bar.refuted_below, end), middle, end)
        for look, (low, high) in zip(looks, pairwise(ends), strict=False):
            if low < high:
                looks[look].append([(low, foot), (low, head), (high, head), (high, foot)])
        for look, k, low, high in (("seen", bar.seen, row, head), ("near", bar.near, foot, row)):
            if k is not None:
                half = _HALF_CAP * end / 2
                looks[look].append(
                    [(k - half, low), (k - half, high), (k + half, high), (k + half, low)]
                )
    shapes = [
        Shape(f"{look} block", outlines, closed=True)
        for look, outlines in looks.items()
        if outlines
    ]
    height = TOP + BOTTOM + _BAR_HEIGHT * len(drawn_bars)
    return draw_svg(shapes, x, y, "; ".join(bar.summary for bar in drawn_bars), height)


def _series_points(line: Series, log_y: bool) -> list[Point | None]:
    """The points as they are drawn, None for each gap."""
    if len(line.x) != len(line.y):
        raise FigureError(f"{line.label}: {len(line.x)} x for {len(line.y)} y; pair them")
    return [
        None
        if not (abs(x) <= _LARGEST and abs(y) <= _LARGEST) or (log_y and y <= 0)
        else (float(x), math.log10(y) if log_y else float(y))
        for x, y in zip(line.x, line.y, strict=True)
    ]


def _split_at_gaps(points: Iterable[Point | None]) -> list[list[Point]]:
    """The points between gaps."""
    groups = groupby(points, key=lambda point: point is None)
    return [[point for point in group if point] for gap, group in groups if not gap]


def _linear_axis(title: str, values: Iterable[float], length: float = math.inf) -> Axis:
    """The axis that holds these finite numbers, its labels apart on so many units of length; whole
    numbers where all data are."""
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
        for count in range(_MOST_LABELS, 0, -1):
            locator = MaxNLocator(count, integer=are_whole, steps=[1, 2, 2.5, 5, 10], min_n_ticks=1)
            ticks = _label_ticks([v for v in locator.tick_values(low, high) if low <= v <= high])
            needed = DIGIT * (1 + max((len(label) for _, label in ticks), default=0))
            if len(ticks) < 2 or (ticks[1][0] - ticks[0][0]) / (high - low) * length >= needed:
                break
    return Axis(title, low, high, ticks)


def _logarithmic_axis(title: str, logarithms: Iterable[float]) -> Axis:
    """The axis of logarithms to the base ten; labels at whole powers alone, six at most."""
    values = list(logarithms)
    if not values:
        return Axis(title, 0, 1)
    first, last = math.floor(min(values)), math.ceil(max(values))
    step = max(1, -(-(last - first) // 5))
    powers = range(last - step * -(-(last - first) // step), last + 1, step)
    ticks = [(float(power), _power_label(power)) for power in powers]
    half = 0.5 if first == last else 0.0
    return Axis(title, powers[0] - half, last + half, ticks)


def _power_label(power: int) -> str:
    return {0: "1", 1: "10", -1: "0.1"}.get(power, f"10{str(power).translate(SUPERSCRIPTS)}")


def _short_number(number: Decimal) -> str:
    """12,000, 0.25, −3, and 2·10⁻⁷ or 10⁶ where that would be long."""
    power = number.adjusted()
    if not number or -4 <= power < 6:
        return f"{number.normalize():,f}".replace("-", "−")
    mantissa = number.scaleb(-power).normalize()
    times = f"{mantissa:f}·"
    times = times[:-2] if abs(mantissa) == 1 else times
    return times.replace("-", "−") + _power_label(power)


def _label_ticks(spots: Sequence[float]) -> list[Tick]:
    """The places with the fewest digits that tell each from its neighbours, to a thousandth."""
    step = min((b - a for a, b in pairwise(spots)), default=1.0)
    exact = [0.0 if abs(spot) < step / 1e3 else float(spot) for spot in spots]
    texts: list[str] = []
    for digits in range(17):
        texts = [f"{spot:.{digits}e}" for spot in exact]
        if all(abs(float(t) - p) <= step / 1e3 for t, p in zip(texts, exact, strict=True)):
            break
    return [(spot, _short_number(Decimal(text))) for spot, text in zip(exact, texts, strict=True)]
