import math
import re

import pytest

from reports.pages.experiment import (
    Code,
    Page,
    Paragraph,
    Plot,
    Section,
    Table,
    render_experiment,
)
from reports.pages.figures.figure import Series
from reports.pages.figures.plot import FigureError, _band, plot
from reports.pages.mathml import mathml


def lines(label="bound $x$"):
    """A line, a dashed line and points with a gap."""
    k = range(20)
    gaps = [4 * 0.7**i if i != 5 else math.nan for i in k]
    return [
        Series(label, k, [5 * 0.8**i for i in k], "dashed"),
        Series("measured <gap>", k, gaps, "points"),
        Series("ε", k, [0.1] * 20),
    ]


def test_plot_is_deterministic_and_inline():
    """The same data gives the same figure: no time, no address, no style of its own."""
    drawn = plot(lines(), x_label="window k", y_label="‖h − hᵏ‖", log_y=True)
    assert drawn == Plot(lines(), "window k", "‖h − hᵏ‖", "", log_y=True).svg
    assert drawn.startswith('<svg class="chart" viewBox="')
    for absent in ("http", "<style", "<script", "<!--", "<?xml", "<title", "2026", "<gap>"):
        assert absent not in drawn
    assert re.findall('class="(s[1-6] [a-z]+)"', drawn) == ["s1 dashed", "s3 line", "s2 points"]
    assert ">window k</text>" in drawn
    assert ">10⁻²</text>" in drawn


def test_plot_scales():
    """A logarithmic axis changes the figure."""
    series = [Series("a", [1, 2, 3], [1, 10, 100])]
    assert ">100</text>" in plot(series, x_label="", y_label="")
    assert ">10²</text>" in plot(series, x_label="", y_label="", log_y=True)
    assert "<svg" in plot([Series("a", [1], [0.0])], x_label="", y_label="", log_y=True)


def test_plot_spread():
    """A spread is a shade of its line's colour; it changes the figure and nothing else is named."""
    plain, shaded = (
        plot([Series("a", [1, 2], [1, 2], spread=spread)], x_label="", y_label="")
        for spread in (None, [0.5, math.nan])
    )
    assert 'class="s1 band"' in shaded
    far = Series("a", [1, 2, 3], [1.0, 1e-3, 1e-6], spread=[0.0, 0.1, 1e-5])
    assert [round(y, 9) for _, y in _band(far, True)] == pytest.approx(
        [0, math.log10(0.101), math.log10(1.1e-5), math.log10(1e-12 / 1.1e-5), -3 * 2
         - math.log10(0.101), 0], abs=1e-8,
    )  # fmt: skip
    assert "band" not in plain


@pytest.mark.parametrize(
    "series",
    [
        [],
        [Series("a", [1], [1])] * 7,
        [Series("a", [1, 2], [1])],
        [Series("a", [1, 2], [1, 2], spread=[1])],
    ],
    ids=range(4),
)
def test_plot_refuses(series):
    """No series, too many, or one whose x, y and spread differ in length is refused by name."""
    with pytest.raises(FigureError, match=r"; (draw|pair|give)"):
        plot(series, x_label="", y_label="")


def test_experiment_page():
    """A page holds its sections in order, escapes text and keeps formulas and figures."""
    sections = (
        Section(
            "Memory",
            (
                Paragraph("it forgets <b>fast</b>"),
                Paragraph(mathml("<mi>k</mi>", "k")),
                Plot(lines(), "window k", "gap", "The gap & its bound."),
                Table(("ε", "k"), (("1e-2", "12"),), frozenset({1}), "Truncations."),
                Table(("a",), ()),
                Code("rnnbounds certify <MODEL>"),
            ),
        ),
        Section("Accuracy", ()),
    )
    told = Page(
        "Sunspots", sections, lead="A lead.", kicker="seed 0", environment=[("torch", "2.13.0")]
    )
    assert [table.columns for table in told.tables] == [("ε", "k"), ("a",)]
    page = render_experiment(told).decode()
    for text in (
        "it forgets &lt;b&gt;fast&lt;/b&gt;",
        '<span class="formula"><math><mi>k</mi></math></span>',
        "The gap &amp; its bound.",
        '<td class="number">12</td>',
        "rnnbounds certify &lt;MODEL&gt;",
        "<dt>torch</dt>",
        '<span class="key s2 points">measured &lt;gap&gt;</span>',
    ):
        assert text in page
    assert page.index("Memory") < page.index("Accuracy")
    assert page.count("<script") == 1
    assert "fails" not in page.split("</style>")[1]


def test_failing_experiment():
    """An experiment with problems says so in title and head."""
    page = render_experiment(Page("Sunspots", (), problems=("the bound fell <here>",))).decode()
    assert "FAILS · Sunspots" in page
    assert 'class="masthead fails"' in page
    assert "the bound fell &lt;here&gt;" in page
