"""The arithmetic of balls: one system, its columns enclosed.

Everything is rigorous at the working precision of flint's context. Source: Johansson, Arb.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Self

from flint import arb, arb_mat
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.arithmetic.base import ALL
from rnnbounds.impl.arithmetic.entries.columns import Entries, OneSystem
from rnnbounds.impl.numbers import ball_functions as balls

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

    table = arb_mat

    def function(self, name: str) -> Self:
        """The elementary function of that name."""
        return self.map_entries(FUNCTIONS[name])


@dataclass(frozen=True, eq=False)
class Balls(OneSystem[Columns]):
    """Parameters (m, n) and (m,) of one system, exact as floats are."""

    parameters: Mapping[str, Tensor]
    _matrices: dict[tuple[str, str], arb_mat] = field(default_factory=dict)
    _vectors: dict[tuple[str, str], Columns] = field(default_factory=dict)

    def vector(self, name: str, rows: slice = ALL) -> Columns:
        """A parameter vector."""
        key = (name, str(rows))
        if key not in self._vectors:
            numbers = self.parameters[name].detach()[rows].tolist()
            self._vectors[key] = Columns([[arb(a)] for a in numbers])
        return self._vectors[key]

    def activate(self, name: str, v: Columns) -> Columns:
        """ρ(v)."""
        if name == "identity":
            return v
        return v.map_entries(activation(name).ball)

    def slope(self, name: str, v: Columns) -> Columns:
        """ρ′(v)."""
        return v.map_entries(activation(name).ball_derivative)

    def _matrix(self, weight: str, rows: slice) -> arb_mat:
        key = (weight, str(rows))
        if key not in self._matrices:
            self._matrices[key] = arb_mat(self.parameters[weight].detach()[rows].tolist())
        return self._matrices[key]
