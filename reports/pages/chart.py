"""The geometry of a histogram of lhs/rhs; the template draws it, in the colours of the page."""

import math
from dataclasses import dataclass

from reports.pages.text import count, short_count
from reports.records.record import Histogram

WIDTH, HEIGHT = 460.0, 196.0
LEFT, RIGHT, TOP, BOTTOM = 34.0, 8.0, 18.0, 34.0
_DIGIT = 5.6
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Bar:
    """One bin: a rectangle, the text above it, the text a pointer shows, beyond 1 or not."""

    x: float
    y: float
    width: float
    height: float
    label: str
    title: str
    beyond: bool


@dataclass(frozen=True)
class Tick:
    """A label on an axis and where it stands."""

    at: float
    label: str


@dataclass(frozen=True)
class Chart:
    """A histogram laid out; heights are logarithmic in the count."""

    bars: tuple[Bar, ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    one: float | None
    summary: str
    width: float = WIDTH
    height: float = HEIGHT
    left: float = LEFT
    right: float = WIDTH - RIGHT
    bottom: float = HEIGHT - BOTTOM


def chart(histogram: Histogram) -> Chart:
    """Lay the histogram out: equal bins from left (slack) to right (tight)."""
    edges, counts = histogram.edges, histogram.counts
    width = (WIDTH - LEFT - RIGHT) / len(counts)
    top = math.log10(1 + max(*counts, 1))
    room = HEIGHT - TOP - BOTTOM

    def height(number: int) -> float:
        return round(room * math.log10(1 + number) / top, 2)

    names = [_edge(edge) for edge in edges]
    bars = []
    for index, number in enumerate(counts):
        low = names[index - 1] if index else ""
        high = names[index] if index < len(edges) else ""
        span = f"up to {high}" if not index else f"above {low}" if not high else f"{low} to {high}"
        tall = height(number)
        bars.append(
            Bar(
                x=round(LEFT + index * width + 1, 2),
                y=round(HEIGHT - BOTTOM - tall, 2),
                width=round(width - 2, 2),
                height=tall,
                label=short_count(number) if number else "",
                title=f"{span}: {count(number)}",
                beyond=index > 0 and edges[index - 1] >= 1,
            )
        )
    powers = [10**power for power in range(len(str(max(*counts, 1))))]
    one = edges.index(1.0) if 1.0 in edges else None
    total = sum(counts)
    return Chart(
        bars=tuple(bars),
        across=_spread(tuple(names), width),
        up=tuple(Tick(round(HEIGHT - BOTTOM - height(p), 2), short_count(p)) for p in powers),
        one=None if one is None else round(LEFT + (one + 1) * width, 2),
        summary=f"Histogram of lhs/rhs of {count(total)} checks; {count(histogram.unmeasured)}"
        " more have no ratio.",
    )


def _spread(names: tuple[str, ...], width: float) -> tuple[Tick, ...]:
    """The labels of the edges that fit, from the right, where the bounds are tight."""
    ticks: list[Tick] = []
    free = WIDTH
    for index in reversed(range(len(names))):
        at = LEFT + (index + 1) * width
        half = _DIGIT * len(names[index]) / 2
        if at + half <= free:
            ticks.append(Tick(round(at, 2), names[index]))
            free = at - half - 4
    return tuple(reversed(ticks))


def _edge(edge: float) -> str:
    if 0 < edge < 1e-2:
        mantissa, power = f"{edge:.0e}".split("e")
        exponent = str(int(power)).translate(_SUPERSCRIPTS)
        return f"10{exponent}" if mantissa == "1" else f"{mantissa}·10{exponent}"
    return f"{edge:g}"
