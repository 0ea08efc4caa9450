"""Forward differentiation over any arithmetic: values with their tangents.

A dual number v + ε v̇ moves by the product and the chain rule; of a value of one column, the
tangent may have many columns, one for each direction of the state or the input. The parameters move
along `velocity`, an arithmetic of their velocities, in all columns alike. Duals over duals give
derivatives of second order. Source: Griewank & Walther, Evaluating Derivatives, chapter 3.

Steps that are written over any arithmetic, run in floats and enclosed in balls.

The parameters of B systems are (B, m, n) and (B, m), by name.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Self

import torch
from flint import arb_mat
from torch import Tensor

from rnnbounds.impl.arithmetic.base import ALL, Arithmetic, Floats, Program, Rows, V
from rnnbounds.impl.arithmetic.elementary import Elementary
from rnnbounds.impl.arithmetic.entries import Balls, Columns
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.numbers.spectra.krawczyk import identity


@dataclass(frozen=True, eq=False)
class Dual(Elementary, Generic[V]):
    """A value and its tangent."""

    value: V
    tangent: V

    @property
    def size(self) -> int:
        """How many units."""
        return self.value.size

    def __add__(self, other: Self) -> Self:
        return type(self)(self.value + other.value, self.tangent + other.tangent)

    def __sub__(self, other: Self) -> Self:
        return type(self)(self.value - other.value, self.tangent - other.tangent)

    def __mul__(self, other: Self) -> Self:
        tangent = self.value * other.tangent + other.value * self.tangent
        return type(self)(self.value * other.value, tangent)

    def __neg__(self) -> Self:
        return type(self)(-self.value, -self.tangent)

    def constant(self, c: float) -> Self:
        """That number in the place of each unit, standing still."""
        return type(self)(self.value.constant(c), self.tangent.constant(0.0))

    def function(self, name: str) -> Self:
        """The elementary function of that name, by the chain rule."""
        value = getattr(self.value, name)()
        return type(self)(value, _SLOPES[name](self.value, value) * self.tangent)

    def part(self, start: int, stop: int) -> Self:
        """The units from start on, before stop."""
        return type(self)(self.value.part(start, stop), self.tangent.part(start, stop))


@dataclass(frozen=True, eq=False)
class DualArithmetic(Generic[V]):
    """Duals over the arithmetic `base`, with parameters that move along another, or stand still."""

    base: Arithmetic[V]
    velocity: Arithmetic[V] | None = None

    def affine(self, weight: str, bias: str | None, v: Dual[V], rows: slice = ALL) -> Dual[V]:
        """W v + b, and W v̇ + Ẇ v + ḃ."""
        tangent = self.base.affine(weight, None, v.tangent, rows)
        if self.velocity is not None:
            tangent = tangent + self.velocity.affine(weight, bias, v.value, rows)
        return Dual(self.base.affine(weight, bias, v.value, rows), tangent)

    def vector(self, name: str, rows: slice = ALL) -> Dual[V]:
        """A parameter vector."""
        value = self.base.vector(name, rows)
        if self.velocity is None:
            return Dual(value, value - value)
        return Dual(value, self.velocity.vector(name, rows))

    def activate(self, name: str, v: Dual[V]) -> Dual[V]:
        """ρ(v)."""
        slope = self.base.slope(name, v.value)
        return Dual(self.base.activate(name, v.value), slope * v.tangent)

    def slope(self, name: str, v: Dual[V]) -> Dual[V]:
        """ρ′(v), for the activations whose slope is made of elementary functions."""
        if name not in _TWICE:
            raise InputError(f"{name} is differentiated once only; twice are {', '.join(_TWICE)}")
        slope: Dual[V] = _SLOPES[name](v, v.sigmoid() if name == "sigmoid" else None)
        return slope

    def mix(self, gate: Dual[V], a: Dual[V], b: Dual[V]) -> Dual[V]:
        """g∘a + (1 − g)∘b, whose tangent is g∘ȧ + (1 − g)∘ḃ + ġ∘(a − b)."""
        mixed = self.base.mix(gate.value, a.tangent, b.tangent)
        gate_part = gate.tangent * (a.value - b.value)
        return Dual(self.base.mix(gate.value, a.value, b.value), mixed + gate_part)

    def join(self, *parts: Dual[V]) -> Dual[V]:
        """All units of the parts, one after another."""
        return Dual(
            self.base.join(*(part.value for part in parts)),
            self.base.join(*(part.tangent for part in parts)),
        )


def _tanh_slope(v: V) -> V:
    """4σ′(2v), without loss far out."""
    twice = v + v
    half = twice.sigmoid() * (-twice).sigmoid()
    slope = half + half
    return slope + slope


# Slopes at v, from the values there, of elementary functions and of activations made of them.
_SLOPES: dict[str, Callable[[Any, Any], Any]] = {
    "sigmoid": lambda v, there: there * (-v).sigmoid(),
    "tanh": lambda v, there: _tanh_slope(v),
    "exp": lambda v, there: there,
    "softplus": lambda v, there: v.sigmoid(),
    "sin": lambda v, there: v.cos(),
    "cos": lambda v, there: -v.sin(),
    "reciprocal": lambda v, there: -(there * there),
    "sqrt": lambda v, there: 0.5 * there.reciprocal(),
    "identity": lambda v, there: v.constant(1.0),
    "silu": lambda v, there: v.sigmoid() * (1.0 + v * (-v).sigmoid()),
    "arctan": lambda v, there: (1.0 + v * v).reciprocal(),
}
_TWICE = (
    "identity",
    "tanh",
    "sigmoid",
    "softplus",
    "silu",
    "sin",
    "arctan",
)  # that are activations


def float_step(program: Program, parameters: Mapping[str, Tensor], s: Tensor, x: Tensor) -> Tensor:
    """One step of M columns a system: s (B, N, M), x (B, d, M) -> (B, N, M)."""
    return program(Floats(parameters), Rows(s.mT), Rows(x.mT)).value.mT


def ball_step(program: Program, m: Balls, s: arb_mat, x: arb_mat) -> tuple[arb_mat, arb_mat]:
    """One step in balls of one system, and its Jacobian in the state.

    s (N, 1), x (d, 1) -> (N, 1), (N, N).
    """
    state = Dual(Columns.of(s), Columns.of(identity(s.nrows())))
    drive = Dual(Columns.of(x), Columns.of(arb_mat(x.nrows(), 1)))
    dual = program(DualArithmetic(m), state, drive)
    return dual.value.matrix, dual.tangent.matrix


def step_with_jacobian(
    program: Program, parameters: Mapping[str, Tensor], s: Tensor, x: Tensor
) -> tuple[Tensor, Tensor]:
    """One step, (B, N, M), and its Jacobian in the state, (B, M, N, N)."""
    expanded = {name: tensor[:, None] for name, tensor in parameters.items()}
    state, given = (Rows(tensor.mT[:, :, None]) for tensor in (s, x))
    eye = Rows(torch.eye(s.shape[1], dtype=s.dtype, device=s.device))
    still = Dual(given, Rows(torch.zeros_like(given.value)))
    dual = program(DualArithmetic(Floats(expanded)), Dual(state, eye), still)
    return dual.value.value[:, :, 0].mT, dual.tangent.value.mT
