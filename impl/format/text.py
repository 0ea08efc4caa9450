"""JSON texts that all readers read alike.

A key that comes twice and a number that is not in its plain form are refused, as two readers might
read two things.
"""

import json
from typing import Any


def plain(text: str) -> Any:
    """The value of a JSON text that is written as Python's `json` writes it: each key once, each
    float by its shortest digits, neither NaN nor infinity. Raises ValueError."""
    value = json.loads(text)
    if json.dumps(value, allow_nan=False) != text:
        raise ValueError("not in its plain form")
    return value


def strict(text: str) -> Any:
    """The value of a JSON text with each key once, neither NaN nor infinity. Raises ValueError."""

    def refused(name: str) -> Any:
        raise ValueError(f"{name} is no number")

    return json.loads(text, object_pairs_hook=once, parse_constant=refused)


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs; raises ValueError for a key that comes twice."""
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key comes twice")
    return value
