"""Numbers in JSON, which has no infinities."""

import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any


def finite_or_none(value: float) -> float | None:
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
        return finite_or_none(float(item))
    if isinstance(item, Mapping):
        return {str(name): as_json(value) for name, value in item.items()}
    if isinstance(item, list | tuple):
        return [as_json(value) for value in item]
    raise TypeError(f"{type(item).__name__} is no JSON")
