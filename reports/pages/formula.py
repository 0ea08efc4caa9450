"""Formulas that break where they must: one <math> after another, between which a line may end.

MathML breaks no lines. A formula is cut before relations and sums, then, where a piece would still
be wider than a phone, within parentheses, after commas, between factors; a fraction that is wider
stands as a quotient. A piece is never cut that fits.
"""

from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

MOST = 2_000  # elements: the time that cutting takes grows faster than the formula
NARROW = 14.0
"""Width of a piece in em that fits a phone 360 pixels wide."""
RELATIONS = frozenset("≤<=≥>≠∃∀⇒")
SUMS = frozenset("+−±")
_OPENING, _CLOSING, _BARS = frozenset("([{"), frozenset(")]}"), frozenset("‖|")
_FUNCTIONS = frozenset("Γφρf")
_SCRIPT = 0.72


def pieces(root: Element, limit: float = NARROW) -> list[Element]:
    """The formula as <math> elements, in order; one where it is short, or no formula of ours."""
    if sum(1 for _ in root.iter()) > MOST:
        return [root]
    children = _flat(root)
    found: list[list[Element]] = []
    for group in _cut(children, RELATIONS | (SUMS if _long(children, limit) else frozenset())):
        found += _fitting(group, limit)
    return [_math(group) for group in found]


def width(element: Element) -> float:
    """About how wide an element is, in em."""
    inner = [width(child) for child in element]
    match element.tag:
        case "mfrac":
            return 0.75 * max(inner, default=0) + 0.3
        case "msub" | "msup" | "mover" | "munder" if len(inner) == 2:
            scripts = _SCRIPT * inner[1]
            return max(inner) if element.tag[1] in "ou" else inner[0] + scripts
        case "msubsup" if len(inner) == 3:
            return inner[0] + _SCRIPT * max(inner[1:])
        case "mo":
            text = element.text or ""
            return 1.45 if text in RELATIONS | SUMS else 0.55 * len(text)
        case "mi" | "mn" | "mtext":
            text = element.text or ""
            return sum(0.95 if character.isupper() else 0.65 for character in text)
        case _:
            return sum(inner) + (0.9 if element.tag == "msqrt" else 0)


def _flat(element: Element) -> list[Element]:
    """The children, rows within rows opened as long as nothing else holds them."""
    if element.tag in ("math", "mrow"):
        return [leaf for child in element for leaf in _flat(child)]
    return [element]


def _long(children: Sequence[Element], limit: float) -> bool:
    return sum(map(width, children)) > limit


def _mark(element: Element) -> str:
    """The sign that an element is, with or without a script; empty where it is none."""
    scripted = element.tag in ("msub", "msup", "msubsup") and len(element)
    sign = element[0] if scripted else element
    return (sign.text or "") if sign.tag == "mo" else ""


def _free(children: Sequence[Element]) -> list[bool]:
    """Whether each stands outside of all brackets and bars, those that open one among them."""
    free, depth, barred = [], 0, False
    for mark in map(_mark, children):
        free.append(not depth and not barred)
        depth = max(0, depth + (mark in _OPENING) - (mark in _CLOSING))
        barred ^= mark in _BARS
    return free


def _cut(children: Sequence[Element], signs: frozenset[str]) -> Iterator[list[Element]]:
    """Runs that begin at a sign outside of all brackets, unless it follows another sign."""
    group: list[Element] = []
    for child, free in zip(children, _free(children), strict=True):
        if group and free and _mark(child) in signs and _mark(group[-1]) not in RELATIONS | SUMS:
            yield group
            group = []
        group.append(child)
    if group:
        yield group


def _fitting(group: list[Element], limit: float) -> Iterator[list[Element]]:
    """The group, cut as often as it takes for each piece to fit."""
    if not _long(group, limit):
        yield group
        return
    for cut in (_cut(group, SUMS), _factors(group)):
        parts = list(cut)
        if len(parts) > 1:
            for part in _joined(parts, limit):
                yield from _fitting(part, limit)
            return
    opened = _opened(group, limit)
    if opened is None:
        yield group
        return
    for part in _joined(opened, limit):
        yield from _fitting(part, limit)


