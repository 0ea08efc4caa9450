"""Numbers as they are told: bounds rounded outwards, and JSON without infinities."""

import math
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from numbers import Integral, Real
from typing import Any


def at_least(value: float, digits: int = 6) -> str:
    """A bound from above to that many digits, rounded up."""
    return f"{Context(prec=digits, rounding=ROUND_CEILING).create_decimal(Decimal(value)):g}"


def at_most(value: float) -> str:
    """A bound from below to six digits, rounded down."""
    return f"{Context(prec=6, rounding=ROUND_FLOOR).create_decimal(Decimal(value)):g}"


def factor(lam: float) -> str:
    """A factor rounded up to nine digits, or to as many as keep it below 1 if it is."""
    told = (at_least(lam, digits) for digits in (9, 13, 17))
    return next((text for text in told if not lam < 1 <= float(text)), repr(lam))


def finite(value: float) -> float | None:
    """None for what JSON has no number for."""
    return value if math.isfinite(value) else None


def as_json(item: object) -> Any:
    """A record as JSON has it: made of dict, list, str, bool, int, finite float and None alone.

    A number of a class of its own, as an `InputSet` or one of NumPy's, becomes that plain number,
    and an infinite one or NaN None. Raises TypeError for whatever else is no JSON.
    """
    if item is None or isinstance(item, bool):
        return item
    if isinstance(item, str):
        return str(item)
    if isinstance(item, Integral):
        return int(item)
    if isinstance(item, Real):
        return finite(float(item))
    if isinstance(item, Mapping):
        return {str(name): as_json(value) for name, value in item.items()}
    if isinstance(item, list | tuple):
        return [as_json(value) for value in item]
    raise TypeError(f"{type(item).__name__} is no JSON")
