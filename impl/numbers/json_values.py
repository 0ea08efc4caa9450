"""Numbers in JSON, which has no infinities."""

import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

from msgspec import UNSET, Struct, structs


def finite_or_none(value: float) -> float | None:
    """None for what JSON has no number for."""
    return value if math.isfinite(value) else None


def as_json(item: object) -> Any:
    """A record as JSON has it: made of dict, list, str, bool, int, finite float and None alone.

    A number of a class of its own, as one of NumPy's, becomes that plain number, and an infinite
    one or NaN None. A struct is an object with the keys of its format, without what
    is not set, nor, where it omits its defaults, what is None by default; whatever else has a
    `to_dict` is what that says. Raises TypeError for all else.
    """
    if item is None or isinstance(item, bool):
        return item
    if isinstance(item, Struct):
        values = [(part, getattr(item, part.name)) for part in structs.fields(item)]
        return {
            part.encode_name: as_json(value)
            for part, value in values
            if value is not UNSET
            and not (item.__struct_config__.omit_defaults and value is part.default is None)
        }
    if hasattr(item, "to_dict"):
        return as_json(item.to_dict())
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