def _joined(parts: Sequence[list[Element]], limit: float) -> Iterator[list[Element]]:
    """Neighbours put together as long as they fit."""
    line: list[Element] = []
    for part in parts:
        if line and _long([*line, *part], limit):
            yield line
            line = []
        line = [*line, *part]
    if line:
        yield line


def _factors(group: list[Element]) -> Iterator[list[Element]]:
    """A product cut before the factors that are wide by themselves: brackets, fractions, roots."""
    part: list[Element] = []
    for child, free in zip(group, _free(group), strict=True):
        opens = _mark(child) in _OPENING and not _applies(part)
        wide = opens or child.tag in ("mfrac", "msqrt", "mtext")
        if part and wide and free and _mark(part[-1]) not in RELATIONS | SUMS:
            yield part
            part = []
        part.append(child)
    if part:
        yield part


def _applies(part: Sequence[Element]) -> bool:
    """Whether a bracket that comes next holds the arguments of a function."""
    name = (part[-1].text or "") if part and part[-1].tag == "mi" else ""
    return len(name) > 1 or name in _FUNCTIONS


def _opened(group: list[Element], limit: float) -> list[list[Element]] | None:
    """The parts within the widest thing of a group that cannot be cut outside of it."""
    for start, end in _enclosed_spans(group):
        inner = group[start + 1 : end]
        parts = list(_arguments(inner))
        if len(parts) < 2 and _long(inner, limit / 2):
            parts = list(_fitting(inner, limit))
        if len(parts) > 1:
            first, *between, last = parts
            return [[*group[: start + 1], *first], *between, [*last, *group[end:]]]
    wide = max(group, key=width)
    at = group.index(wide)
    if wide.tag in ("msup", "msub") and len(wide) == 2 and len(base := _flat(wide[0])) > 1:
        scripted = Element(wide.tag)
        scripted.extend((base[-1], wide[1]))
        return [[*group[:at], *base[:-1], scripted, *group[at + 1 :]]]
    if wide.tag != "mfrac" or len(wide) != 2:
        return None
    above, below = (_enclosed(part) for part in wide)
    return [[*group[:at], *above], [_mo("/"), *below, *group[at + 1 :]]]


def _enclosed_spans(group: list[Element]) -> list[tuple[int, int]]:
    """Where each pair of brackets or bars of a group opens and closes, the widest inside first."""
    marks, free, found, bar = list(map(_mark, group)), _free(group), [], None
    for start, mark in enumerate(marks):
        if mark in _OPENING and free[start]:
            last = len(group) - 1
            end = next(i for i in range(start + 1, last + 1) if i == last or free[i + 1])
            found.append((start, end))
        elif mark in _BARS:
            found += [] if bar is None else [(bar, start)]
            bar = start if bar is None else None
    spans = [(start, end) for start, end in found if end > start + 1]
    return sorted(spans, key=lambda span: -sum(map(width, group[span[0] : span[1]])))


def _arguments(children: Sequence[Element]) -> Iterator[list[Element]]:
    """Cut after commas and before sums."""
    for part in _cut(children, SUMS):
        group: list[Element] = []
        for child in part:
            group.append(child)
            if _mark(child) == ",":
                yield group
                group = []
        if group:
            yield group


def _enclosed(element: Element) -> list[Element]:
    """What stands above or below a line, in brackets if it is a sum."""
    children = _flat(element)
    if len(list(_cut(children, SUMS))) < 2:
        return children
    return [_mo("("), *children, _mo(")")]


def _mo(text: str) -> Element:
    element = Element("mo")
    element.text = text
    return element


def _math(children: Sequence[Element]) -> Element:
    math = Element("math")
    math.extend(_nested(children))
    if len(children) > 1 and _mark(children[0]) in RELATIONS | SUMS:
        children[0].set("form", "infix")  # at the start of a row it would lose its spaces
    return math


def _nested(children: Sequence[Element]) -> list[Element]:
    """Each pair of brackets and what is between them as a row: it is as tall as that."""
    levels: list[list[Element]] = [[]]
    for child in children:
        mark = _mark(child)
        if mark in _OPENING:
            levels.append([])
        levels[-1].append(child)
        if mark in _CLOSING and len(levels) > 1:
            row = Element("mrow")
            row.extend(levels.pop())
            levels[-1].append(row)
    return [child for level in levels for child in level]
