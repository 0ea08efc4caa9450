"""Lines and clouds of points against an axis: figures of experiments, and curves of claims."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from rnnbounds.reports.pages.figures.axis import X_LENGTH, linear_axis, logarithmic_axis
from rnnbounds.reports.pages.figures.drawing import Point, Shape, draw_svg
from rnnbounds.reports.pages.figures.quiet import FigureError

MOST_SERIES = 6
"""Lines in one figure: so many colours can be told apart by everybody."""
LARGEST_VALUE = 1e300  # beyond, the length of an axis may be no float


@dataclass(frozen=True)
class Series:
    """One line or cloud of points; `x` and `y` have the same length."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    style: Literal["line", "dashed", "points"] = "line"


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
        cloud = line.style == "points"
        dots = [[point] for run in runs for point in run if cloud or len(run) == 1]
        lines = [] if line.style == "points" else [run for run in runs if len(run) > 1]
        shapes += [Shape(f"s{number} {line.style}", lines), Shape(f"s{number} points", dots)]
    xs, ys = ([p[i] for s in shapes for run in s.outlines for p in run] for i in (0, 1))
    names = ", ".join(line.label for line in series)
    x = linear_axis(x_label, xs, X_LENGTH)
    y = (logarithmic_axis if log_y else linear_axis)(y_label, ys)
    return draw_svg(shapes, x, y, summary or f"{y_label} against {x_label}: {names}")


def _series_points(line: Series, log_y: bool) -> list[Point | None]:
    """The points as they are drawn, None for each gap."""
    if len(line.x) != len(line.y):
        raise FigureError(f"{line.label}: {len(line.x)} x for {len(line.y)} y; pair them")
    return [_axis_point(x, y, log_y) for x, y in zip(line.x, line.y, strict=True)]


def _split_at_gaps(points: Iterable[Point | None]) -> list[list[Point]]:
    """The points between gaps."""
    runs: list[list[Point]] = [[]]
    for point in points:
        if point is None:
            runs.append([])
        else:
            runs[-1].append(point)
    return [run for run in runs if run]


def _axis_point(x: float, y: float, log_y: bool) -> Point | None:
    if not (abs(x) <= LARGEST_VALUE and abs(y) <= LARGEST_VALUE) or (log_y and y <= 0):
        return None
    return float(x), math.log10(y) if log_y else float(y)
