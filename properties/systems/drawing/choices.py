"""Choices of fields: along a table, or made of booleans, for what Hypothesis draws.

Hypothesis mixes constants found in the loaded modules into integer and float draws, so that an
import would change a campaign; booleans are left alone, and a seed then means the same specs in
every process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from math import floor, log
from typing import Any, TypeVar

from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.properties.systems.spec import SystemSpec

Choice = TypeVar("Choice")
# λᵏ falls below 2⁻²⁴ at the last window drawn at random; longer windows are the extremal attack's.
DEPTH = 24 * log(2)
SEED_BITS = 16


def pick(options: Sequence[Choice]) -> st.SearchStrategy[Choice]:
    """One of the options, the first one simplest."""
    return _picked(tuple(options), tuple(map(type, options)))


@cache
def _picked(
    options: tuple[Choice, ...], types: tuple[type, ...]
) -> st.SearchStrategy[Choice]:  # made once, since Hypothesis looks each strategy over
    count = max(1, (2 * len(options) - 1).bit_length())
    bits = st.tuples(*[st.booleans()] * count)
    return bits.map(lambda bs: options[sum(b << i for i, b in enumerate(bs)) % len(options)])


@cache
def seeds() -> st.SearchStrategy[int]:
    """A seed of few bits, since Hypothesis looks at each of them: a block draws few specs, and a
    later one moves its seeds by a number of its own."""
    bits = st.tuples(*[st.booleans()] * SEED_BITS)
    return bits.map(lambda bs: sum(b << i for i, b in enumerate(bs)))


def largest_visible_window(lam: float, T: int, K: int, depth: float = DEPTH) -> int:
    """K, cut to T and to the windows at which λᵏ can still be seen in float64."""
    if 0 < lam < 1:
        K = min(K, floor(depth / log(1 / lam)))
    return min(K, T)


def spec_grid(base: SystemSpec, *axes: Mapping[str, Sequence[Any]]) -> Iterator[SystemSpec]:
    """The spec with each choice along the axes, that of the last axis changing fastest; the fields
    of one axis change together."""
    axis_choices = [
        [dict(zip(axis, values, strict=True)) for values in zip(*axis.values(), strict=True)]
        for axis in axes
    ]
    for combination in product(*axis_choices):
        yield replace(base, **{name: value for step in combination for name, value in step.items()})
