import math
import re
import sys

import pytest

from rnnbounds.reports.pages.experiment import (
    Code,
    Page,
    Paragraph,
    Plot,
    Section,
    Table,
    render_page,
)
from rnnbounds.reports.pages.figures import Series, curve_plot, draw_plot
from rnnbounds.reports.pages.frame import safe_mathml
from rnnbounds.reports.pages.svg import FigureError
from rnnbounds.reports.records.checks import build_curve


def lines(label="bound $x$"):
    """A line, a dashed line and points with a gap."""
    k = range(20)
    gaps = [4 * 0.7**i if i != 5 else math.nan for i in k]
    return [
        Series(label, k, [5 * 0.8**i for i in k], "dashed"),
        Series("measured <gap>", k, gaps, "points"),
        Series("ε", k, [0.1] * 20),
    ]


def test_points_of_different_systems_are_not_joined() -> None:
    """At each k the bound is that of another system: caps, which no line connects."""
    drawn = curve_plot(build_curve("k", {k: (0.5**k, 2 * 0.5**k) for k in range(1, 9)}))
    (caps,) = re.findall('<g class="enough caps">(.*?)</g>', drawn)
    assert re.findall("[ML]", caps) == ["M", "L"] * 8


def test_plot_is_deterministic_and_inline():
    """The same data gives the same figure: no time, no address, no style of its own."""
    drawn = draw_plot(lines(), x_label="window k", y_label="‖h − hᵏ‖", log_y=True)
    assert drawn == Plot(lines(), "window k", "‖h − hᵏ‖", "", log_y=True).svg
    assert drawn.startswith('<svg class="chart" viewBox="')
    for absent in ("http", "<style", "<script", "<!--", "<?xml", "<title", "2026", "<gap>"):
        assert absent not in drawn
    assert re.findall('class="(s[1-6] [a-z]+)"', drawn) == ["s1 dashed", "s2 points", "s3 line"]
    assert not re.search(r"\b(id|style|fill|stroke|font[a-z-]*)=", drawn)
    assert ">window k</text>" in drawn
    assert ">10⁻²</text>" in drawn


def labels(drawn, side):
    """The labels of one axis."""
    (axis,) = re.findall(f'<g class="axis {side}">(.*?)</g>', drawn)
    return re.findall(">([^<]+)</text>", axis)


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([0, 1, 2, 3], ["0", "1", "2", "3"]),
        ([1], ["1"]),
        ([0.0, 1.0], ["0", "1"]),
        ([0.0, 0.5, 1.0], ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        ([-2e6, 2e6], ["−2·10⁶", "−10⁶", "0", "10⁶", "2·10⁶"]),
        ([2e-7, 4e-7], ["2·10⁻⁷", "2.5·10⁻⁷", "3·10⁻⁷", "3.5·10⁻⁷", "4·10⁻⁷"]),
    ],
)
def test_labels(x, expected):
    """Whole numbers where all data are, and never two labels alike."""
    assert (
        labels(draw_plot([Series("a", x, [1] * len(x))], x_label="", y_label=""), "x") == expected
    )


@pytest.mark.parametrize("log_y", [False, True])
@pytest.mark.parametrize(
    "y", [[math.nan], [5e-324, 1e-300], [1.8e308, -1e300, 1e300], [1.0, 1 + 2**-52], [-math.inf, 1]]
)
def test_any_floats_are_drawn(y, log_y):
    """Of whatever size; what no axis can hold is a gap, and coordinates stay within the frame."""
    drawn = draw_plot([Series("a", range(len(y)), y)], x_label="k", y_label="$gap", log_y=log_y)
    assert drawn == draw_plot(
        [Series("a", range(len(y)), y)], x_label="k", y_label="$gap", log_y=log_y
    )
    paths = "".join(re.findall(' d="([^"]*)"', drawn))
    assert all(0 <= float(number) <= 460 for number in re.findall(r"[-\d.e]+", paths))
    assert "nan" not in drawn
    assert ">$gap</text>" in drawn
    assert len(set(labels(drawn, "y"))) == len(labels(drawn, "y")) if "axis y" in drawn else True


def test_a_matplotlib_that_does_not_start(monkeypatch, tmp_path):
    """Where it finds no folder for its cache it raises an OSError without a file's name."""
    (tmp_path / "matplotlib.py").write_text("raise OSError('no place for a cache')\n")
    monkeypatch.delitem(sys.modules, "matplotlib", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(FigureError, match="no place for a cache; set MPLCONFIGDIR to a folder"):
        draw_plot([Series("a", [1], [1])], x_label="", y_label="")


@pytest.mark.parametrize(
    "series", [[], [Series("a", [1], [1])] * 7, [Series("a", [1, 2], [1])]], ids=range(3)
)
def test_plot_refuses(series):
    """No series, too many, or one whose x and y differ in length is refused by name."""
    with pytest.raises(FigureError, match=r"; (draw|pair)"):
        draw_plot(series, x_label="", y_label="")


def test_experiment_page():
    """A page holds its sections in order, escapes text and keeps formulas and figures; problems
    stand in title and head."""
    parts = (
        Paragraph("it forgets <b>fast</b>"),
        Paragraph(safe_mathml("<mi>k</mi>", "k")),
        Plot(lines(), "window k", "gap", "The gap & its bound."),
        Table(("ε", "k"), (("1e-2", "12"),), frozenset({1}), "Truncations."),
        Code("rnnbounds certify <MODEL>"),
    )
    told = Page(
        "Sunspots", (Section("Memory", parts), Section("Accuracy", ())), lead="A lead.",
        kicker="seed 0", environment=[("torch", "2.13.0")], problems=("the bound fell <here>",),
    )  # fmt: skip
    assert [table.columns for table in told.tables] == [("ε", "k")]
    page = render_page(told).decode()
    for text in (
        "it forgets &lt;b&gt;fast&lt;/b&gt;", "The gap &amp; its bound.",
        '<span class="formula"><math><mi>k</mi></math></span>', '<td class="number">12</td>',
        "rnnbounds certify &lt;MODEL&gt;", "<dt>torch</dt>",
        '<span class="key s2 points">measured &lt;gap&gt;</span>',
        "FAILS · Sunspots", 'class="masthead fails"', "the bound fell &lt;here&gt;",
    ):  # fmt: skip
        assert text in page
    assert page.index("Memory") < page.index("Accuracy")
    assert page.count("<script") == 1
