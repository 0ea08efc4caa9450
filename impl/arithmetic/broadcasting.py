"""Broadcasting in the step of a cell: a number of one unit that meets n units is repeated n times.
Any other two lengths are an error.

No arithmetic knows this rule. A step whose numbers have one length runs as it is; one in which
lengths differ runs over `BroadcastNumber`, which writes the one unit n times before they meet:

    Δu = Δv·(1, …, 1)ᵀ    and so    ‖Δu‖₂ = √n |Δv|,    ‖Δu‖_∞ = |Δv|,

is then what each arithmetic makes of its own `join`. Which of the two a step is, a first run over
shapes alone says, and refuses what no arithmetic can run.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial, wraps
from typing import Any, Self

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.base import ALL, Floats, Rows
from rnnbounds.impl.arithmetic.elementary import Elementary
from rnnbounds.impl.errors import InputError

_CACHE_SIZE = 4096  # forms of steps that are remembered
_mixes_cache: dict[tuple[Any, ...], bool] = {}


class StepError(InputError):
    """A step that cannot be run over every arithmetic."""

    def __init__(self, cell: object, fault: str) -> None:
        super().__init__(
            f"the step of the cell {type(cell).__name__} {fault}; write it with + − × of numbers "
            "of equal lengths, or of one unit, and the functions of rnnbounds.Arithmetic"
        )


class _LengthError(Exception):
    """Two lengths that do not meet."""


@dataclass(frozen=True, eq=False)
class BroadcastNumber(Elementary):
    """A number of any arithmetic, written as often as there are units that it meets."""

    levels = True

    value: Any
    m: "BroadcastArithmetic"

    def expanded_to(self, size: int) -> Any:
        """Its value for so many units; raises _LengthError unless it has one, or as many."""
        if self.size == size:
            return self.value
        if self.size != 1:
            raise _LengthError(f"combines {self.size} and {size} units")
        return self.m.repeat(self.value, size)

    def _broadcast(self, other: Self) -> tuple[Any, Any]:
        size = max(self.size, other.size)
        return self.expanded_to(size), other.expanded_to(size)

    def __add__(self, other: Self) -> Self:
        one, two = self._broadcast(other)
        return type(self)(one + two, self.m)

    def __sub__(self, other: Self) -> Self:
        one, two = self._broadcast(other)
        return type(self)(one - two, self.m)

    def __mul__(self, other: Self) -> Self:
        one, two = self._broadcast(other)
        return type(self)(one * two, self.m)

    def __neg__(self) -> Self:
        return type(self)(-self.value, self.m)

    def constant(self, c: float) -> Self:
        """That number in the place of each unit."""
        return type(self)(self.value.constant(c), self.m)

    def function(self, name: str) -> Self:
        """The elementary function of that name."""
        return type(self)(getattr(self.value, name)(), self.m)

    @property
    def size(self) -> int:
        """How many units."""
        return int(self.value.size)

    def chunk(self, count: int) -> tuple[Self, ...]:
        """So many equal parts of the units."""
        if self.size % count:
            raise _LengthError(f"cuts {self.size} units into {count} equal parts")
        return super().chunk(count)

    def part(self, start: int, stop: int) -> Self:
        """The units from start on, before stop."""
        if not 0 <= start < stop <= self.size:
            raise _LengthError(f"takes the units {start} to {stop} of {self.size}")
        return type(self)(self.value.part(start, stop), self.m)


@dataclass(eq=False)
class BroadcastArithmetic:
    """An arithmetic over `BroadcastNumber`; `mixes_lengths` says whether one unit met several."""

    m: Any
    parameters: Mapping[str, Tensor]
    mixes_lengths: bool = False

    def repeat(self, value: Any, size: int) -> Any:
        """One unit, that many times."""
        self.mixes_lengths = True
        return self.m.join(*[value] * size)

    def affine(
        self, weight: str, bias: str | None, v: BroadcastNumber, rows: slice = ALL
    ) -> BroadcastNumber:
        """W v + b."""
        is_prepared = weight in getattr(self.m, "prepared", ())
        value = v.value if is_prepared else v.expanded_to(self.parameters[weight].shape[-1])
        if bias is None or bias not in self.parameters:
            return BroadcastNumber(self.m.affine(weight, None, value, rows), self)
        if self.parameters[bias].shape[-1] == self.parameters[weight].shape[-2]:
            return BroadcastNumber(self.m.affine(weight, bias, value, rows), self)
        return BroadcastNumber(self.m.affine(weight, None, value, rows), self) + self.vector(
            bias, rows
        )

    def vector(self, name: str, rows: slice = ALL) -> BroadcastNumber:
        """A parameter vector."""
        return BroadcastNumber(self.m.vector(name, rows), self)

    def activate(self, name: str, v: BroadcastNumber) -> BroadcastNumber:
        """ρ(v)."""
        return BroadcastNumber(self.m.activate(name, v.value), self)

    def slope(self, name: str, v: BroadcastNumber) -> BroadcastNumber:
        """ρ′(v)."""
        return BroadcastNumber(self.m.slope(name, v.value), self)

    def mix(self, gate: BroadcastNumber, a: BroadcastNumber, b: BroadcastNumber) -> BroadcastNumber:
        """g∘a + (1 − g)∘b."""
        size = max(gate.size, a.size, b.size)
        return BroadcastNumber(self.m.mix(*(v.expanded_to(size) for v in (gate, a, b))), self)

    def join(self, *parts: BroadcastNumber) -> BroadcastNumber:
        """All units of the parts, one after another."""
        return BroadcastNumber(self.m.join(*(part.value for part in parts)), self)


Step = Callable[[Any, Any, Any, Any], Any]


def allow_scalar_units(step: Step) -> Step:
    """A cell's step φ(m, s, x), and its gates, in which a number of one unit may meet several.

    Raises StepError for a step that no arithmetic can run, before any does.
    """

    @wraps(step)
    def run(cell: Any, m: Any, s: Any, x: Any) -> Any:
        if isinstance(s, BroadcastNumber) or not _mixes_lengths(step, cell, s.size):
            return step(cell, m, s, x)
        broadcasting = BroadcastArithmetic(m, cell.parameters)
        return _fit_result(
            step(
                cell,
                broadcasting,
                BroadcastNumber(s, broadcasting),
                BroadcastNumber(x, broadcasting),
            ),
            cell,
            s.size,
        )

    return run


def _fit_result(result: Any, cell: Any, size: int) -> Any:
    """Convert a step's result to `size` units; for `kept`, the pair of its gate and its flag."""
    if isinstance(result, tuple):
        gate, is_input_gate = result
        return gate.expanded_to(cell.n) if gate.size == 1 else gate.value, is_input_gate
    return result if result is None else result.expanded_to(size)


