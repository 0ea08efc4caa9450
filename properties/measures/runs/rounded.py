"""Float64 tensors that carry a rigorous bound on their own rounding error, and their arithmetic.

Every operation is off by at most u times its result, sums of m products by γ_{m+1} times the sum
of absolute values, activations by their own error model; errors of what goes in are carried along
with L_ρ and β_ρ. What is exactly 0 stays so: nothing underflows where nothing is. Tangents have one
axis more than their values, and meet them along it.
Source: Higham, Accuracy and Stability, Sections 3 and 3.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from impl.arithmetic.activation import activation
from impl.arithmetic.base import ALL
from impl.arithmetic.elementary import Scalable
from impl.numbers.outward import TINY, UNIT, gamma

Tensor = torch.Tensor
# Absorbs the roundings of an error's own evaluation: fewer than 2¹² of non-negative terms.
UP = 1 + 2.0**-40
LIBRARY = 4 * UNIT


@dataclass(frozen=True, eq=False)
class Rounded(Scalable):
    """|value − truth| ≤ error, entry by entry: (B, N, M) or (B, N, M, directions)."""

    value: Tensor
    error: Tensor

    @classmethod
    def exact(cls, value: Tensor) -> Rounded:
        """Numbers that stand for themselves."""
        return cls(value, torch.zeros_like(value))

    @property
    def size(self) -> int:
        """N."""
        return self.value.shape[1]

    @property
    def present(self) -> Tensor:
        """Where the truth may be other than 0."""
        return torch.logical_or(self.value, self.error)

    def __add__(self, other: Rounded) -> Rounded:
        one, two = level(self, other)
        value = one.value + two.value
        return Rounded(value, (one.error + two.error + UNIT * value.abs()) * UP)

    def __neg__(self) -> Rounded:
        return Rounded(-self.value, self.error)

    def __sub__(self, other: Rounded) -> Rounded:
        return self + -other

    def __mul__(self, other: Rounded) -> Rounded:
        one, two = level(self, other)
        value, first = one.value * two.value, one.value.abs()
        size = two.value.abs() + two.error
        carried = first * two.error + one.error * size
        lost = torch.logical_and(first + one.error, size) * TINY  # where neither is exactly 0
        return Rounded(value, (carried + UNIT * value.abs()) * UP + lost)

    def constant(self, c: float) -> Rounded:
        """That number in the place of each unit."""
        return Rounded.exact(torch.full_like(self.value, c))

    def mapped(self, A: Tensor, offset: Tensor | None = None) -> Rounded:
        """A v + offset for an exact A (B, m, N) and an exact offset (B, m)."""
        shape = (len(A), A.shape[1], *self.value.shape[2:])
        value, error = self.value.flatten(2), self.error.flatten(2)
        sizes, weights, present = value.abs(), A.abs(), self.present.flatten(2).to(A)
        if offset is None:
            sums, size, met = A @ value, weights @ sizes, (A != 0).to(A) @ present
        else:
            start, least = offset[:, :, None], offset.abs()[:, :, None]
            sums = torch.baddbmm(start, A, value)
            size = torch.baddbmm(least, weights, sizes)
            met = torch.baddbmm(least, (A != 0).to(A), present)
        carried = gamma(A.shape[2] + 2) * size + weights @ error
        error = carried * UP + (met != 0) * TINY
        return Rounded(sums.reshape(shape), error.reshape(shape))

    def applied(self, name: str) -> Rounded:
        """ρ of that name."""
        rho, v = activation(name), self.value
        near = rho.rate < float("inf")
        library = (rho.rate * v.abs()).clamp(max=rho.cap) if near else rho.cap
        error = (rho.slope * self.error + library + rho.floor) * UP
        if name == "relu":  # a unit that is certainly off is exactly 0
            error = error * (v >= -self.error)
        return Rounded(rho(v), error * self.present if rho.at_zero == 0 else error)

    def slope(self, name: str) -> Rounded:
        """ρ′."""
        rho = activation(name)
        error = torch.full_like(self.value, rho.derivative_error)
        if rho.curvature < float("inf"):
            error = (rho.curvature * self.error + error) * UP
        else:  # constant on both sides of the kink, where it is torch's choice
            unsure = (self.value.abs() <= self.error) & (self.error > 0)
            error = error + unsure * rho.slope
        return Rounded(rho.derivative(self.value), error)

    def sigmoid(self) -> Rounded:
        """1/(1 + e⁻ᵃ)."""
        return self.applied("sigmoid")

    def tanh(self) -> Rounded:
        """tanh a."""
        return self.applied("tanh")

    def softplus(self) -> Rounded:
        """log(1 + eᵃ)."""
        return self.applied("softplus")

    def sin(self) -> Rounded:
        """sin a."""
        return self.applied("sin")

    def cos(self) -> Rounded:
        """cos a."""
        return Rounded(self.value.cos(), (self.error + LIBRARY) * UP)

    def exp(self) -> Rounded:
        """eᵃ."""
        value = self.value.exp()
        off = self.error.expm1() * (1 + LIBRARY) + 2 * LIBRARY
        return Rounded(value, value * off * UP + TINY)

    def reciprocal(self) -> Rounded:
        """1/a; infinite errors where a may be 0."""
        value, least = self.value.reciprocal(), self.value.abs() - self.error
        off = self.error * value.abs() / (least * (1 - 2.0**-50)) + UNIT * value.abs()
        return Rounded(value, torch.where(least > 0, off * UP + TINY, torch.inf))

    def chunk(self, count: int) -> tuple[Rounded, ...]:
        """Equal parts of the units."""
        parts = zip(self.value.chunk(count, dim=1), self.error.chunk(count, dim=1), strict=True)
        return tuple(Rounded(value, error) for value, error in parts)

    def part(self, start: int, stop: int) -> Rounded:
        """The units from start on, before stop."""
        return self[:, start:stop]

    def __getitem__(self, where: object) -> Rounded:
        return Rounded(self.value[where], self.error[where])  # type: ignore[index]

    def columns(self, start: int, stop: int) -> Rounded:
        """Some of the columns."""
        return self[:, :, start:stop]

    def masked(self, where: Tensor) -> Rounded:
        """v where that is true, and exactly 0 elsewhere."""
        return Rounded(self.value * where, self.error * where)

    def magnitude(self) -> Tensor:
        """At least |truth|."""
        return (self.value.abs() + self.error) * UP


@dataclass(frozen=True, eq=False)
class RoundedCells:
    """Parameters (B, m, N) and (B, m) of B systems, by name."""

    parameters: Mapping[str, Tensor]

    def affine(self, weight: str, bias: str | None, v: Rounded, rows: slice = ALL) -> Rounded:
        """W v + b."""
        b = None if bias is None else self.parameters.get(bias)
        return v.mapped(self.parameters[weight][:, rows], None if b is None else b[:, rows])

    def vector(self, name: str, rows: slice = ALL) -> Rounded:
        """A parameter vector, one column."""
        return Rounded.exact(self.parameters[name][:, rows, None])

    def activate(self, name: str, v: Rounded) -> Rounded:
        """ρ(v)."""
        return v.applied(name)

    def slope(self, name: str, v: Rounded) -> Rounded:
        """ρ′(v)."""
        return v.slope(name)

    def mix(self, gate: Rounded, a: Rounded, b: Rounded) -> Rounded:
        """g∘a + (1 − g)∘b."""
        return gate * a + (Rounded.exact(torch.ones_like(gate.value)) - gate) * b

    def join(self, *parts: Rounded) -> Rounded:
        """All units of the parts, one after another."""
        most = max(part.value.ndim for part in parts)
        wide = [raised(part, most) for part in parts]
        rest = tuple(map(max, *(part.value.shape[2:] for part in wide), (1,) * (most - 2)))
        return beside([expanded(part, rest) for part in wide], dim=1)


def step(cell: Any, s: Rounded, x: Tensor) -> Rounded:
    """φ(s, x) for M columns a system: s (B, N, M), x (B, d, M)."""
    found: Rounded = cell.program(RoundedCells(cell.parameters), s, Rounded.exact(x))
    return found


def raised(v: Rounded, ndim: int) -> Rounded:
    """With so many axes, the last of them of size 1."""
    more = (None,) * (ndim - v.value.ndim)
    return v[(..., *more)] if more else v


def level(a: Rounded, b: Rounded) -> tuple[Rounded, Rounded]:
    """Both with as many axes."""
    most = max(a.value.ndim, b.value.ndim)
    return raised(a, most), raised(b, most)


def expanded(v: Rounded, rest: tuple[int, ...]) -> Rounded:
    """In so many columns."""
    shape = (*v.value.shape[:2], *rest)
    return Rounded(v.value.expand(shape), v.error.expand(shape))


def beside(parts: list[Rounded], dim: int) -> Rounded:
    """The parts put together."""
    return Rounded(
        torch.cat([part.value for part in parts], dim), torch.cat([p.error for p in parts], dim)
    )
