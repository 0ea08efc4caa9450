"""The carriers of one system: balls of the precision that is current, and rationals.

A carrier makes vectors and operators of tensors, multiplies them and measures them, in one
arithmetic. Here a vector is one column, an operator has a column for each direction.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import reduce
from math import isfinite
from typing import Any, ClassVar

import numpy as np
from flint import arb, arb_mat, fmpq, fmpq_mat
from numpy.typing import NDArray

from rnnbounds.impl.arithmetic.entries import (
    Balls,
    Columns,
    Entries,
    IrrationalError,
    RationalColumns,
    Rationals,
)
from rnnbounds.impl.gradients.loss import Loss
from rnnbounds.impl.numbers.rationals import identity, rational
from rnnbounds.properties.read.float_carrier import FloatCarrier
from rnnbounds.properties.read.numbers import sizes
from rnnbounds.properties.read.numbers.seeds import (
    Directions,
    EntryDirections,
    Names,
    Parameters,
    Tensor,
    Value,
)
from rnnbounds.properties.read.numbers.sizes import Size


class EntryCarrier(ABC):
    """One system and one column of numbers of flint's."""

    arithmetic_class: ClassVar[Any]
    entry_class: ClassVar[Any]

    @staticmethod
    @abstractmethod
    def number(value: Any) -> Any:
        """A float or a rational, exactly."""

    def arithmetic(self, parameters: Parameters) -> Any:
        """Arithmetic over the parameters of the first system."""
        return self.arithmetic_class({name: part[0] for name, part in parameters.items()})

    @abstractmethod
    def exact_arithmetic(self, weights: Mapping[str, fmpq_mat]) -> Any:
        """The arithmetic of one system whose weights are rationals."""

    def directions(
        self, parameters: Parameters, units: int, inputs: int, trained: Names
    ) -> Directions:
        """Directions of derivatives of the first system."""
        return EntryDirections(parameters, units, inputs, trained, self.entry_class, self.number)

    def column(self, tensor: Tensor) -> Value:
        """The first vector of a tensor (B, N, S)."""
        return self.vector(tensor[0, :, 0].tolist())

    def vector(self, values: Sequence[Any]) -> Value:
        """A vector with these entries."""
        return self.entry_class([[self.number(v)] for v in values])

    def matrix(self, tensor: Tensor) -> Value:
        """The first operator of a tensor (B, m, N)."""
        return self.rows(tensor[0].tolist())

    def rows(self, rows: Sequence[Sequence[Any]]) -> Value:
        """An operator with these rows."""
        return self.entry_class([list(map(self.number, row)) for row in rows])

    def numbers(self, values: NDArray[np.float64]) -> Any:
        """The first number of (B, 1, 1)."""
        return self.number(float(values[0, 0, 0]))

    def times(self, A: Value, v: Value) -> Value:
        """The product of matrices, or that of every entry."""
        if isinstance(A, Entries):
            return self.entry_class.of(A.matrix * v.matrix)
        if isinstance(A, Size) or isinstance(v, Size):
            return sizes.as_size(A) * sizes.as_size(v)
        if isinstance(v, Entries):
            return v.map_entries(lambda entry: A * entry)
        return A * v

    def of_numbers(self, head: str, known: Sequence[Any], values: Sequence[Value]) -> Value:
        """Powers of numbers; the largest or the modulus of sizes."""
        if head == "^":
            (exponent,), (base,) = known, values
            if isinstance(base, Size) and exponent == 2:
                return sizes.square_of(base)
            return sizes.sqrt_size(base) if exponent == Fraction(1, 2) else base ** int(exponent)
        if head == "Max":
            return reduce(Size.max, map(sizes.as_size, values))
        return sizes.as_size(values[0])

    def divide_units(self, v: Value, weights: Tensor) -> Value:
        """v_j/w_j, entry by entry."""
        w = map(self.number, weights[0].tolist())
        return self.entry_class([[a / b for a in unit] for unit, b in zip(v.units, w, strict=True)])

    def cut(self, tangent: Value, columns: slice) -> Value:
        """Some entries of every row."""
        return self.entry_class([row[columns] for row in tangent.units])

    def row(self, v: Value, before: int) -> Value:
        """An operator with one row: `before` zeros, then v."""
        return self.entry_class([[self.number(0.0)] * before + [unit[0] for unit in v.units]])

    def gradient(self, loss: Loss, h: Value) -> Value:
        """∇p at the numbers of one column."""
        return self.entry_class([[v] for v in self.slope(loss, [unit[0] for unit in h.units])])

    def gradient_gap(self, loss: Loss, h: Value, gap: Value) -> Value:
        """Values are subtracted, but where they are those of one state."""
        if all(unit[0] == 0 for unit in gap.units):
            return gap
        return self.gradient(loss, h) - self.gradient(loss, h - gap)

    @abstractmethod
    def slope(self, loss: Loss, h: list[Any]) -> Sequence[Any]:
        """The entries of ∇p(h)."""

    def euclidean(self, v: Value) -> Size:
        """The length of the only column, or of the only row."""
        return sizes.euclidean_size([entry for unit in v.units for entry in unit])

    def spectral(self, A: Value) -> Size:
        """‖A‖₂, block by block."""
        return sizes.spectral_size(A.units)

    def largest(self, v: Value, weights: Tensor | None) -> Size:
        """The largest entry over its weight."""
        return self.weighted_max(weights, [sizes.as_size(unit[0]) for unit in v.units])

    def row_norm(self, A: Value, weights: Tensor) -> Size:
        """The longest row over its weight."""
        return self.weighted_max(weights, [sizes.euclidean_size(row) for row in A.units])

    def row_sum_norm(self, A: Value, weights: Tensor) -> Size:
        """The largest sum of a row over its weight."""
        w = list(map(self.number, weights[0].tolist()))
        rows = ([a * b for a, b in zip(row, w, strict=True)] for row in A.units)
        return self.weighted_max(weights, list(map(sizes.absolute_sum_size, rows)))

    def transposed(self, A: Value) -> Value:
        """Aᵀ."""
        return self.entry_class([list(column) for column in zip(*A.units, strict=True)])

    def frobenius(self, A: Value) -> Any:
        """‖A‖_F², a number."""
        return sum((a * a for row in A.units for a in row), self.number(0.0))

    def weighted_max(self, weights: Tensor | None, found: list[Size]) -> Size:
        """The largest over its weight."""
        if weights is not None:
            each = zip(found, weights[0].tolist(), strict=True)
            found = [size if w == 1.0 else size / sizes.as_size(self.number(w)) for size, w in each]
        return sizes.largest_size(found)


