"""Charts of a claim's checks: the histogram of lhs/rhs, and left sides beside their bounds."""

import math

from markupsafe import Markup

from rnnbounds.reports.pages.figures.axis import DIGIT, MOST, Axis, Tick
from rnnbounds.reports.pages.figures.drawing import RIGHT, WIDTH, Shape, draw, left_of
from rnnbounds.reports.pages.figures.plot import Series, plot
from rnnbounds.reports.pages.text import above, count, scientific, short_count
from rnnbounds.reports.records.curve import Curve
from rnnbounds.reports.records.record import Histogram

AXES = {"k": "window k, steps", "N": "N, steps of descent", "T": "T, steps"}


def chart(histogram: Histogram) -> Markup:
    """The histogram as a figure: equal bins from left (slack) to right (tight), heights
    logarithmic in the count, bins beyond 1 apart."""
    edges, counts = histogram.edges, histogram.counts
    beyond = [index > 0 and edges[index - 1] >= 1 for index in range(len(counts))]
    tall = [math.log10(1 + number) for number in counts]
    orders = len(str(max(*counts, 1)))
    powers = [10**power for power in range(0, orders, -(-orders // MOST))]
    y = Axis("checks", 0, max(tall) or 1, [(math.log10(1 + p), short_count(p)) for p in powers])
    title = "lhs/rhs: slack to the left, tight to the right"
    x = Axis(title, 0, len(counts), _spread([_edge(edge) for edge in edges], left_of(y)))
    bars = [
        Shape(
            look,
            [
                [(i + 0.05, 0), (i + 0.05, tall[i]), (i + 0.95, tall[i]), (i + 0.95, 0)]
                for i in range(len(counts))
                if tall[i] and beyond[i] == side
            ],
            closed=True,
        )
        for look, side in (("bar", False), ("bar beyond", True))
    ]
    total = sum(counts)
    summary = (
        f"Histogram of lhs/rhs of {count(total)} checks: {count(_above(histogram, 0.9))} above 0.9,"
        f" {count(_above(histogram, 0.999))} above 0.999, {count(_above(histogram, 1.0))} above 1;"
        f" {count(histogram.unmeasured)} more have no ratio."
    )
    return draw(bars, x, y, summary)


def curve_plot(curve: Curve) -> Markup:
    """The largest left side that was seen at each k (or N, or T), under its bound."""
    at = [point.at for point in curve.points]
    lhs, rhs = ([float(getattr(p, side)) for p in curve.points] for side in ("lhs", "rhs"))
    series = [Series("its bound", at, rhs), Series("largest seen", at, lhs, "points")]
    summary = (
        f"The largest left side seen at {len(at)} values of {curve.against} and its bound, from"
        f" {above(lhs[0], 3)} under {above(rhs[0], 3)} at {curve.against} = {at[0]} to"
        f" {above(lhs[-1], 3)} under {above(rhs[-1], 3)} at {curve.against} = {at[-1]}."
    )
    return plot(
        series, x_label=AXES[curve.against], y_label="both sides", log_y=True, summary=summary
    )


def _above(histogram: Histogram, edge: float) -> int:
    """The checks in bins that lie wholly above an edge."""
    pairs = zip(histogram.edges, histogram.counts[1:], strict=True)
    return sum(number for low, number in pairs if low >= edge)


def _spread(names: list[str], left: float) -> list[Tick]:
    """The labels of the edges that fit, from the right, where the bounds are tight."""
    ticks: list[Tick] = []
    width = (WIDTH - left - RIGHT) / (len(names) + 1)
    free = math.inf
    for index in reversed(range(len(names))):
        at, half = (index + 1) * width, DIGIT * len(names[index]) / 2
        if at + half <= free:
            ticks.append((index + 1, names[index]))
            free = at - half - 4
    return ticks[::-1]


def _edge(edge: float) -> str:
    if 0 < edge < 1e-2:
        mantissa, power = scientific(edge, 1).split("·")
        return power if mantissa == "1" else f"{mantissa}·{power}"
    return f"{edge:g}"
