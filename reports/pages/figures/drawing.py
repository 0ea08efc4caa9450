"""Pygal's charts as inline SVG: geometry and text alone, in the colours of the page.

What pygal adds for pages of its own is left out: style sheets, scripts, tooltips, comments that
name the day. What stays says by its class what it is, and the page's one style sheet colours it;
so the same data gives the same bytes, right in light, in dark and on paper.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

import pygal
from markupsafe import Markup, escape

WIDTH, HEIGHT = 460, 230
_SVG = "{http://www.w3.org/2000/svg}"
_KEPT = frozenset("g path rect circle text line polyline".split())
_LEFT_OUT = frozenset(("background", "text-overlay", "tooltip", "legends"))
_CLASSES = frozenset("axis x y line title".split())
_GEOMETRY = frozenset("d x y width height cx cy r x1 x2 y1 y2 points transform".split())
_MARKS = {
    r'<circle cx="(\S+)" cy="(\S+)" r="2"/>': r"M\1 \2h0",
    r'<rect x="(\S+)" y="(\S+)" width="(\S+)" height="(\S+)"/>': r"M\1 \2h\3v\4h-\3z",
}
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def options(**more: Any) -> dict[str, Any]:
    """What all charts have in common: no ornament, room for the axes' names."""
    style = pygal.style.Style(
        font_family="sans-serif", label_font_size=11, title_font_size=11, major_label_font_size=11
    )
    return {
        "width": WIDTH, "height": HEIGHT, "margin": 6, "spacing": 6, "show_legend": False,
        "js": [], "css": [], "style": style, "truncate_label": -1,
        "dots_size": 2, "max_scale": 7, "min_scale": 3,
    } | more  # fmt: skip


def decade(power: int) -> str:
    """A power of ten as it stands at an axis."""
    return {0: "1", 1: "10", -1: "0.1"}.get(power, f"10{str(power).translate(_SUPERSCRIPTS)}")


def decades(low: float, high: float) -> list[dict[str, Any]]:
    """Labels of an axis of logarithms to the base ten, whole powers alone, six at most."""
    first, last = int(low // 1), int(-(-high // 1))
    step = max(1, -(-(last - first) // 5))
    powers = range(last - step * (-(-(last - first) // step)), last + 1, step)
    return [{"label": decade(power), "value": power} for power in powers]


def drawn(chart: Any, summary: str, looks: Sequence[str] = ("s1",)) -> Markup:
    """The chart as one <svg> element that a reader who does not see it is told as `summary`.

    `looks` are the classes of its series, in order, by which the page's style sheet draws them.
    """
    root = chart.render_tree()
    names = {f"serie-{index}": look for index, look in enumerate(looks)}
    body = "".join(_written(child, names) for child in root)
    size = f'viewBox="{root.get("viewBox")}"'
    return Markup(
        f'<svg class="chart" {size} role="img" aria-label="{escape(summary)}">{body}</svg>'
    )


def _written(element: ElementTree.Element, looks: Mapping[str, str]) -> str:
    """The element and what is in it, or nothing where it only serves pygal's own pages."""
    if not isinstance(element.tag, str):
        return ""
    tag, classes = element.tag.removeprefix(_SVG), element.get("class", "").split()
    if tag not in _KEPT or _LEFT_OUT & set(classes):
        return ""
    guide = "guide" in classes and "axis" not in classes
    if guide and "v" in element.get("d", ""):  # of those that go through the labels, the level ones
        return ""
    inner = "".join(_written(child, looks) for child in element)
    if element.text and element.text.strip():
        inner = str(escape(element.text)) + inner
    if tag in ("g", "text") and not inner:
        return ""
    kept = [looks.get(name, name) for name in classes if name in _CLASSES or name in looks]
    told = {"class": " ".join(kept)} if kept and not guide else {}
    told |= {name: _short(value) for name, value in element.items() if name in _GEOMETRY}
    if tag == "g" and not told:
        return inner
    attributes = "".join(f' {name}="{escape(value)}"' for name, value in told.items())
    inner = _joined(inner)
    return f"<{tag}{attributes}>{inner}</{tag}>" if inner else f"<{tag}{attributes}/>"


def _joined(inner: str) -> str:
    """Nothing but points, or nothing but bars, as one path each: a page has thousands."""
    for mark, path in _MARKS.items():
        if inner and not re.sub(mark, "", inner):
            return f'<path d="{re.sub(mark, path, inner)}"/>'
    return inner


def _short(geometry: str) -> str:
    """Coordinates to a tenth of a unit."""
    return re.sub(
        r"-?\d+\.\d+", lambda match: f"{float(match[0]):.1f}".removesuffix(".0"), geometry
    )