class BallCarrier(EntryCarrier):
    """Balls of the precision that is current."""

    arithmetic_class, entry_class = Balls, Columns

    def exact_arithmetic(self, weights: Mapping[str, fmpq_mat]) -> Balls:
        """Ball arithmetic of weights given as rationals."""
        tables = {name: arb_mat(A).tolist() for name, A in weights.items()}
        return Balls(dict.fromkeys(weights), tables)  # type: ignore[arg-type]

    @staticmethod
    def number(value: Any) -> arb:
        """A point, or a ball around a rational."""
        return arb(fmpq(*value.as_integer_ratio()) if isinstance(value, Fraction) else value)

    def slope(self, loss: Loss, h: list[arb]) -> Sequence[arb]:
        """∇p(h)."""
        return loss.ball_gradient(h)


class RationalCarrier(EntryCarrier):
    """Rationals; what leaves them raises IrrationalError."""

    arithmetic_class, entry_class = Rationals, RationalColumns

    def exact_arithmetic(self, weights: Mapping[str, fmpq_mat]) -> Rationals:
        """Rational arithmetic of weights given as rationals."""
        tables = {name: A.tolist() for name, A in weights.items()}
        return Rationals(dict.fromkeys(weights), tables)  # type: ignore[arg-type]

    @staticmethod
    def number(value: Any) -> fmpq:
        """The number itself."""
        if isinstance(value, float) and not isfinite(value):
            raise IrrationalError(str(value))
        return value if isinstance(value, fmpq) else rational(value)

    def rank(self, A: Value) -> fmpq:
        """The rank of a matrix."""
        return fmpq(int(A.matrix.rank()))

    def is_scalar(self, A: Value) -> fmpq:
        """1 for ρ I with 0 ≤ ρ < 1, else 0."""
        rho, one = A.units[0][0], identity(A.size)
        return fmpq(int(0 <= rho < 1 and one * rho == A.matrix))

    def slope(self, loss: Loss, h: list[fmpq]) -> Sequence[fmpq]:
        """∇p(h)."""
        found = loss.rational_gradient(h)
        if found is None:
            raise IrrationalError(loss.name)
        return found


BALLS, RATIONALS = BallCarrier(), RationalCarrier()
Carrier = FloatCarrier | EntryCarrier
