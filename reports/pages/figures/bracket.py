"""The bracket of a memory: which windows are proved too short, and which are proved long enough."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from rnnbounds.reports.pages.figures.axis import X_LENGTH, Axis, linear_axis
from rnnbounds.reports.pages.figures.drawing import BOTTOM, TOP, Shape, draw_svg

MOST_BARS = 6  # of one figure
_HALF = 0.32  # of a bar's height, the rows being 1 apart
_ROW_HEIGHT = 38  # units of height


@dataclass(frozen=True)
class Bracket:
    """One bar: no k below `least` will do (0: none is refuted), any k from `enough` on will (None:
    none is certified)."""

    label: str
    refuted_below: int = 0
    certified_from: int | None = None

    @property
    def summary(self) -> str:
        """The bar in words."""
        parts = [f"no k below {self.refuted_below} will do"] if self.refuted_below else []
        parts += (
            [f"k = {self.certified_from} is certified"] if self.certified_from is not None else []
        )
        return f"{self.label}: {', '.join(parts) or 'nothing is known'}"


def draw_brackets(bars: Sequence[Bracket]) -> Markup:
    """At most ROWS bars as one <svg>, the first above, from k = 0 to beyond what is known."""
    drawn_bars = bars[:MOST_BARS]
    largest = max(1, *(max(bar.refuted_below, bar.certified_from or 0) for bar in drawn_bars))
    end = 1.15 * largest
    x = linear_axis("window k, steps", [0, largest], X_LENGTH)
    x = Axis(x.title, 0, end, [tick for tick in x.ticks if 0 <= tick[0] <= end])
    rows = {len(drawn_bars) - 1 - place: bar for place, bar in enumerate(drawn_bars)}
    y = Axis("", -0.6, len(drawn_bars) - 0.4, [(row, bar.label) for row, bar in rows.items()])
    looks: dict[str, list[list[tuple[float, float]]]] = {"short": [], "open": [], "enough": []}
    for row, bar in rows.items():
        middle = end if bar.certified_from is None else bar.certified_from
        for look, low, high in (
            ("short", 0, bar.refuted_below), ("open", bar.refuted_below, middle),
            ("enough", middle, end),
        ):  # fmt: skip
            if low < high:
                looks[look].append([
                    (low, row - _HALF), (low, row + _HALF), (high, row + _HALF), (high, row - _HALF)
                ])  # fmt: skip
    shapes = [Shape(look, outlines, closed=True) for look, outlines in looks.items() if outlines]
    height = TOP + BOTTOM + _ROW_HEIGHT * len(drawn_bars)
    return draw_svg(shapes, x, y, "; ".join(bar.summary for bar in drawn_bars), height)
