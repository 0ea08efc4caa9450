"""The arithmetic of rationals: one system whose step stays in them, its columns exact."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Self

from flint import fmpq, fmpq_mat
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.arithmetic.base import ALL
from rnnbounds.impl.arithmetic.entries.balls import FUNCTIONS
from rnnbounds.impl.arithmetic.entries.columns import Entries, OneSystem
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.numbers.ball_functions import exact_value as exactly_at
from rnnbounds.impl.numbers.rationals import rational_matrix


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

    table = fmpq_mat

    def function(self, name: str) -> Self:
        """The elementary function of that name, where that is rational; raises IrrationalError."""
        if name == "reciprocal":
            return self.map_entries(lambda a: 1 / a)
        return self.map_entries(require_rational(name, partial(exactly_at, FUNCTIONS[name])))


@dataclass(frozen=True, eq=False)
class Rationals(OneSystem[RationalColumns]):
    """Parameters (m, n) and (m,) of one system, exact as floats are."""

    parameters: Mapping[str, Tensor]
    _rows: dict[str, list[list[fmpq]]] = field(default_factory=dict)
    _matrices: dict[tuple[str, str], fmpq_mat] = field(default_factory=dict)

    def vector(self, name: str, rows: slice = ALL) -> RationalColumns:
        """A parameter vector."""
        return RationalColumns(self.rows(name)[rows])

    def activate(self, name: str, v: RationalColumns) -> RationalColumns:
        """ρ(v); raises IrrationalError."""
        if name == "identity":
            return v
        return v.map_entries(require_rational(name, activation(name).rational))

    def slope(self, name: str, v: RationalColumns) -> RationalColumns:
        """ρ′(v), that of the left side at a kink; raises IrrationalError."""
        return v.map_entries(require_rational(name, activation(name).rational_slope))

    def _matrix(self, weight: str, rows: slice) -> fmpq_mat:
        key = (weight, str(rows))
        if key not in self._matrices:
            self._matrices[key] = fmpq_mat(self.rows(weight)[rows])
        return self._matrices[key]

    def rows(self, name: str) -> list[list[fmpq]]:
        """A matrix, or a vector as one column."""
        if name not in self._rows:
            parameter = self.parameters[name].detach()
            matrix = parameter if parameter.ndim == 2 else parameter[:, None]
            self._rows[name] = rational_matrix(matrix).tolist()
        return self._rows[name]
