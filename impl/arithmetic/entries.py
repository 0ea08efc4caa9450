"""The arithmetics of balls and of rationals: one system, its columns as lists of units.

Balls are rigorous at the working precision of flint's context, rationals exact, of steps that stay
in them. Source: Johansson, Arb.
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any, ClassVar, Generic, Self, TypeVar

from flint import arb, arb_mat, fmpq, fmpq_mat
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.arithmetic.base import ALL
from rnnbounds.impl.arithmetic.elementary import Elementary
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.numbers import ball_functions as balls
from rnnbounds.impl.numbers.ball_functions import exact_value as exactly_at
from rnnbounds.impl.numbers.rationals import rational

N = TypeVar("N")
M = TypeVar("M", bound=arb_mat | fmpq_mat)
E = TypeVar("E", bound="Entries[Any, Any]")


@dataclass(frozen=True, eq=False)
class Entries(Elementary, Generic[N, M]):
    """Units of M columns each, as rows of M numbers; one column meets each of many."""

    units: list[list[N]]
    table: ClassVar[Any]  # flint's matrices of such numbers
    number: ClassVar[Any]  # a float, exactly
    value: ClassVar[Any]  # of an activation ρ, the function on such numbers
    derivative: ClassVar[Any]  # and ρ′

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
        return self.map_entries(lambda _: self.number(c))

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


@dataclass(frozen=True, eq=False)
class OneSystem(Generic[E]):
    """Parameters (m, n) and (m,) of one system, exact as floats are, over such units."""

    parameters: Mapping[str, Tensor]
    _rows: dict[str, list[list[Any]]] = field(default_factory=dict)
    _matrices: dict[tuple[str, str], Any] = field(default_factory=dict)
    columns: ClassVar[Any]

    @classmethod
    def of_one(cls, parameters: Mapping[str, Tensor]) -> Self:
        """Those of the one system of a batch of one, (1, m, n) and (1, m)."""
        return cls({name: part[0] for name, part in parameters.items()})

    def rows(self, name: str) -> list[list[Any]]:
        """The numbers of a matrix, or of a vector as one column."""
        if name not in self._rows:
            parameter = self.parameters[name].detach()
            matrix = parameter if parameter.ndim == 2 else parameter[:, None]
            number = self.columns.number
            self._rows[name] = [list(map(number, row)) for row in matrix.double().tolist()]
        return self._rows[name]

    def affine(self, weight: str, bias: str | None, v: E, rows: slice = ALL) -> E:
        """W v + b."""
        key = (weight, str(rows))
        if key not in self._matrices:
            self._matrices[key] = v.table(self.rows(weight)[rows])
        product = v.of(self._matrices[key] * v.matrix)
        if bias is None or bias not in self.parameters:
            return product
        return product + self.vector(bias, rows)

    def vector(self, name: str, rows: slice = ALL) -> E:
        """A parameter vector."""
        vector: E = self.columns(self.rows(name)[rows])
        return vector

    def activate(self, name: str, v: E) -> E:
        """ρ(v); raises IrrationalError where that is no such number."""
        return v if name == "identity" else v.map_entries(v.value(activation(name)))

    def slope(self, name: str, v: E) -> E:
        """ρ′(v), of rationals that of the left side at a kink; raises as `activate`."""
        return v.map_entries(v.derivative(activation(name)))

    def mix(self, gate: E, a: E, b: E) -> E:
        """g∘a + (1 − g)∘b."""
        return gate * a + gate.map_entries(lambda g: 1 - g) * b

    def join(self, *parts: E) -> E:
        """All units of the parts, one after another."""
        return parts[0].joined(*parts)


def _broadcast(u: list[N], v: list[N]) -> tuple[list[N], list[N]]:
    """Repeat a single entry to the length of the other list; ValueError if neither is single."""
    if 1 not in (len(u), len(v)):
        raise ValueError(f"{len(u)} columns meet {len(v)}")
    return (u * len(v), v) if len(u) == 1 else (u, v * len(u))


FUNCTIONS: Mapping[str, Callable[[arb], arb]] = {
    "sigmoid": balls.sigmoid,
    "tanh": arb.tanh,
    "exp": arb.exp,
    "softplus": balls.softplus,
    "sin": arb.sin,
    "cos": arb.cos,
    "reciprocal": lambda a: 1 / a,
    "sqrt": balls.sqrt,
}


class Columns(Entries[arb, arb_mat]):
    """Units of M columns each, as rows of M balls."""

    table, number = arb_mat, arb
    value, derivative = attrgetter("ball"), attrgetter("ball_derivative")

    def function(self, name: str) -> Self:
        """The elementary function of that name."""
        return self.map_entries(FUNCTIONS[name])


class Balls(OneSystem[Columns]):
    """The arithmetic of balls."""

    columns = Columns


class IrrationalError(InputError):
    """A function whose values leave the rationals."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} leaves the rationals; enclose the step in balls")


def require_rational(name: str, function: Callable[[fmpq], fmpq | None]) -> Callable[[fmpq], fmpq]:
    """The function of that name, raising IrrationalError where it is not known to be rational."""

    def value(z: fmpq) -> fmpq:
        result = function(z)
        if result is None:
            raise IrrationalError(name)
        return result

    return value


class RationalColumns(Entries[fmpq, fmpq_mat]):
    """Units of M columns each, as rows of M rationals."""

    table, number = fmpq_mat, staticmethod(rational)
    value = staticmethod(lambda rho: require_rational(rho.name, rho.rational))
    derivative = staticmethod(lambda rho: require_rational(rho.name, rho.rational_slope))

    def function(self, name: str) -> Self:
        """The elementary function of that name, where that is rational; raises IrrationalError."""
        if name == "reciprocal":
            return self.map_entries(lambda a: 1 / a)
        return self.map_entries(require_rational(name, partial(exactly_at, FUNCTIONS[name])))


class Rationals(OneSystem[RationalColumns]):
    """The arithmetic of rationals."""

    columns = RationalColumns
