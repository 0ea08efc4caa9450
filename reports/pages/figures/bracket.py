"""The bracket of a memory: which windows are proved too short, and which are proved long enough."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from rnnbounds.reports.pages.figures.axis import LENGTH, Axis, linear
from rnnbounds.reports.pages.figures.drawing import BOTTOM, TOP, Shape, draw

ROWS = 6  # of one figure
_HALF = 0.32  # of a bar's height, the rows being 1 apart
_ROW = 38  # units of height


@dataclass(frozen=True)
class Bracket:
    """One bar: no k below `least` will do (0: none is refuted), any k from `enough` on will (None:
    none is certified)."""

    label: str
    least: int = 0
    enough: int | None = None

    @property
    def summary(self) -> str:
        """The bar in words."""
        found = [f"no k below {self.least} will do"] if self.least else []
        found += [f"k = {self.enough} is certified"] if self.enough is not None else []
        return f"{self.label}: {', '.join(found) or 'nothing is known'}"


def bracket(bars: Sequence[Bracket]) -> Markup:
    """At most ROWS bars as one <svg>, the first above, from k = 0 to beyond what is known."""
    shown = bars[:ROWS]
    most = max(1, *(max(bar.least, bar.enough or 0) for bar in shown))
    end = 1.15 * most
    x = linear("window k, steps", [0, most], LENGTH)
    x = Axis(x.title, 0, end, [tick for tick in x.ticks if 0 <= tick[0] <= end])
    rows = {len(shown) - 1 - place: bar for place, bar in enumerate(shown)}
    y = Axis("", -0.6, len(shown) - 0.4, [(row, bar.label) for row, bar in rows.items()])
    looks: dict[str, list[list[tuple[float, float]]]] = {"short": [], "open": [], "enough": []}
    for row, bar in rows.items():
        top = end if bar.enough is None else bar.enough
        for look, low, high in (
            ("short", 0, bar.least), ("open", bar.least, top), ("enough", top, end)
        ):  # fmt: skip
            if low < high:
                looks[look].append([
                    (low, row - _HALF), (low, row + _HALF), (high, row + _HALF), (high, row - _HALF)
                ])  # fmt: skip
    shapes = [Shape(look, outlines, closed=True) for look, outlines in looks.items() if outlines]
    height = TOP + BOTTOM + _ROW * len(shown)
    return draw(shapes, x, y, "; ".join(bar.summary for bar in shown), height)
