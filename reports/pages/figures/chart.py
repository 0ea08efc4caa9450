"""What was seen of a claim, drawn: the histogram of lhs/rhs, and the curves under their bounds."""

import math

import pygal
from markupsafe import Markup

from reports.pages.figures.drawing import WIDTH, drawn, options
from reports.pages.figures.figure import Series
from reports.pages.figures.plot import plot
from reports.pages.text import above, count, scientific, short_count
from reports.records.curve import Curve
from reports.records.record import Histogram

AXES = {"k": "window k, steps", "N": "N, steps of descent", "T": "T, steps"}
_DIGIT = 7.9  # units of width that a character of a label takes on a phone, the largest


def chart(histogram: Histogram) -> Markup:
    """The histogram as a figure: equal bins from left (slack) to right (tight), heights
    logarithmic in the count, bins beyond 1 apart."""
    edges, counts = histogram.edges, histogram.counts
    beyond = [index > 0 and edges[index - 1] >= 1 for index in range(len(counts))]
    tall = [math.log10(1 + number) for number in counts]
    powers = [10**power for power in range(len(str(max(*counts, 1))))]
    drawing = pygal.Histogram(
        x_title="lhs/rhs: slack to the left, tight to the right", y_title="checks",
        x_labels=_spread([_edge(edge) for edge in edges]),
        y_labels=[{"label": short_count(p), "value": math.log10(1 + p)} for p in powers],
        range=(0, max(tall) or 1), xrange=(0, len(counts)), **options(),
    )  # fmt: skip
    for side in (False, True):
        bars = [(tall[i], i + 0.05, i + 0.95) for i in range(len(counts)) if beyond[i] == side]
        drawing.add("", [bar for bar in bars if bar[0]])
    total = sum(counts)
    summary = (
        f"Histogram of lhs/rhs of {count(total)} checks: {count(_above(histogram, 0.9))} above 0.9,"
        f" {count(_above(histogram, 0.999))} above 0.999, {count(_above(histogram, 1.0))} above 1;"
        f" {count(histogram.unmeasured)} more have no ratio."
    )
    return drawn(drawing, summary, ("bar", "bar beyond"))


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


def _spread(names: list[str]) -> list[dict[str, object]]:
    """The labels of the edges that fit, from the right, where the bounds are tight."""
    ticks: list[dict[str, object]] = []
    width = (WIDTH - 50) / (len(names) + 1)
    free = math.inf
    for index in reversed(range(len(names))):
        at, half = (index + 1) * width, _DIGIT * len(names[index]) / 2
        if at + half <= free:
            ticks.append({"label": names[index], "value": index + 1})
            free = at - half - 4
    return ticks[::-1]


def _edge(edge: float) -> str:
    if 0 < edge < 1e-2:
        mantissa, power = scientific(edge, 1).split("·")
        return power if mantissa == "1" else f"{mantissa}·{power}"
    return f"{edge:g}"
