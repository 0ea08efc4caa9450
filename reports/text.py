"""Numbers as a reader wants them: counts grouped, errors rounded up, ratios near 1 told apart."""

import math
from decimal import ROUND_CEILING, Context, Decimal
from typing import Literal

from rnnbounds.errors import printable

Number = float | Literal["inf", "-inf", "nan"]
"""JSON has no infinity and no NaN: what is not finite travels as its name, in memory too."""
NOTHING = "–"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
ROUNDING = 1e-12  # of a quotient of two bounds
_NAMES = {"inf": "∞", "-inf": "−∞", "nan": "NaN"}


def plain_number(value: float) -> str:
    """A number as it was typed: no digit less than it takes, 1 for 1.0."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def ratio_text(value: Number | None) -> str:
    """lhs/rhs so that tight bounds can be told apart: 0.9312, 1 − 2.1·10⁻⁹, 1, 3.2·10⁻⁷."""
    if value is None:
        return NOTHING
    if not is_finite(value):
        return _NAMES[str(value)]
    real = float(value)
    gap = abs(1 - real)
    if 0 < gap < 1e-3:
        return f"1 {'−' if real < 1 else '+'} {scientific(gap, 2)}"
    if real == 0 or 1e-3 <= abs(real) < 1e4:
        return f"{real:.4g}".replace("-", "−")
    return scientific(real, 2)


def quotient_text(bounds: float) -> str:
    """One bound over another: 1 where they differ by the rounding of both alone."""
    return "1" if abs(bounds - 1) < ROUNDING else ratio_text(bounds)


def exact_text(number: Number) -> str:
    """All digits of one side of a check: what reads back as the same float."""
    return repr(float(number)) if is_finite(number) else _NAMES[str(number)]


def round_up(bound: float, digits: int = 6) -> str:
    """A bound from above, rounded up; in 13 or 17 digits where fewer hide that it is below 1."""
    roundings = (_round_up(bound, count) for count in (digits, 13, 17))
    return f"{next(rounded for rounded in roundings if not bound < 1 <= rounded).normalize():f}"


def bound_text(bound: float, digits: int = 6) -> str:
    """A bound from above, rounded up, in as few characters as that takes."""
    return f"{_round_up(bound, digits):g}"


def error_text(number: Number) -> str:
    """An error bound to two digits, rounded up."""
    if not is_finite(number):
        return _NAMES[str(number)]
    rounded = _round_up(float(number), 2)
    return scientific(rounded, 2) if rounded else "0"


def _round_up(bound: float, digits: int) -> Decimal:
    """The least number of so many digits that is no less than the bound."""
    return Context(prec=digits, rounding=ROUND_CEILING).create_decimal(Decimal(bound))


def escape_unprintable(words: str) -> str:
    """Text for a page: what turns it around or hides in it stands as its escape."""
    if words.isprintable():  # nearly all text of a page
        return words
    return "\n".join(map(printable, words.split("\n")))


def scientific(real: float | Decimal, digits: int) -> str:
    """m·10ᵉ with so many digits of m."""
    mantissa, exponent = f"{real:.{digits - 1}e}".split("e")
    power = str(int(exponent)).translate(SUPERSCRIPTS)
    return f"{mantissa}·10{power}".replace("-", "−")


def count(value: int) -> str:
    """Thousands grouped: 1,234,567."""
    return f"{value:,}"


def rounded_count(value: int) -> str:
    """1,234, and from a million on in millions to a tenth, rounded down: 24.5 million."""
    return count(value) if value < 10**6 else f"{value // 10**5 / 10:,} million"


def capitalise(sentence: str) -> str:
    """The sentence with a capital first letter, if that is one of ASCII: λ is a symbol."""
    return sentence[:1].upper() + sentence[1:] if sentence[:1].isascii() else sentence


def plural(value: int, noun: str) -> str:
    """1 step, 2 steps."""
    return f"{count(value)} {noun}" if value == 1 else f"{count(value)} {noun}s"


def record_number(value: Number) -> Number:
    """A finite float as it is, any other as its name: "inf", "-inf" or "nan"."""
    real = float(value)
    if math.isfinite(real):
        return real
    return "nan" if math.isnan(real) else ("inf" if real > 0 else "-inf")


def is_finite(value: Number | None) -> bool:
    """True if the value is a finite number and not None."""
    return value is not None and math.isfinite(float(value))


def greatest_ratio(*ratios: Number | None) -> Number | None:
    """The greatest of the ratios that are there; NaN if one of them is NaN."""
    present = [float(ratio) for ratio in ratios if ratio is not None]
    if not present:
        return None
    return record_number(math.nan if any(map(math.isnan, present)) else max(present))
