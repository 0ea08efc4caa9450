"""Lengths in the step of a cell: units that meet are of equal numbers, or the step is refused.

Whoever repeats one unit in silence where it meets n misses that Δu = Δv·(1, …, 1)ᵀ moves √n times
as far as Δv. A first run over shapes alone refuses what no arithmetic can run.
"""

from collections.abc import Callable, Mapping
from functools import cached_property, partial, wraps
from typing import Any, Self

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.base import ALL, Floats, Rows
from rnnbounds.impl.arithmetic.elementary import LengthError
from rnnbounds.impl.errors import InputError

_CACHE_SIZE = 4096  # forms of steps that are remembered
_known_steps: set[tuple[Any, ...]] = set()
Step = Callable[[Any, Any, Any, Any], Any]


class _PartError(Exception):
    """Units that are cut as there are none."""


class _Shape(Rows):
    """Rows without values, whose units are cut as there are."""

    def chunk(self, count: int) -> tuple[Self, ...]:
        """So many equal parts of the units."""
        if self.size % count:
            raise _PartError(f"cuts {self.size} units into {count} equal parts")
        return super().chunk(count)

    def part(self, start: int, stop: int) -> Self:
        """The units from start on, before stop."""
        if not 0 <= start < stop <= self.size:
            raise _PartError(f"takes the units {start} to {stop} of {self.size}")
        return super().part(start, stop)


class _Shapes(Floats):
    """The arithmetic of shapes."""

    def affine(self, weight: str, bias: str | None, v: Rows, rows: slice = ALL) -> Rows:
        """W v + b."""
        W = self.parameters[weight]
        _require_equal(W.shape[-1], v.size)
        if bias is not None and bias in self.parameters:
            _require_equal(W.shape[-2], self.parameters[bias].shape[-1])
        return _Shape(super().affine(weight, bias, v, rows).value)

    def vector(self, name: str, rows: slice = ALL) -> Rows:
        """A parameter vector."""
        return _Shape(super().vector(name, rows).value)

    def activate(self, name: str, v: Rows) -> Rows:
        """ρ(v)."""
        return _Shape(super().activate(name, v).value)

    def slope(self, name: str, v: Rows) -> Rows:
        """ρ′(v)."""
        return _Shape(super().slope(name, v).value)

    def mix(self, gate: Rows, a: Rows, b: Rows) -> Rows:
        """g∘a + (1 − g)∘b."""
        _require_equal(gate.size, a.size)
        _require_equal(a.size, b.size)
        return _Shape(super().mix(gate, a, b).value)

    def join(self, *parts: Rows) -> Rows:
        """All units of the parts, one after another."""
        return _Shape(super().join(*parts).value)


def of_equal_lengths(step: Step) -> Step:
    """A cell's step φ(m, s, x), or its gate, in which all units that meet are of equal numbers.

    Raises InputError for a step that no arithmetic can run, before any does.
    """

    @wraps(step)
    def run(cell: Any, m: Any, s: Any, x: Any) -> Any:
        if not isinstance(m, _Shapes):
            _require_lengths(step, cell, s.size)
        return step(cell, m, s, x)

    return run


def _unrunnable(cell: object, fault: str) -> InputError:
    return InputError(
        f"the step of the cell {type(cell).__name__} {fault}; write it with + − × of numbers of "
        f"equal lengths, and the functions of rnnbounds.Arithmetic"
    )


def _require_equal(first: int, other: int) -> None:
    if first != other:
        raise LengthError(first, other)


def _require_lengths(step: Step, cell: Any, size: int) -> None:
    """Raise InputError for a step on a state of `size` units that mixes lengths; cached."""
    key = (step, size, _shape_key(cell))
    try:
        if key in _known_steps:
            return
    except TypeError:  # a field of the cell that cannot be remembered
        _trace(step, cell, size)
        return
    _trace(step, cell, size)
    if len(_known_steps) >= _CACHE_SIZE:
        _known_steps.clear()
    _known_steps.add(key)


def _shape_key(cell: Any) -> tuple[Any, ...]:
    """Build the cache key of a step's lengths: the cell's type, the shapes of its weights, its
    other fields, and the keys of its layers. It references no weights."""
    names = (
        name for name in vars(cell)
        if not isinstance(getattr(type(cell), name, None), cached_property)
    )  # fmt: skip
    return (type(cell), *((name, _field_key(vars(cell)[name])) for name in names))


def _field_key(value: Any) -> Any:
    """The part of a cache key for one field of a cell: shapes for tensors, else the value."""
    if isinstance(value, Tensor):
        return tuple(value.shape[-2:])
    if isinstance(value, Mapping):
        return tuple((name, _field_key(item)) for name, item in value.items())
    if isinstance(value, tuple):
        return tuple(map(_field_key, value))
    return _shape_key(value) if hasattr(value, "program") else value


def _trace(step: Step, cell: Any, size: int) -> None:
    """Run the step on meta tensors; raises InputError."""
    empty = partial(torch.empty, dtype=torch.float64, device="meta")
    shapes = {name: empty(parameter.shape) for name, parameter in cell.parameters.items()}
    s, x = (_Shape(empty(1, units)) for units in (size, cell.d))
    try:
        result = step(cell, _Shapes(shapes), s, x)
        if isinstance(result, tuple):  # of `kept`: a gate, of as many units as it keeps, and a flag
            if result[0].size == 1:
                _require_equal(1, cell.n)
        elif result is not None:
            _require_equal(result.size, size)
    except LengthError as error:
        raise _unrunnable(cell, f"combines {error.first} and {error.other} units") from error
    except InputError:
        raise
    except KeyError as error:
        raise _unrunnable(cell, f"reads {error}, which its layout lacks") from error
    except _PartError as error:
        raise _unrunnable(cell, str(error)) from error
    except Exception as error:  # whatever a step of one's own does
        raise _unrunnable(cell, f"raises {type(error).__name__}: {error}") from error
