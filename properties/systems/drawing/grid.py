"""Tables of specs: every choice along some axes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from msgspec.structs import replace

from rnnbounds.properties.systems.spec import SystemSpec


def grid(base: SystemSpec, *axes: Mapping[str, Sequence[Any]]) -> Iterator[SystemSpec]:
    """The spec with each choice along the axes, that of the last axis changing fastest; the fields
    of one axis change together."""
    steps = [
        [dict(zip(axis, values, strict=True)) for values in zip(*axis.values(), strict=True)]
        for axis in axes
    ]
    for chosen in product(*steps):
        yield replace(base, **{name: value for step in chosen for name, value in step.items()})
