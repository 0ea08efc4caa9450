"""Lines and clouds of points against an axis: figures of experiments, and curves of claims."""

import math
from collections.abc import Iterable, Sequence

import pygal
from markupsafe import Markup

from reports.errors import InputError
from reports.pages.figures.drawing import decades, drawn, options
from reports.pages.figures.figure import Series

MOST = 6
"""Lines in one figure: so many colours can be told apart by everybody."""
Point = tuple[float, float | None]


class FigureError(InputError):
    """Data that cannot be drawn."""


def plot(
    series: Sequence[Series],
    *,
    x_label: str,
    y_label: str,
    log_y: bool = False,
    summary: str = "",
    height: int = 230,
) -> Markup:
    """The series as one <svg>, at most six of them, in the order of the legend.

    Points that are not finite leave gaps, on a logarithmic axis those that are not positive too.
    Raises FigureError for more than six series, and for one whose x and y differ in length.
    """
    if not 1 <= len(series) <= MOST:
        raise FigureError(f"{len(series)} series in one figure; draw between one and six")
    lines = [_points(line, line.y, log_y) for line in series]
    heights = [y for line in lines for _, y in line if y is not None]
    bands = [_band(line, log_y) for line in series]
    heights += [y for band in bands for _, y in band if y is not None]
    chart = pygal.XY(
        x_title=x_label, y_title=y_label, height=height, value_formatter=lambda value: f"{value:g}",
        y_labels=decades(min(heights), max(heights)) if log_y and heights else None,
        **{name: value for name, value in options().items() if name != "height"},
    )  # fmt: skip
    looks = []
    for number, (line, points, band) in enumerate(zip(series, lines, bands, strict=True), 1):
        if band:
            chart.add("", band, fill=True, show_dots=False)
            looks.append(f"s{number} band")
        cloud = line.style == "points"
        chart.add("", points, stroke=not cloud, show_dots=cloud, allow_interruptions=True)
        looks.append(f"s{number} {line.style}")
    names = ", ".join(line.label for line in series)
    return drawn(chart, summary or f"{y_label} against {x_label}: {names}", looks)


def _points(line: Series, heights: Iterable[float], log_y: bool) -> list[Point]:
    if len(line.x) != len(line.y):
        raise FigureError(f"{line.label}: {len(line.x)} x for {len(line.y)} y; pair them")
    return [(float(x), _height(y, log_y)) for x, y in zip(line.x, heights, strict=True)]


def _band(line: Series, log_y: bool) -> list[Point]:
    """The outline of what lies within the spread about y, there and back: on a logarithmic axis as
    far below as above, where a spread larger than y has no end."""
    if line.spread is None:
        return []
    if len(line.spread) != len(line.y):
        raise FigureError(f"{line.label}: {len(line.spread)} spreads; give one a point")
    pairs = list(zip(line.y, line.spread, strict=True))
    above = _points(line, [y + s for y, s in pairs], log_y)
    lower = [y * (y / (y + s)) if log_y and y + s > 0 else y - s for y, s in pairs]
    below = _points(line, lower, log_y)
    outline = [*above, *reversed(below)]
    return [point for point in outline if point[1] is not None]


def _height(y: float, log_y: bool) -> float | None:
    if not math.isfinite(y) or (log_y and y <= 0):
        return None
    return math.log10(y) if log_y else float(y)
