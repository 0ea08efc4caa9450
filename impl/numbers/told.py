"""Numbers in JSON, which has no infinities."""

import math
from typing import Any


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
