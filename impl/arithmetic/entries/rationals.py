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
from rnnbounds.impl.arithmetic.entries.units import Entries, OneSystem
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.numbers.ball_functions import exact_value as exactly_at
from rnnbounds.impl.numbers.rationals import rational_matrix


class IrrationalError(InputError):
    """A function whose values leave the rationals."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} leaves the rationals; enclose the step in balls")


def known(name: str, function: Callable[[fmpq], fmpq | None]) -> Callable[[fmpq], fmpq]:
    """The function of that name, raising IrrationalError where it is not known to be rational."""

    def value(z: fmpq) -> fmpq:
        found = function(z)
        if found is None:
            raise IrrationalError(name)
        return found

    return value


class Ratios(Entries[fmpq, fmpq_mat]):
    """Units of M columns each, as rows of M rationals."""

    table = fmpq_mat

    def function(self, name: str) -> Self:
        """The elementary function of that name, where that is rational; raises IrrationalError."""
        if name == "reciprocal":
            return self.mapped(lambda a: 1 / a)
        return self.mapped(known(name, partial(exactly_at, FUNCTIONS[name])))


@dataclass(frozen=True, eq=False)
class Rationals(OneSystem[Ratios]):
    """Parameters (m, n) and (m,) of one system, exact as floats are."""

    parameters: Mapping[str, Tensor]
    _known: dict[str, list[list[fmpq]]] = field(default_factory=dict)
    _matrices: dict[tuple[str, str], fmpq_mat] = field(default_factory=dict)

    def vector(self, name: str, rows: slice = ALL) -> Ratios:
        """A parameter vector."""
        return Ratios(self.rows(name)[rows])

    def activate(self, name: str, v: Ratios) -> Ratios:
        """ρ(v); raises IrrationalError."""
        if name == "identity":
            return v
        return v.mapped(known(name, activation(name).rational))

    def slope(self, name: str, v: Ratios) -> Ratios:
        """ρ′(v), that of the left side at a kink; raises IrrationalError."""
        return v.mapped(known(name, activation(name).rational_slope))

    def _matrix(self, weight: str, rows: slice) -> fmpq_mat:
        key = (weight, str(rows))
        if key not in self._matrices:
            self._matrices[key] = fmpq_mat(self.rows(weight)[rows])
        return self._matrices[key]

    def rows(self, name: str) -> list[list[fmpq]]:
        """A matrix, or a vector as one column."""
        if name not in self._known:
            part = self.parameters[name].detach()
            matrix = part if part.ndim == 2 else part[:, None]
            self._known[name] = rational_matrix(matrix).tolist()
        return self._known[name]
