"""Lengths in the step of a cell: units that meet are of equal numbers, or the step is refused.

Whoever repeats one unit in silence where it meets n misses that Δu = Δv·(1, …, 1)ᵀ moves √n times
as far as Δv. A first run over shapes alone refuses what no arithmetic can run.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, Self

import torch

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.arithmetic.base import ALL
from rnnbounds.impl.arithmetic.elementary import Elementary, LengthError
from rnnbounds.impl.errors import InputError

Step = Callable[[Any, Any, Any, Any], Any]


class _PartError(Exception):
    """Units that are cut as there are none."""


@dataclass(frozen=True)
class _Shape(Elementary):
    """So many units without values, which are cut as there are."""

    units: int

    def __add__(self, other: Self) -> Self:
        return self

    __sub__ = __mul__ = __add__

    def __neg__(self) -> Self:
        return self

    def constant(self, c: float) -> Self:
        """That number in the place of each unit."""
        return self

    @property
    def size(self) -> int:
        """How many units."""
        return self.units

    def function(self, name: str) -> Self:
        """The elementary function of that name."""
        return self

    def chunk(self, count: int) -> tuple[Self, ...]:
        """So many equal parts of the units."""
        if self.size % count:
            raise _PartError(f"cuts {self.size} units into {count} equal parts")
        return super().chunk(count)

    def part(self, start: int, stop: int) -> Self:
        """The units from start on, before stop."""
        if not 0 <= start < stop <= self.size:
            raise _PartError(f"takes the units {start} to {stop} of {self.size}")
        return type(self)(stop - start)


@dataclass(frozen=True)
class _Shapes:
    """The arithmetic of shapes, with those of the parameters."""

    parameters: Mapping[str, torch.Size]

    def affine(self, weight: str, bias: str | None, v: _Shape, rows: slice = ALL) -> _Shape:
        """W v + b."""
        height, width = self.parameters[weight][-2:]
        _require_equal(width, v.size)
        if bias is not None and bias in self.parameters:
            _require_equal(height, self.parameters[bias][-1])
        return _Shape(len(range(height)[rows]))

    def vector(self, name: str, rows: slice = ALL) -> _Shape:
        """A parameter vector."""
        return _Shape(len(range(self.parameters[name][-1])[rows]))

    def activate(self, name: str, v: _Shape) -> _Shape:
        """ρ(v)."""
        activation(name)
        return v

    slope = activate

    def mix(self, gate: _Shape, a: _Shape, b: _Shape) -> _Shape:
        """g∘a + (1 − g)∘b."""
        _require_equal(gate.size, a.size)
        _require_equal(a.size, b.size)
        return a

    def join(self, *parts: _Shape) -> _Shape:
        """All units of the parts, one after another."""
        return _Shape(sum(part.size for part in parts))


def of_equal_lengths(step: Step) -> Step:
    """A cell's step φ(m, s, x), or its gate, in which all units that meet are of equal numbers.

    Raises InputError for a step that no arithmetic can run, before any does.
    """

    @wraps(step)
    def run(cell: Any, m: Any, s: Any, x: Any) -> Any:
        traced = vars(cell).setdefault("_traced", set())  # of this cell, whose shapes stay
        if not isinstance(m, _Shapes) and (step, s.size) not in traced:
            _trace(step, cell, s.size)
            traced.add((step, s.size))
        return step(cell, m, s, x)

    return run


def _unrunnable(cell: object, fault: str) -> InputError:
    return InputError(
        f"the step of the cell {type(cell).__name__} {fault}; write it with + − × of numbers of "
        f"equal lengths, and the functions of rnnbounds.cells.Arithmetic"
    )


def _require_equal(first: int, other: int) -> None:
    if first != other:
        raise LengthError(first, other)


def _trace(step: Step, cell: Any, size: int) -> None:
    """Run the step on shapes; raises InputError."""
    shapes = {name: parameter.shape for name, parameter in cell.parameters.items()}
    try:
        result = step(cell, _Shapes(shapes), _Shape(size), _Shape(cell.d))
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
