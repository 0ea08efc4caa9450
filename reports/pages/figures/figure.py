"""Lines of a figure, as plain numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Series:
    """One line or cloud of points; `x` and `y` have the same length. A dotted one is a line with a
    dot at each point.

    `spread`, of that length too, is shaded about y on both sides.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    style: Literal["line", "dashed", "dotted", "points"] = "line"
    spread: Sequence[float] | None = None
