"""One rule for numbers of different lengths: a number of one unit that meets n units is that number
for each of them. Any other two lengths are an error.

No arithmetic knows this rule. A step whose numbers have one length runs as it is; one in which
lengths differ runs over `Level`, which writes the one unit n times before they meet:

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

_KEPT = 4096  # forms of steps that are remembered
_known: dict[tuple[Any, ...], bool] = {}


class StepError(InputError):
    """A step that cannot be run over every arithmetic."""

    def __init__(self, cell: object, why: str) -> None:
        super().__init__(
            f"the step of the cell {type(cell).__name__} {why}; write it with + − × of numbers of "
            "equal lengths, or of one unit, and the functions of rnnbounds.Arithmetic"
        )


class _LengthError(Exception):
    """Two lengths that do not meet."""


@dataclass(frozen=True, eq=False)
class Level(Elementary):
    """A number of any arithmetic, written as often as there are units that it meets."""

    levels = True

    value: Any
    m: "Levelled"

    def to(self, size: int) -> Any:
        """Its value for so many units; raises _LengthError unless it has one, or as many."""
        if self.size == size:
            return self.value
        if self.size != 1:
            raise _LengthError(f"combines {self.size} and {size} units")
        return self.m.spread(self.value, size)

    def _with(self, other: Self) -> tuple[Any, Any]:
        size = max(self.size, other.size)
        return self.to(size), other.to(size)

    def __add__(self, other: Self) -> Self:
        one, two = self._with(other)
        return type(self)(one + two, self.m)

    def __sub__(self, other: Self) -> Self:
        one, two = self._with(other)
        return type(self)(one - two, self.m)

    def __mul__(self, other: Self) -> Self:
        one, two = self._with(other)
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
class Levelled:
    """An arithmetic over `Level`; `met` says whether one unit met several."""

    m: Any
    parameters: Mapping[str, Tensor]
    met: bool = False

    def spread(self, value: Any, size: int) -> Any:
        """One unit, that many times."""
        self.met = True
        return self.m.join(*[value] * size)

    def affine(self, weight: str, bias: str | None, v: Level, rows: slice = ALL) -> Level:
        """W v + b."""
        prepared = weight in getattr(self.m, "prepared", ())
        fed = v.value if prepared else v.to(self.parameters[weight].shape[-1])
        if bias is None or bias not in self.parameters:
            return Level(self.m.affine(weight, None, fed, rows), self)
        if self.parameters[bias].shape[-1] == self.parameters[weight].shape[-2]:
            return Level(self.m.affine(weight, bias, fed, rows), self)
        return Level(self.m.affine(weight, None, fed, rows), self) + self.vector(bias, rows)

    def vector(self, name: str, rows: slice = ALL) -> Level:
        """A parameter vector."""
        return Level(self.m.vector(name, rows), self)

    def activate(self, name: str, v: Level) -> Level:
        """ρ(v)."""
        return Level(self.m.activate(name, v.value), self)

    def slope(self, name: str, v: Level) -> Level:
        """ρ′(v)."""
        return Level(self.m.slope(name, v.value), self)

    def mix(self, gate: Level, a: Level, b: Level) -> Level:
        """g∘a + (1 − g)∘b."""
        size = max(gate.size, a.size, b.size)
        return Level(self.m.mix(*(v.to(size) for v in (gate, a, b))), self)

    def join(self, *parts: Level) -> Level:
        """All units of the parts, one after another."""
        return Level(self.m.join(*(part.value for part in parts)), self)


Step = Callable[[Any, Any, Any, Any], Any]


def levelled(step: Step) -> Step:
    """A cell's step φ(m, s, x), and its gates, in which a number of one unit may meet several.

    Raises StepError for a step that no arithmetic can run, before any does.
    """

    @wraps(step)
    def run(cell: Any, m: Any, s: Any, x: Any) -> Any:
        if isinstance(s, Level) or not _meets(step, cell, s.size):
            return step(cell, m, s, x)
        made = Levelled(m, cell.parameters)
        return _out(step(cell, made, Level(s, made), Level(x, made)), cell, s.size)

    return run


def _out(told: Any, cell: Any, size: int) -> Any:
    """Convert a step's result to `size` units; for `kept`, the pair of its gate and its flag."""
    if isinstance(told, tuple):
        gate, shut = told
        return gate.to(cell.n) if gate.size == 1 else gate.value, shut
    return told if told is None else told.to(size)


def _meets(step: Step, cell: Any, size: int) -> bool:
    """True if a step on a state of `size` units mixes lengths; cached. Raises StepError."""
    key = (step, size, _form(cell))
    try:
        if key in _known:
            return _known[key]
    except TypeError:  # a field of the cell that cannot be remembered
        return _traced(step, cell, size)
    if len(_known) >= _KEPT:
        _known.clear()
    _known[key] = _traced(step, cell, size)
    return _known[key]


def _form(cell: Any) -> tuple[Any, ...]:
    """Build the cache key of a step's lengths: the cell's type, the shapes of its weights, its
    other fields, and the keys of its layers. It references no weights."""
    made = (name for name in vars(cell) if not isinstance(_class_var(cell, name), cached_property))
    return (type(cell), *((name, _plain(vars(cell)[name])) for name in made))


def _plain(value: Any) -> Any:
    """A field of a cell by its form."""
    if isinstance(value, Tensor):
        return tuple(value.shape[-2:])
    if isinstance(value, Mapping):
        return tuple((name, _plain(part)) for name, part in value.items())
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return _form(value) if hasattr(value, "program") else value


def _class_var(cell: Any, name: str) -> Any:
    return getattr(type(cell), name, None)


def _traced(step: Step, cell: Any, size: int) -> bool:
    """True if the step mixes lengths, by a run on meta tensors; raises StepError."""
    blank = partial(torch.empty, dtype=torch.float64, device="meta")
    shapes = {name: blank(part.shape) for name, part in cell.parameters.items()}
    made = Levelled(Floats(shapes), cell.parameters)
    given = (Level(Rows(blank(1, each)), made) for each in (size, cell.d))
    try:
        _out(step(cell, made, *given), cell, size)
    except InputError:
        raise
    except KeyError as error:
        raise StepError(cell, f"reads {error}, which its layout lacks") from error
    except _LengthError as error:
        raise StepError(cell, str(error)) from error
    except Exception as error:  # whatever a step of one's own does
        raise StepError(cell, f"raises {type(error).__name__}: {error}") from error
    return made.met
