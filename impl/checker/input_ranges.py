"""Ranges of inputs in balls."""

from typing import NamedTuple

from flint import arb

from rnnbounds.impl.format.input_sets import StatedSet


class InputRanges(NamedTuple):
    """Inputs between low and high (d,)."""

    low: list[arb]
    high: list[arb]

    @classmethod
    def of(cls, stated: StatedSet | None) -> "InputRanges | None":
        """Those of a stated set, None for a ball alone."""
        return None if stated is None else cls([*map(arb, stated.low)], [*map(arb, stated.high)])
