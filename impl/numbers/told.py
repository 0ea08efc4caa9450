"""Numbers as they are told: bounds rounded outwards, and JSON without infinities."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
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


def all_finite(told: Any) -> Any:
    """The same for every number in data of lists and tables."""
    if isinstance(told, dict):
        return {name: all_finite(item) for name, item in told.items()}
    if isinstance(told, list | tuple):
        return [all_finite(item) for item in told]
    return finite(told) if isinstance(told, float) else told
