"""Figures as inline SVG: the same data gives the same bytes, in the colours of the page.

Matplotlib draws; its colours are then replaced by the page's, so that a figure is right in light
and in dark, and everything that names a time, a program or an address is left out.
"""

import io
import re
from collections.abc import Sequence
from typing import Any

import matplotlib
from markupsafe import Markup
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from reports.errors import InputError
from reports.pages.figure import Series

_INK = "#010203"
_COLOURS = {f"#0a0b{index:02x}": f"var(--series-{index})" for index in range(1, 7)}
_COLOURS[_INK] = "currentColor"
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "rnnbounds",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.15,
    "legend.frameon": False,
}
_STYLE |= dict.fromkeys(
    ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "grid.color"),
    _INK,
)


class FigureError(InputError):
    """Data that cannot be drawn."""


def plot(
    series: Sequence[Series],
    *,
    x_label: str,
    y_label: str,
    log_x: bool = False,
    log_y: bool = False,
) -> Markup:
    """The series as one <svg>, at most six of them, in the order of the legend.

    Points that are not finite leave gaps. Raises FigureError for more than six series, and for
    one whose x and y differ in length.
    """
    if not 1 <= len(series) <= 6:
        raise FigureError(f"{len(series)} series in one figure; draw between one and six")
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(6.4, 3.2), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        marks = {"line": "-", "dashed": "--", "points": "."}
        for line, colour in zip(series, _COLOURS, strict=False):
            if len(line.x) != len(line.y):
                raise FigureError(f"{line.label}: {len(line.x)} x for {len(line.y)} y; pair them")
            axes.plot(line.x, line.y, marks[line.style], color=colour, label=_plain(line.label))
            if line.spread is not None:
                if len(line.spread) != len(line.y):
                    raise FigureError(f"{line.label}: {len(line.spread)} spreads; give one a point")
                low, high = (
                    [b + sign * s for b, s in zip(line.y, line.spread, strict=True)]
                    for sign in (-1, 1)
                )
                axes.fill_between(line.x, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.set_xlabel(_plain(x_label))
        axes.set_ylabel(_plain(y_label))
        if log_x:
            axes.set_xscale("log")
        if log_y:
            axes.set_yscale("log")
        axes.legend()
        stream = io.StringIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(stream, format="svg", transparent=True, metadata=nothing)
    return _inline(stream.getvalue())


def _plain(label: str) -> str:
    """The label as it is: matplotlib would read a pair of dollars as a formula."""
    return label.replace("$", r"\$")


def _inline(svg: str) -> Markup:
    """The <svg> element alone, without a size, a style or names that others on a page may have."""
    svg = svg[svg.index("<svg") :]
    for unwanted in (r"<metadata>.*?</metadata>", r"<style.*?</style>", r"<!--.*?-->"):
        svg = re.sub(unwanted, "", svg, flags=re.DOTALL)
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)
    svg = re.sub(r'<svg [^>]*?viewBox="([^"]*)"[^>]*>', r'<svg viewBox="\1" role="img">', svg)
    svg = svg.replace("xlink:href", "href")
    for colour, name in _COLOURS.items():
        svg = svg.replace(colour, name)
    return Markup(svg)
