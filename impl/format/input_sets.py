"""Sets of inputs as records state them: a box, which holds all inputs beside the ball."""

from collections.abc import Mapping
from typing import Any, Literal

from rnnbounds.impl.format.fields import Ends

KEYS = ("set", "low", "high")


class StatedSet(Ends, frozen=True, forbid_unknown_fields=True):
    """All inputs of the box between low and high."""

    set: Literal["box"]


def record_inputs(stated: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The set of a whole certificate as a record states it."""
    return None if stated is None else {key: stated[key] for key in KEYS}