def _mixes_lengths(step: Step, cell: Any, size: int) -> bool:
    """True if a step on a state of `size` units mixes lengths; cached. Raises StepError."""
    key = (step, size, _shape_key(cell))
    try:
        if key in _mixes_cache:
            return _mixes_cache[key]
    except TypeError:  # a field of the cell that cannot be remembered
        return _trace_lengths(step, cell, size)
    if len(_mixes_cache) >= _CACHE_SIZE:
        _mixes_cache.clear()
    _mixes_cache[key] = _trace_lengths(step, cell, size)
    return _mixes_cache[key]


def _shape_key(cell: Any) -> tuple[Any, ...]:
    """Build the cache key of a step's lengths: the cell's type, the shapes of its weights, its
    other fields, and the keys of its layers. It references no weights."""
    names = (name for name in vars(cell) if not isinstance(_class_var(cell, name), cached_property))
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


def _class_var(cell: Any, name: str) -> Any:
    return getattr(type(cell), name, None)


def _trace_lengths(step: Step, cell: Any, size: int) -> bool:
    """True if the step mixes lengths, by a run on meta tensors; raises StepError."""
    meta_tensor = partial(torch.empty, dtype=torch.float64, device="meta")
    shapes = {name: meta_tensor(parameter.shape) for name, parameter in cell.parameters.items()}
    broadcasting = BroadcastArithmetic(Floats(shapes), cell.parameters)
    arguments = (
        BroadcastNumber(Rows(meta_tensor(1, size)), broadcasting) for size in (size, cell.d)
    )
    try:
        _fit_result(step(cell, broadcasting, *arguments), cell, size)
    except InputError:
        raise
    except KeyError as error:
        raise StepError(cell, f"reads {error}, which its layout lacks") from error
    except _LengthError as error:
        raise StepError(cell, str(error)) from error
    except Exception as error:  # whatever a step of one's own does
        raise StepError(cell, f"raises {type(error).__name__}: {error}") from error
    return broadcasting.mixes_lengths
