"""Accuracies ε > 0 as callers state them: one or several, numbers or shares of a bound."""

import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, SupportsFloat

from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.errors import InputError, RangeError, shown

EPSILONS = (1e-2, 1e-4, 1e-6)  # the default
Epsilons = float | str | Sequence[float | str]
"""One ε or several, each a number or a share of the bound on the output, as "5%"."""


def share_of(text: str) -> float:
    """The share in a text, 0.05 of "5%"; raises RangeError unless it is above 0% and up to 100%,
    beyond which no input is needed."""
    number = text.removesuffix("%")
    if number != text and number.isascii():
        with suppress(ValueError):
            if 0 < (share := float(number)) <= 100:
                return share / 100
    raise RangeError("ε", repr(text), "a number > 0, or a share above 0% and up to 100%, as 5%")


class ShareError(InputError):
    """A share of a bound on the output where none is certified."""

    def __init__(self, share: str) -> None:
        super().__init__(
            f"ε = {shown(share)} is a share of the certified bound on the output, and none is "
            f"known here; give ε as a number"
        )


def each_epsilon(eps: Epsilons) -> tuple[Any, ...]:
    """Each ε of one or several, as it was given; raises RangeError for none."""
    # A tensor without axes is Iterable by its type.
    is_one = isinstance(eps, str) or not isinstance(eps, Iterable) or getattr(eps, "ndim", 1) == 0
    values: tuple[Any, ...] = (eps,) if is_one else tuple(eps)  # type: ignore[arg-type]
    if not values:
        raise RangeError("the list of ε", "empty", "at least one number > 0")
    return values


def epsilons_of(eps: float | Sequence[float]) -> tuple[float, ...]:
    """Each ε as a float; raises RangeError for none or what is no number > 0, and ShareError."""
    values = each_epsilon(eps)
    for value in values:
        if isinstance(value, str) and value.endswith("%"):
            raise ShareError(value)
        number = isinstance(value, SupportsFloat) and not isinstance(value, InputSet)
        if not (number and value <= sys.float_info.max and float(value) > 0):
            raise RangeError("ε", value if number else repr(value), "a number > 0")
    return tuple(map(float, values))
