"""The arithmetic of balls: one system, its columns enclosed.

Everything is rigorous at the working precision of flint's context. Source: Johansson, Arb.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Self

from flint import arb, arb_mat
from torch import Tensor

from impl import balls
from impl.activation import activation
from impl.arithmetic import ALL


@dataclass(frozen=True, eq=False)
class Columns:
    """Units of M columns each, as rows of M balls."""

    units: list[list[arb]]

    @classmethod
    def of(cls, matrix: arb_mat) -> Self:
        """The columns of a matrix (N, M)."""
        return cls(matrix.tolist())

    @property
    def matrix(self) -> arb_mat:
        """The columns as a matrix (N, M)."""
        return arb_mat(self.units)

    @property
    def size(self) -> int:
        """N."""
        return len(self.units)

    def __add__(self, other: Self) -> Self:
        return self.met(other, lambda a, b: a + b)

    def __sub__(self, other: Self) -> Self:
        return self.met(other, lambda a, b: a - b)

    def __mul__(self, other: Self) -> Self:
        return self.met(other, lambda a, b: a * b)

    def __neg__(self) -> Self:
        return self.mapped(lambda a: -a)

    def sigmoid(self) -> Self:
        """1/(1 + e⁻ᵃ)."""
        return self.mapped(balls.sigmoid)

    def tanh(self) -> Self:
        """tanh a."""
        return self.mapped(lambda a: a.tanh())

    def exp(self) -> Self:
        """eᵃ."""
        return self.mapped(lambda a: a.exp())

    def softplus(self) -> Self:
        """log(1 + eᵃ)."""
        return self.mapped(balls.softplus)

    def sin(self) -> Self:
        """sin a."""
        return self.mapped(lambda a: a.sin())

    def cos(self) -> Self:
        """cos a."""
        return self.mapped(lambda a: a.cos())

    def reciprocal(self) -> Self:
        """1/a."""
        return self.mapped(lambda a: 1 / a)

    def chunk(self, count: int) -> tuple[Self, ...]:
        """So many equal parts of the units."""
        size = self.size // count
        return tuple(self.part(i * size, (i + 1) * size) for i in range(count))

    def part(self, start: int, stop: int) -> Self:
        """The units from start on, before stop."""
        return type(self)(self.units[start:stop])

    def mapped(self, f: Callable[[arb], arb]) -> Self:
        """f of each ball."""
        return type(self)([[f(a) for a in unit] for unit in self.units])

    def met(self, other: Self, f: Callable[[arb, arb], arb]) -> Self:
        """f of each pair of balls; one column meets each of many."""
        pairs = zip(self.units, other.units, strict=True)
        return type(self)([[f(a, b) for a, b in zip(*_level(u, v), strict=True)] for u, v in pairs])


@dataclass(frozen=True, eq=False)
class Balls:
    """Parameters (m, n) and (m,) of one system, exact as floats are."""

    parameters: Mapping[str, Tensor]
    _known: dict[tuple[str, str], arb_mat] = field(default_factory=dict)

    def affine(self, weight: str, bias: str | None, v: Columns, rows: slice = ALL) -> Columns:
        """W v + b."""
        product = Columns.of(self._matrix(weight, rows) * v.matrix)
        if bias is None or bias not in self.parameters:
            return product
        return product + self.vector(bias, rows)

    def vector(self, name: str, rows: slice = ALL) -> Columns:
        """A parameter vector."""
        return Columns([[arb(a)] for a in self.parameters[name].detach()[rows].tolist()])

    def activate(self, name: str, v: Columns) -> Columns:
        """ρ(v)."""
        return v.mapped(activation(name).ball)

    def slope(self, name: str, v: Columns) -> Columns:
        """ρ′(v)."""
        return v.mapped(activation(name).ball_derivative)

    def mix(self, gate: Columns, a: Columns, b: Columns) -> Columns:
        """g∘a + (1 − g)∘b."""
        return gate * a + gate.mapped(lambda g: 1 - g) * b

    def join(self, *parts: Columns) -> Columns:
        """All units of the parts, one after another."""
        units = [unit for part in parts for unit in part.units]
        most = max(len(unit) for unit in units)
        return Columns([unit * most if len(unit) < most else unit for unit in units])

    def _matrix(self, weight: str, rows: slice) -> arb_mat:
        key = (weight, str(rows))
        if key not in self._known:
            self._known[key] = arb_mat(self.parameters[weight].detach()[rows].tolist())
        return self._known[key]


def _level(u: list[arb], v: list[arb]) -> tuple[list[arb], list[arb]]:
    """Both of the length of the longer one."""
    return (u * len(v) if len(u) == 1 else u), (v * len(u) if len(v) == 1 else v)
