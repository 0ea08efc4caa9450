"""Values as columns of one another: what several nodes are is computed at once.

Vectors and operators of a batch have their columns along an axis: (B, N, M) or (B, N, M, …) of
numbers with errors, (B, M, N) of rows without, (B, M, 1) of sizes. Those of one system in balls or
rationals are one column each, beside those of other nodes.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import singledispatch
from typing import Any

import torch

from rnnbounds.impl.arithmetic.base import Rows
from rnnbounds.impl.arithmetic.entries import Entries
from rnnbounds.properties.read.numbers.gaps import Difference
from rnnbounds.properties.read.numbers.rounded import Rounded, expand_columns, join_parts
from rnnbounds.theory.numbers.interval import Interval


@singledispatch
def columns_form(value: Any) -> Hashable:
    """The shape that values share which are columns of one; the identity of others."""
    return id(value)


@columns_form.register
def _(value: Rounded) -> Hashable:
    return value.v.shape[:2], value.v.shape[3:]


@columns_form.register(Entries)
def _(value: Entries[Any, Any]) -> Hashable:
    return value.size, len(value.units[0])


@columns_form.register
def _(value: Rows) -> Hashable:
    return value.value.shape[2]


@columns_form.register
def _(value: Difference) -> Hashable:  # type: ignore[type-arg]
    return columns_form(value.value), columns_form(value.gap)


@singledispatch
def count_columns(value: Any) -> int:
    """How many columns a value has; 0 of what has none."""
    return 0


@count_columns.register
def _(value: Rounded) -> int:
    return int(value.v.shape[2])


@count_columns.register(Entries)
def _(value: Entries[Any, Any]) -> int:
    return len(value.units[0])


@count_columns.register
def _(value: Rows) -> int:
    return int(value.value.shape[1])


@count_columns.register
def _(value: Difference) -> int:  # type: ignore[type-arg]
    return max(count_columns(value.value), count_columns(value.gap))


def join_operands(operands: Sequence[Sequence[Any]]) -> list[Any]:
    """The operands of several operations of one form, each in the columns of one."""
    if len(operands) == 1:
        return list(operands[0])
    columns = max(map(count_columns, operands[0]))
    return [join_columns(values, columns) for values in zip(*operands, strict=True)]


def join_columns(values: Sequence[Any], columns: int) -> Any:
    """Values of one form side by side, each as so many columns; one column of all stays one."""
    first = values[0]
    if isinstance(first, Difference):
        parts = ([getattr(v, name) for v in values] for name in ("value", "gap"))
        return Difference(*(join_columns(part, columns) for part in parts))
    is_one = all(value is first for value in values)
    if not count_columns(first) or (is_one and count_columns(first) == 1):
        return first
    if isinstance(first, Entries):
        units = zip(*(value.units for value in values), strict=True)
        return type(first)([[number for unit in row for number in unit] for row in units])
    if isinstance(first, Rows):
        wide = (v.value.expand(-1, columns, -1) for v in values)
        return Rows(torch.cat(list(wide), dim=1))
    return join_parts([expand_columns(v, (columns, *v.v.shape[3:])) for v in values], dim=2)


def split_columns(value: Any, count: int) -> list[Any]:
    """The parts of so many values side by side; what is one for all stays one."""
    if count == 1:
        return [value]
    if isinstance(value, Difference):
        both = zip(split_columns(value.value, count), split_columns(value.gap, count), strict=True)
        return [Difference(*pair) for pair in both]
    if isinstance(value, Interval):
        ends = (split_axis(end, count, 1) for end in value.ends)
        return [Interval(*pair) for pair in zip(*ends, strict=True)]
    if isinstance(value, Rounded):
        arrays = (value.v, value.e, value.error_norm)
        parts = ([None] * count if part is None else split_axis(part, count, 2) for part in arrays)
        return [Rounded(*one) for one in zip(*parts, strict=True)]
    if isinstance(value, Entries):
        if len(value.units[0]) == 1:
            return [value] * count
        return [type(value)([[n] for n in column]) for column in zip(*value.units, strict=True)]
    if isinstance(value, Rows):
        return [Rows(part) for part in split_axis(value.value, count, 1)]
    return split_axis(value, count, 1) if isinstance(value, torch.Tensor) else [value] * count


def split_axis(numbers: Any, count: int, axis: int) -> list[Any]:
    """Equal parts of an array along an axis, or the array itself where it is one for all."""
    size = numbers.shape[axis] // count
    if not size:
        return [numbers] * count
    before = (slice(None),) * axis
    return [numbers[(*before, slice(i * size, (i + 1) * size))] for i in range(count)]
