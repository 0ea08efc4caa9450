"""Sets of inputs as records state them: a box, which holds all inputs beside the ball."""

from collections.abc import Mapping
from typing import Any, Literal

from rnnbounds.impl.format.fields import Ends

INFORMATION = ("what", "rows")  # of a whole certificate, beside what a record states


class StatedSet(Ends, frozen=True, forbid_unknown_fields=True):
    """All inputs of the box between low and high."""

    set: Literal["box"]


def record_inputs(stated: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The set of a whole certificate as a record states it: whatever it has of an earlier version
    stays, so that no record is read from it."""
    if stated is None:
        return None
    return {key: part for key, part in stated.items() if key not in INFORMATION}
