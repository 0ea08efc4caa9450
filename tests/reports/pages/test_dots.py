"""Values by rows, drawn: a dot each, a bar at the mean, labels that fit."""

import math
import re

from rnnbounds.reports.pages.figures.dots import draw_dots


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
