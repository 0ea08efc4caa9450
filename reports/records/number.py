"""Numbers of records, those that JSON lacks included.

JSON has no infinity and no NaN. A number that is not finite travels as the string "inf",
"-inf" or "nan", in memory too; `float(number)` turns either back. Building a struct from plain
floats does the conversion, so that NaN compares equal to itself and never looks like a number.
"""

import math
from typing import Literal

Number = float | Literal["inf", "-inf", "nan"]


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
