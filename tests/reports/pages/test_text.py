import math
from decimal import Decimal

import pytest

from rnnbounds.reports import text


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
    """Counts are grouped, and have their noun."""
    assert text.count(1234567) == "1,234,567"
    counts = {999_999: "999,999", 10**6: "1.0 million", 24_599_999: "24.5 million"}
    assert {value: text.rounded_count(value) for value in counts} == counts  # never more than it is
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
