"""Values by rows: a dot for each, and a bar at the mean of each row."""

import math
from collections.abc import Sequence
from statistics import fmean

from markupsafe import Markup

from rnnbounds.reports.pages.figures.axis import LENGTH, Axis, decades, linear
from rnnbounds.reports.pages.figures.drawing import BOTTOM, TOP, Shape, draw

ROWS = 12  # of one figure
LEGEND = (("s1", "one seed"), ("s2", "mean"))
_HALF = 0.3  # of the bar at a mean, rows being 1 apart
_ROW = 24  # units of height
_LONGEST = 26  # characters of a label
_DECADES = 3  # that the values span where their axis is logarithmic
Row = tuple[str, Sequence[float | None]]


def dots(rows: Sequence[Row], x_label: str) -> Markup:
    """At most ROWS rows as one <svg>, the first above; values that are not finite are left out."""
    shown = [(label, _finite(values)) for label, values in rows[:ROWS]]
    known = [value for _, values in shown for value in values]
    logs = bool(known) and min(known) > 0 and max(known) > 10**_DECADES * min(known)
    place = math.log10 if logs else float
    heights = range(len(shown) - 1, -1, -1)
    points = [
        [(place(value), height)]
        for height, (_, values) in zip(heights, shown, strict=True)
        for value in values
    ]
    bars = [
        [(place(fmean(values)), height - _HALF), (place(fmean(values)), height + _HALF)]
        for height, (_, values) in zip(heights, shown, strict=True)
        if values
    ]
    at = [point[0][0] for point in points]
    x = decades(x_label, at) if logs else linear(x_label, at, LENGTH - 100)
    ticks = [(height, cut(label)) for height, (label, _) in zip(heights, shown, strict=True)]
    y = Axis("", -0.6, len(shown) - 0.4, ticks)
    shapes = [Shape("s2 line", bars), Shape("s1 points", points)]
    told = "; ".join(f"{label}: {fmean(v):.4g}" if v else f"{label}: none" for label, v in shown)
    return draw(shapes, x, y, f"{x_label}, means: {told}", TOP + BOTTOM + _ROW * len(shown))


def cut(label: str) -> str:
    """The beginning of a label that is too long."""
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"


def _finite(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None and math.isfinite(value)]
