"""The picture of a memory's bracket: what is too short, what is not known, what is long enough."""

import re

import pytest

from rnnbounds.reports.pages.figures.bracket import MOST_BARS, Bracket, draw_brackets


def widths(svg: str, look: str) -> list[float]:
    """The widths of the bars of one look."""
    (group,) = re.findall(rf'<g class="{look}">(.*?)</g>', svg)
    return [
        max(xs) - min(xs)
        for path in re.findall(r'd="([^"]*)"', group)
        for xs in [[float(x) for x in re.findall(r"[ML](-?[\d.]+) ", path)]]
    ]


def test_three_parts() -> None:
    """Each as wide as its share of the axis."""
    svg = draw_brackets([Bracket("ε = 0.1", 10, 40)])
    short, unknown, enough = (widths(svg, look)[0] for look in ("short", "open", "enough"))
    assert unknown == pytest.approx(3 * short, abs=0.5)
    assert enough == pytest.approx(0.6 * short, abs=0.5)
    assert "ε = 0.1: no k below 10 will do, k = 40 is certified" in svg


def test_ends_that_are_not_known() -> None:
    """Nothing green of a model that is not certified, nothing red where nothing was found."""
    svg = draw_brackets([Bracket("ε = 1", 5)])
    assert 'class="enough"' not in svg
    svg = draw_brackets([Bracket("ε = 1", 0, 5)])
    assert 'class="short"' not in svg
    assert 'class="open"' not in draw_brackets([Bracket("ε = 1", 7, 7)])
    assert "nothing is known" in Bracket("ε = 1").summary


def test_rows() -> None:
    """As many bars as are asked for, up to a limit; a row is as high whatever their number."""
    bars = [Bracket(f"ε = {i}", i, 2 * i) for i in range(1, 9)]
    heights = [
        float(re.search(r'viewBox="0 0 [\d.]+ ([\d.]+)"', draw_brackets(bars[:count]))[1])
        for count in (1, 2, 3)
    ]
    assert heights[2] - heights[1] == pytest.approx(heights[1] - heights[0])
    (group,) = re.findall(r'<g class="short">(.*?)</g>', draw_brackets(bars))
    assert group.count("M") == MOST_BARS
