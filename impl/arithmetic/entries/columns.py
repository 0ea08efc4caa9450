"""Base class of columns of balls and of rationals: lists of units, each with an entry a column."""

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Self, TypeVar

from flint import arb, arb_mat, fmpq, fmpq_mat
from torch import Tensor

from rnnbounds.impl.arithmetic.base import ALL
from rnnbounds.impl.arithmetic.elementary import Elementary

N = TypeVar("N")
M = TypeVar("M", bound=arb_mat | fmpq_mat)
E = TypeVar("E", bound="Entries[Any, Any]")


@dataclass(frozen=True, eq=False)
class Entries(Elementary, Generic[N, M]):
    """Units of M columns each, as rows of M numbers; one column meets each of many."""

    units: list[list[N]]
    table: ClassVar[Any]  # flint's matrices of such numbers

    @classmethod
    def of(cls, matrix: M) -> Self:
        """The columns of a matrix (N, M)."""
        units: Any = matrix.tolist()
        return cls(units)

    @property
    def matrix(self) -> M:
        """The columns as a matrix (N, M)."""
        matrix: M = self.table(self.units)
        return matrix

    @property
    def size(self) -> int:
        """How many units."""
        return len(self.units)

    def __add__(self, other: Self) -> Self:
        return self.map_pairs(other, operator.add)

    def __sub__(self, other: Self) -> Self:
        return self.map_pairs(other, operator.sub)

    def __mul__(self, other: Self) -> Self:
        return self.map_pairs(other, operator.mul)

    def __neg__(self) -> Self:
        return self.map_entries(operator.neg)

    def part(self, start: int, stop: int) -> Self:
        """The units from start on, before stop."""
        return type(self)(self.units[start:stop])

    def constant(self, c: float) -> Self:
        """That number in the place of each unit, exactly."""
        return self.map_entries(
            lambda a: arb(c) if isinstance(a, arb) else fmpq(*c.as_integer_ratio())
        )

    def map_entries(self, f: Callable[[Any], Any]) -> Self:
        """f of each number."""
        return type(self)([list(map(f, unit)) for unit in self.units])

    def map_pairs(self, other: Self, f: Callable[[Any, Any], Any]) -> Self:
        """f of each pair of numbers."""
        pairs = zip(self.units, other.units, strict=True)
        rows = (map(f, u, v) if len(u) == len(v) else map(f, *_broadcast(u, v)) for u, v in pairs)
        return type(self)(list(map(list, rows)))

    @classmethod
    def joined(cls, *parts: Self) -> Self:
        """All units of the parts, one after another."""
        units = [unit for part in parts for unit in part.units]
        longest = max(len(unit) for unit in units)
        return cls([unit * longest if len(unit) < longest else unit for unit in units])


class OneSystem(ABC, Generic[E]):
    """Parameters (m, n) and (m,) of one system, exact as floats are, over such units."""

    parameters: Mapping[str, Tensor]

    def affine(self, weight: str, bias: str | None, v: E, rows: slice = ALL) -> E:
        """W v + b."""
        product = v.of(self._matrix(weight, rows) * v.matrix)
        if bias is None or bias not in self.parameters:
            return product
        return product + self.vector(bias, rows)

    @abstractmethod
    def vector(self, name: str, rows: slice = ALL) -> E:
        """A parameter vector."""

    def mix(self, gate: E, a: E, b: E) -> E:
        """g∘a + (1 − g)∘b."""
        return gate * a + gate.map_entries(lambda g: 1 - g) * b

    def join(self, *parts: E) -> E:
        """All units of the parts, one after another."""
        return parts[0].joined(*parts)

    @abstractmethod
    def _matrix(self, weight: str, rows: slice) -> Any: ...


def _broadcast(u: list[N], v: list[N]) -> tuple[list[N], list[N]]:
    """Repeat a single entry to the length of the other list; ValueError if neither is single."""
    if 1 not in (len(u), len(v)):
        raise ValueError(f"{len(u)} columns meet {len(v)}")
    return (u * len(v), v) if len(u) == 1 else (u, v * len(u))
