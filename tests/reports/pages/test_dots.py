"""Values by rows, drawn: a dot each, a bar at the mean, labels that fit."""

import math
import re

from rnnbounds.reports.pages.figures.dots import MOST_ROWS, draw_dots, shorten_label


def test_a_dot_a_value_and_a_bar_a_row():
    """What is not finite is left out; a row without values keeps its label."""
    drawn = draw_dots([("a <b>", [1.0, 2.0, 3.0]), ("none", [None, math.nan, math.inf])], "loss")
    (points,) = re.findall('class="s1 points">(.*?)</g>', drawn)
    (bars,) = re.findall('class="s2 line">(.*?)</g>', drawn)
    assert points.count("M") == 3
    assert bars.count("M") == 1
    assert "a &lt;b&gt;: 2; none: none" in drawn
    assert ">none</text>" in drawn
    assert "<svg" in draw_dots([("none", [])], "loss")


def test_the_axis_follows_the_values():
    """Logarithmic where they span three decades, and all are positive."""
    assert ">10⁻⁴</text>" in draw_dots([("a", [1e-4, 1.0])], "gap")
    assert "10⁻" not in draw_dots([("a", [0.5, 1.0])], "gap")
    assert "10⁻" not in draw_dots([("a", [0.0, 1.0])], "gap")


def test_labels_and_rows_are_as_many_as_fit():
    """A long one is cut; rows beyond the last are left for another figure."""
    assert shorten_label("x" * 99).endswith("x…")
    assert len(shorten_label("x" * 99)) == 26
    drawn = draw_dots([(f"row {i}", [1.0]) for i in range(MOST_ROWS + 3)], "loss")
    assert f"row {MOST_ROWS - 1}<" in drawn
    assert f"row {MOST_ROWS}<" not in drawn
