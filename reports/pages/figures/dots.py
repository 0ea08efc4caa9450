"""Values by rows: a dot for each, and a bar at the mean of each row."""

import math
from collections.abc import Sequence
from statistics import fmean

from markupsafe import Markup

from rnnbounds.reports.pages.figures.axis import X_LENGTH, Axis, linear_axis, logarithmic_axis
from rnnbounds.reports.pages.figures.drawing import BOTTOM, TOP, Shape, draw_svg

MOST_ROWS = 12  # of one figure
LEGEND = (("s1", "one seed"), ("s2", "mean"))
_HALF = 0.3  # of the bar at a mean, rows being 1 apart
_ROW_HEIGHT = 24  # units of height
_LONGEST = 26  # characters of a label
_DECADES = 3  # that the values span where their axis is logarithmic
Row = tuple[str, Sequence[float | None]]


def draw_dots(rows: Sequence[Row], x_label: str) -> Markup:
    """At most ROWS rows as one <svg>, the first above; values that are not finite are left out."""
    dotted = [(label, _finite_values(values)) for label, values in rows[:MOST_ROWS]]
    finite = [value for _, values in dotted for value in values]
    logarithmic = bool(finite) and min(finite) > 0 and max(finite) > 10**_DECADES * min(finite)
    scale = math.log10 if logarithmic else float
    heights = range(len(dotted) - 1, -1, -1)
    points = [
        [(scale(value), height)]
        for height, (_, values) in zip(heights, dotted, strict=True)
        for value in values
    ]
    bars = [
        [(scale(fmean(values)), height - _HALF), (scale(fmean(values)), height + _HALF)]
        for height, (_, values) in zip(heights, dotted, strict=True)
        if values
    ]
    at = [point[0][0] for point in points]
    x = logarithmic_axis(x_label, at) if logarithmic else linear_axis(x_label, at, X_LENGTH - 100)
    ticks = [
        (height, shorten_label(label)) for height, (label, _) in zip(heights, dotted, strict=True)
    ]
    y = Axis("", -0.6, len(dotted) - 0.4, ticks)
    shapes = [Shape("s2 line", bars), Shape("s1 points", points)]
    means = "; ".join(f"{label}: {fmean(v):.4g}" if v else f"{label}: none" for label, v in dotted)
    return draw_svg(
        shapes, x, y, f"{x_label}, means: {means}", TOP + BOTTOM + _ROW_HEIGHT * len(dotted)
    )


def shorten_label(label: str) -> str:
    """The beginning of a label that is too long."""
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"


def _finite_values(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None and math.isfinite(value)]
