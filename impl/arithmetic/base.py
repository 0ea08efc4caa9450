"""Arithmetics: a cell is written once, as a step over numbers of any kind.

A step says how the next state of a cell comes from its state, its input and its named parameters:

    def step(m: Arithmetic[V], s: V, x: V) -> V:
        return m.activate("tanh", m.affine("W", None, s) + m.affine("U", "b", x))

Over `Floats` it runs, over `impl.arithmetic.entries.Balls` it is enclosed, over
`impl.arithmetic.derivatives.dual_numbers.DualArithmetic` it is differentiated, over
`impl.arithmetic.slopes.SlopeArithmetic` and
`impl.arithmetic.derivatives.second_order.JetArithmetic` it is bounded. A number is a vector of
units, of one state or of many, its columns; parameters are matrices (m, n) and vectors (m,), by
name. Source: Griewank & Walther, Evaluating Derivatives, for
the idea.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.arithmetic.elementary import Elementary

_FUNCTIONS: Mapping[str, Callable[[Tensor], Tensor]] = {
    **{name: activation(name).function for name in ("sigmoid", "tanh", "softplus", "sin")},
    "exp": torch.exp,
    "cos": torch.cos,
    "reciprocal": torch.reciprocal,
    "sqrt": lambda a: a.clamp(min=0.0).sqrt(),
}

ALL = slice(None)  # all rows of a parameter


V = TypeVar("V", bound=Elementary)


class Arithmetic(Protocol[V]):
    """The arithmetic that a cell's step runs over, with the named parameters of the cell.

    `rows` selects rows of a parameter that several gates share.

    >>> def program(self, m, s, x):  # m is one: h⁺ = tanh(W h + U x + b)
    ...     return (m.affine("W", None, s) + m.affine("U", "b", x)).tanh()
    """

    def affine(self, weight: str, bias: str | None, v: V, rows: slice = ALL) -> V:
        """W v + b; without b where it is None or the parameters have none of that name."""

    def vector(self, name: str, rows: slice = ALL) -> V:
        """A parameter vector."""

    def activate(self, name: str, v: V) -> V:
        """ρ(v) for an activation of `impl.arithmetic.activation`."""

    def slope(self, name: str, v: V) -> V:
        """ρ′(v)."""

    def mix(self, gate: V, a: V, b: V) -> V:
        """g∘a + (1 − g)∘b for 0 ≤ g ≤ 1: one operation, as it moves less than its parts may."""

    def join(self, *parts: V) -> V:
        """All units of the parts, one after another."""


class Program(Protocol):
    """A step over any arithmetic: the next state of s under x."""

    def __call__(self, m: Arithmetic[V], s: V, x: V, /) -> V:
        """φ(s, x)."""


@dataclass(frozen=True, eq=False)
class Rows(Elementary):
    """Columns as rows of a tensor (…, M, N), of any dtype and device, differentiable."""

    value: Tensor

    def __add__(self, other: Self) -> Self:
        return type(self)(self.value + other.value)

    def __sub__(self, other: Self) -> Self:
        return type(self)(self.value - other.value)

    def __mul__(self, other: Self) -> Self:
        return type(self)(self.value * other.value)

    def __neg__(self) -> Self:
        return type(self)(-self.value)

    def constant(self, c: float) -> Self:
        """That number in the place of each unit."""
        return type(self)(torch.full_like(self.value, c))

    @property
    def size(self) -> int:
        """The number N of units."""
        return self.value.shape[-1]

    def function(self, name: str) -> Self:
        """The elementary function of that name."""
        return type(self)(_FUNCTIONS[name](self.value))

    def part(self, start: int, stop: int) -> Self:
        """The units from start on, before stop."""
        return type(self)(self.value[..., start:stop])


@dataclass(frozen=True, eq=False)
class Floats:
    """Parameters (…, m, n) and (…, m) whose leading axes broadcast with those of the rows."""

    parameters: Mapping[str, Tensor]

    def affine(self, weight: str, bias: str | None, v: Rows, rows: slice = ALL) -> Rows:
        """W v + b."""
        value = v.value @ self.parameters[weight][..., rows, :].mT
        b = None if bias is None else self.parameters.get(bias)
        return Rows(value if b is None else value + b[..., None, rows])

    def vector(self, name: str, rows: slice = ALL) -> Rows:
        """A parameter vector."""
        return Rows(self.parameters[name][..., None, rows])

    def activate(self, name: str, v: Rows) -> Rows:
        """ρ(v)."""
        return Rows(activation(name)(v.value))

    def slope(self, name: str, v: Rows) -> Rows:
        """ρ′(v)."""
        return Rows(activation(name).derivative(v.value))

    def mix(self, gate: Rows, a: Rows, b: Rows) -> Rows:
        """g∘a + (1 − g)∘b."""
        g = gate.value
        return Rows(g * a.value + (1 - g) * b.value)

    def join(self, *parts: Rows) -> Rows:
        """All units of the parts, one after another."""
        values = [part.value for part in parts]
        shapes = [value.shape[:-1] for value in values]
        if any(shape != shapes[0] for shape in shapes):
            shape = torch.broadcast_shapes(*shapes)  # type: ignore[no-untyped-call]
            values = [value.expand(*shape, -1) for value in values]
        return Rows(torch.cat(values, dim=-1))
