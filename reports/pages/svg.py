"""Outlines between two axes as inline SVG, drawn by matplotlib.

Geometry and text alone: the style, metadata, ids and clip paths that its SVG backend adds for files
of their own are left out. What stays says by its class what it is, and the page's one style sheet
colours it: the same data gives the same bytes, right in light, in dark and on paper, and any number
of figures share a page. Labels are spaced for the widest digits that a page sets, those of a phone.
"""

import logging
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from itertools import groupby
from operator import itemgetter
from typing import Any
from xml.etree import ElementTree

from markupsafe import Markup, escape

from rnnbounds.errors import InputError, printable

WIDTH, HEIGHT = 460, 230
TOP, RIGHT, BOTTOM = 12, 18, 38  # units about the frame; to the left they are those of the labels
_TITLE, _SPACE = 22, 4
DIGIT = 7.9  # units of width that a character of a label takes on a phone, the largest
_SVG = "{http://www.w3.org/2000/svg}"
# Text as text, and no id by chance.
_SETTINGS: dict[Any, str] = {"svg.fonttype": "none", "svg.hashsalt": "rnnbounds"}
Point = tuple[float, float]
Tick = tuple[float, str]


class FigureError(InputError):
    """A figure that cannot be drawn."""


@dataclass(frozen=True)
class Axis:
    """One side of a figure: its title, the numbers at both ends, and labels at some between."""

    title: str
    low: float
    high: float
    ticks: Sequence[Tick] = ()


@dataclass(frozen=True)
class Shape:
    """Outlines in the units of the axes, all of one look: the classes in the style sheet."""

    look: str
    outlines: Sequence[Sequence[Point]]
    closed: bool = False


@contextmanager
def quiet_matplotlib() -> Iterator[None]:
    """Draw within: the same whatever a matplotlibrc says, and all settings as before afterwards.

    Matplotlib warns of a home that it cannot write to, of fonts that it reads for the first time,
    of characters that its own font lacks although the browser's has them: none of it is the
    reader's, and under ``-W error`` it would end the run. Raises FigureError if it cannot start.
    """
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                import matplotlib  # slow: only for what draws
                import matplotlib.font_manager
            except (OSError, UnicodeError) as error:
                raise FigureError(
                    f"matplotlib does not start: {error}; set MPLCONFIGDIR to a folder of your own"
                ) from None
            settings: Any = {**matplotlib.rcParamsDefault, **_SETTINGS}
            with matplotlib.rc_context(settings):
                yield
    finally:
        logger.setLevel(level)


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
        labels = (len(label) for _, label in y.ticks)
        left = _TITLE + _SPACE + DIGIT * max(labels, default=0)
        right, top = WIDTH - RIGHT, height - TOP
        to_figure = BboxTransform(
            Bbox.from_extents(x.low, y.low, x.high, y.high),
            Bbox.from_extents(left, BOTTOM, right, top),
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
        room = int((height - TOP) / DIGIT)  # the caption has the whole title
        y_title = y.title if len(y.title) <= room else f"{y.title[: room - 1]}…"
        unscaled, middle = IdentityTransform(), ((left + right) / 2, (BOTTOM + top) / 2)
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
        look = group.get("id", "")
        for element in group.iterfind(f"{_SVG}path"):
            yield look, f'<path d="{_round_coordinates(element.get("d", ""))}"/>'
        for element in group.iterfind(f"{_SVG}text"):
            places = {name: element.get(name, "") for name in ("x", "y", "transform")}
            if places["transform"].startswith("rotate(-0"):
                del places["transform"]
            attributes = (f' {name}="{_round_coordinates(at)}"' for name, at in places.items())
            yield look, f"<text{''.join(attributes)}>{escape(element.text or '')}</text>"


def _round_coordinates(geometry: str) -> str:
    """Coordinates to a tenth of a unit, without spaces that say nothing."""
    rounded = re.sub(
        r"-?\d+\.\d+", lambda match: f"{float(match[0]):.1f}".removesuffix(".0"), geometry
    )
    return re.sub(r"\s*([A-Za-z])\s+", r"\1", rounded).strip()
