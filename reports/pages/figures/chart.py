"""Charts of a claim's checks: the histogram of lhs/rhs, and left sides beside their bounds."""

import math

from markupsafe import Markup

from rnnbounds.reports.pages.figures.axis import DIGIT_WIDTH, MOST_LABELS, Axis, Tick
from rnnbounds.reports.pages.figures.drawing import RIGHT, WIDTH, Shape, draw_svg, left_margin
from rnnbounds.reports.pages.figures.plot import Series, draw_plot
from rnnbounds.reports.pages.text import abbreviate_count, bound_text, count, scientific
from rnnbounds.reports.records.checks.curve import Curve
from rnnbounds.reports.records.record import Histogram

AXES = {"k": "window k, steps", "N": "N, steps of descent", "T": "T, steps"}


def histogram_chart(histogram: Histogram) -> Markup:
    """The histogram as a figure: equal bins from left (slack) to right (tight), heights
    logarithmic in the count, bins beyond 1 apart."""
    edges, counts = histogram.edges, histogram.counts
    is_beyond = [index > 0 and edges[index - 1] >= 1 for index in range(len(counts))]
    heights = [math.log10(1 + number) for number in counts]
    digits = len(str(max(*counts, 1)))
    powers = [10**power for power in range(0, digits, -(-digits // MOST_LABELS))]
    y = Axis(
        "checks", 0, max(heights) or 1, [(math.log10(1 + p), abbreviate_count(p)) for p in powers]
    )
    title = "lhs/rhs: slack to the left, tight to the right"
    x = Axis(
        title, 0, len(counts), _edge_ticks([_edge_label(edge) for edge in edges], left_margin(y))
    )
    bars = [
        Shape(
            look,
            [
                [(i + 0.05, 0), (i + 0.05, heights[i]), (i + 0.95, heights[i]), (i + 0.95, 0)]
                for i in range(len(counts))
                if heights[i] and is_beyond[i] == side
            ],
            closed=True,
        )
        for look, side in (("bar", False), ("bar beyond", True))
    ]
    total = sum(counts)
    summary = (
        f"Histogram of lhs/rhs of {count(total)} checks: {count(_count_above(histogram, 0.9))} "
        f"above 0.9, {count(_count_above(histogram, 0.999))} above 0.999, "
        f"{count(_count_above(histogram, 1.0))} above 1;"
        f" {count(histogram.unmeasured)} more have no ratio."
    )
    return draw_svg(bars, x, y, summary)


def curve_plot(curve: Curve) -> Markup:
    """The largest left side that was seen at each k (or N, or T), under its bound."""
    at = [point.at for point in curve.points]
    lhs, rhs = ([float(getattr(p, side)) for p in curve.points] for side in ("lhs", "rhs"))
    series = [Series("its bound", at, rhs), Series("largest seen", at, lhs, "points")]
    summary = (
        f"The largest left side seen at {len(at)} values of {curve.against} and its bound, from"
        f" {bound_text(lhs[0], 3)} under {bound_text(rhs[0], 3)} at {curve.against} = {at[0]} to"
        f" {bound_text(lhs[-1], 3)} under {bound_text(rhs[-1], 3)} at {curve.against} = {at[-1]}."
    )
    return draw_plot(
        series, x_label=AXES[curve.against], y_label="both sides", log_y=True, summary=summary
    )


def _count_above(histogram: Histogram, edge: float) -> int:
    """The checks in bins that lie wholly above an edge."""
    pairs = zip(histogram.edges, histogram.counts[1:], strict=True)
    return sum(number for lower, number in pairs if lower >= edge)


def _edge_ticks(names: list[str], left_edge: float) -> list[Tick]:
    """The labels of the edges that fit, from the right, where the bounds are tight."""
    ticks: list[Tick] = []
    width = (WIDTH - left_edge - RIGHT) / (len(names) + 1)
    next_free = math.inf
    for index in reversed(range(len(names))):
        at, half = (index + 1) * width, DIGIT_WIDTH * len(names[index]) / 2
        if at + half <= next_free:
            ticks.append((index + 1, names[index]))
            next_free = at - half - 4
    return ticks[::-1]


def _edge_label(edge: float) -> str:
    if 0 < edge < 1e-2:
        mantissa, power = scientific(edge, 1).split("·")
        return power if mantissa == "1" else f"{mantissa}·{power}"
    return f"{edge:g}"
