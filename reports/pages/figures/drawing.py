"""Figures as inline SVG, drawn by matplotlib: geometry and text alone, in the page's colours.

The style, metadata, ids and clip paths that its SVG backend adds for files of their own are left
out. What stays says by its class what it is, and the page's one style sheet colours it: the same
data gives the same bytes, right in light, in dark and on paper, and any number of figures share a
page.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import groupby
from operator import itemgetter
from typing import Any
from xml.etree import ElementTree

from markupsafe import Markup, escape

from rnnbounds.reports.errors import printable
from rnnbounds.reports.pages.figures.axis import DIGIT_WIDTH, Axis
from rnnbounds.reports.pages.figures.quiet import quiet_matplotlib

WIDTH, HEIGHT = 460, 230
TOP, RIGHT, BOTTOM = 12, 18, 38  # units about the frame; to the left they are those of the labels
_TITLE, _SPACE = 22, 4
_SVG = "{http://www.w3.org/2000/svg}"
Point = tuple[float, float]


@dataclass(frozen=True)
class Shape:
    """Outlines in the units of the axes, all of one look: the classes in the style sheet."""

    look: str
    outlines: Sequence[Sequence[Point]]
    closed: bool = False


def left_margin(y: Axis) -> float:
    """Left edge of the plot frame, with room for the tick labels of the y axis."""
    return _TITLE + _SPACE + DIGIT_WIDTH * max((len(label) for _, label in y.ticks), default=0)


def shorten_title(title: str, length: float) -> str:
    """A title, or its beginning if it is longer than that; the caption has all of it."""
    characters = int(length / DIGIT_WIDTH)
    return title if len(title) <= characters else f"{title[: characters - 1]}…"


def draw_svg(
    shapes: Sequence[Shape], x: Axis, y: Axis, summary: str, height: float = HEIGHT
) -> Markup:
    """One <svg> element, so many units high, which `summary` describes to who does not see it.

    Text is anchored by its class, so that it stays in its place in whatever font a page has.
    """
    # Of matplotlib's own axes a figure costs 30 ms instead of 8, and a page has hundreds.
    with quiet_matplotlib():
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
        from matplotlib.patches import PathPatch
        from matplotlib.transforms import Affine2D, Bbox, BboxTransform, IdentityTransform

        figure = Figure(figsize=(WIDTH / 72, height / 72), dpi=72, frameon=False)
        left_edge, right, top = left_margin(y), WIDTH - RIGHT, height - TOP
        to_figure = BboxTransform(
            Bbox.from_extents(x.low, y.low, x.high, y.high),
            Bbox.from_extents(left_edge, BOTTOM, right, top),
        )
        guides = [[(x.low, value), (x.high, value)] for value, _ in y.ticks]
        frame = [(x.low, y.high), (x.low, y.low), (x.high, y.low)]
        for shape in (Shape("grid", guides), Shape("frame", [frame]), *shapes):
            if shape.outlines:
                figure.add_artist(PathPatch(
                    _path(shape), fill=shape.closed, gid=shape.look, transform=to_figure,
                ))  # fmt: skip

        def write(look: str, at: Point, text: str, transform: Any, **options: Any) -> None:
            figure.text(
                *at, printable(text), gid=look, transform=transform, fontsize=11, parse_math=False,
                **options,
            )  # fmt: skip

        below_axis, beside_axis = (
            Affine2D().translate(*offset) for offset in ((0, -_SPACE), (-_SPACE, 0))
        )
        for value, label in x.ticks:
            write("axis x", (value, y.low), label, to_figure + below_axis, ha="center", va="top")
        for value, label in y.ticks:
            write("axis y", (x.low, value), label, to_figure + beside_axis, ha="right", va="center")
        vertical = {"rotation": 90, "rotation_mode": "anchor"}
        y_title = shorten_title(y.title, height - TOP)
        unscaled, middle = IdentityTransform(), ((left_edge + right) / 2, (BOTTOM + top) / 2)
        write("title", (middle[0], 5), x.title, unscaled, ha="center")
        write("title", (13, middle[1]), y_title, unscaled, ha="center", **vertical)
        out = StringIO()
        canvas: Any = FigureCanvasSVG(figure)
        canvas.print_svg(out, metadata={"Date": None})
    return _inline_svg(ElementTree.fromstring(out.getvalue()), summary)


def _path(shape: Shape) -> Any:
    """The outlines as one path; one of a single point has a length of zero, which shows as a
    dot."""
    from matplotlib.path import Path

    corners: list[Point] = []
    codes: list[Any] = []
    for outline in shape.outlines:
        points = [*outline, outline[0]] if shape.closed or len(outline) == 1 else outline
        corners += points
        codes += [Path.MOVETO, *[Path.LINETO] * (len(points) - 1)]
        if shape.closed:
            codes[-1] = Path.CLOSEPOLY
    path = Path(corners, codes)
    path.should_simplify = False  # lest it leave out dots
    return path


def _inline_svg(root: ElementTree.Element, summary: str) -> Markup:
    """The figure's paths and texts, a group for each look in turn."""
    groups = "".join(
        f'<g class="{look}">{"".join(map(itemgetter(1), elements))}</g>'
        for look, elements in groupby(_svg_elements(root), key=itemgetter(0))
    )
    size = f'viewBox="{root.get("viewBox")}"'
    return Markup(
        f'<svg class="chart" {size} role="img" aria-label="{escape(summary)}">{groups}</svg>'
    )


def _svg_elements(root: ElementTree.Element) -> Iterator[tuple[str, str]]:
    for group in root.iter(f"{_SVG}g"):
        for element in group.iterfind(f"{_SVG}path"):
            yield group.get("id", ""), f'<path d="{_round_coordinates(element.get("d", ""))}"/>'
        for element in group.iterfind(f"{_SVG}text"):
            transform = element.get("transform", "")
            coordinates = [(name, element.get(name, "")) for name in ("x", "y")]
            coordinates += (
                [("transform", transform)] if not transform.startswith("rotate(-0") else []
            )
            attributes = "".join(
                f' {name}="{_round_coordinates(value)}"' for name, value in coordinates
            )
            yield group.get("id", ""), f"<text{attributes}>{escape(element.text or '')}</text>"


def _round_coordinates(geometry: str) -> str:
    """Coordinates to a tenth of a unit, without spaces that say nothing."""
    rounded = re.sub(
        r"-?\d+\.\d+", lambda match: f"{float(match[0]):.1f}".removesuffix(".0"), geometry
    )
    return re.sub(r"\s*([A-Za-z])\s+", r"\1", rounded).strip()
