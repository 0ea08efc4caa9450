import math
import re
from decimal import Decimal

import numpy as np
import pytest

from rnnbounds.reports.pages import text
from rnnbounds.reports.pages.figures.chart import histogram_chart
from rnnbounds.reports.records.histogram import EDGES, EMPTY, count_ratios


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [(1 - 2**-51, "1"), (1 + 2**-51, "1"), (1 - 1e-9, "1 − 1.0·10⁻⁹"), (0.5, "0.5")],
)
def test_a_quotient_of_bounds(bounds, expected):
    """Rounding is left out; a bound that is smaller by more is shown as such."""
    assert text.quotient_text(bounds) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "–"),
        (math.inf, "∞"),
        ("nan", "NaN"),
        (0.0, "0"),
        (1.0, "1"),
        (0.93127, "0.9313"),
        (1 - 2.1e-9, "1 − 2.1·10⁻⁹"),
        (1 + 2**-52, "1 + 2.2·10⁻¹⁶"),
        (3.24e-9, "3.2·10⁻⁹"),
        (-0.5, "−0.5"),
        (123456.0, "1.2·10⁵"),
    ],
)
def test_ratio(value, expected):
    """Ratios near 1 and near 0 keep the digits that matter."""
    assert text.ratio_text(value) == expected


def test_counts():
    """Counts are grouped, or cut to four characters without ever rounding up."""
    assert text.count(1234567) == "1,234,567"
    cases = {0: "0", 999: "999", 1250: "1.2k", 12999: "12k", 999_999: "999k", 3 * 10**6: "3M"}
    assert {value: text.abbreviate_count(value) for value in cases} == cases
    assert text.plural(1, "step") == "1 step"
    assert text.plural(0, "step") == "0 steps"


def test_value_reads_back():
    """A side of a check is printed so that it reads back as the same float."""
    assert float(text.exact_text(0.1 + 0.2)) == 0.1 + 0.2
    assert text.exact_text("inf") == "∞"


@pytest.mark.parametrize("bound", [1.01e-16, 5e-324, 0.1, 2.0**-53, 1.0, 9.99e-8])
def test_error_is_rounded_up(bound):
    """A printed error bound is never smaller than the bound."""
    mantissa, power = text.error_text(bound).split("·10")
    digits = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    printed = Decimal(mantissa).scaleb(int(power.translate(digits)))
    assert Decimal(bound) <= printed <= Decimal(bound) * Decimal("1.1")


def test_error_of_nothing():
    """No error prints as 0, an unknown one as infinite."""
    assert text.error_text(0.0) == "0"
    assert text.error_text("inf") == "∞"


def test_count_ratios():
    """Each ratio falls in the bin (a, b] of its edges; NaN is unmeasured, more than 1 beyond."""
    counted = count_ratios(np.array([[0.0, 1.0], [1 + 2**-52, math.inf], [math.nan, 0.95]]))
    assert sum(counted.counts) == 5
    assert counted.unmeasured == 1
    assert counted.counts[0] == 1
    assert counted.counts[-1] == 2
    assert counted.counts[EDGES.index(1.0)] == 1
    assert counted.counts[EDGES.index(0.99)] == 1


def test_count_ratios_merge():
    """Counting in parts and merging is counting at once."""
    ratios = np.linspace(0, 1.1, 1001)
    assert count_ratios(ratios[:300]).merge(count_ratios(ratios[300:])) == count_ratios(ratios)
    assert count_ratios([]) == EMPTY


def test_chart():
    """A bar for each bin that holds something; what lies beyond 1 apart; told in words too."""
    drawn = histogram_chart(count_ratios([0.5] * 10 + [0.95] * 1000 + [2.0, math.nan]))
    bars, beyond = drawn.split('class="bar beyond"')
    assert (bars.count("z"), beyond.count("z")) == (2, 1)
    sides = re.findall(r"M([\d.]+) ([\d.]+)L\1 ([\d.]+)L[\d.]+ \3L", bars + beyond)
    tall = [float(foot) - float(head) for _, foot, head in sides]
    assert tall[1] > tall[0] > tall[2] > 0
    assert [f">{label}</text>" in drawn for label in ("1", "10", "100", "1k", "0.99")] == [True] * 5
    assert "…" not in drawn
    assert "of 1,011 checks: 1,001 above 0.9, 1 above 0.999, 1 above 1; 1 more have" in drawn
