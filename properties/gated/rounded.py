"""Float64 tensors that carry a rigorous bound on their own rounding error, and gated steps in them.

Every operation is off by at most u times its result, sums of m products by γ_{m+1} times the sum
of absolute values, σ and tanh by their own error model; errors of what goes in are carried along
with |σ'| ≤ 1/4 and |tanh'| ≤ 1. Source: Higham, Accuracy and Stability, Sections 3 and 3.4.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from impl.activation import activation
from impl.gru import GRU
from impl.outward import TINY, UNIT
from impl.rounding import gamma
from properties.gated.cell import Cell

Tensor = torch.Tensor
# Absorbs the roundings of an error's own evaluation: fewer than 2¹² of non-negative terms.
UP = 1 + 2.0**-40
LIBRARY = max(activation(name).cap for name in ("sigmoid", "tanh"))


@dataclass(frozen=True, eq=False)
class Rounded:
    """|value − truth| ≤ error, entry by entry."""

    value: Tensor
    error: Tensor

    @classmethod
    def exact(cls, value: Tensor) -> Rounded:
        """Numbers that stand for themselves."""
        return cls(value, torch.zeros_like(value))

    def __add__(self, other: Rounded) -> Rounded:
        value = self.value + other.value
        return Rounded(value, (self.error + other.error + UNIT * value.abs()) * UP)

    def __sub__(self, other: Rounded) -> Rounded:
        return self + Rounded(-other.value, other.error)

    def __mul__(self, other: Rounded) -> Rounded:
        value, size = self.value * other.value, other.value.abs() + other.error
        carried = self.value.abs() * other.error + self.error * size
        return Rounded(value, (carried + UNIT * value.abs()) * UP + TINY)

    def mapped(self, A: Tensor, offset: Tensor) -> Rounded:
        """A v + offset for A (B, m, N), v (B, N, S) and an exact offset (B, m)."""
        value = torch.baddbmm(offset[:, :, None], A, self.value)
        size = torch.baddbmm(offset.abs()[:, :, None], A.abs(), self.value.abs())
        rounding = gamma(A.shape[2] + 2) * size
        return Rounded(value, (rounding + A.abs() @ self.error) * UP + TINY)

    def sigmoid(self) -> Rounded:
        """σ."""
        return Rounded(self.value.sigmoid(), (self.error / 4 + LIBRARY) * UP)

    def tanh(self) -> Rounded:
        """tanh."""
        library = torch.clamp(LIBRARY * self.value.abs(), max=LIBRARY)
        return Rounded(self.value.tanh(), (self.error + library) * UP + TINY)

    def chunk(self, count: int) -> tuple[Rounded, ...]:
        """Equal parts along the units."""
        parts = zip(self.value.chunk(count, dim=1), self.error.chunk(count, dim=1), strict=True)
        return tuple(Rounded(value, error) for value, error in parts)

    def first(self, count: int) -> Rounded:
        """The first units."""
        return Rounded(self.value[:, :count], self.error[:, :count])

    def last(self, count: int) -> Rounded:
        """The last units."""
        return Rounded(self.value[:, -count:], self.error[:, -count:])

    def columns(self, start: int, stop: int) -> Rounded:
        """Some of the columns."""
        return Rounded(self.value[..., start:stop], self.error[..., start:stop])


def beside(*parts: Rounded, dim: int) -> Rounded:
    """The parts put together."""
    return Rounded(
        torch.cat([part.value for part in parts], dim), torch.cat([p.error for p in parts], dim)
    )


def step(cell: Cell, s: Rounded, x: Tensor) -> Rounded:
    """φ(s, x) for M columns a system: s (B, N, M), x (B, d, M)."""
    drive = Rounded.exact(x).mapped(cell.U, cell.b_ih)
    if isinstance(cell, GRU):
        return gru_step(cell, s, drive)
    c, h = s.chunk(2)
    i, f, g, o = (drive + h.mapped(cell.W, cell.b_hh)).chunk(4)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return beside(c, o.sigmoid() * c.tanh(), dim=1)


def gru_step(cell: GRU, h: Rounded, drive: Rounded) -> Rounded:
    """h⁺ = ν + z∘(h − ν), in either convention."""
    n = cell.n
    gates = drive.first(2 * n) + h.mapped(cell.W[:, : 2 * n], cell.b_hh[:, : 2 * n])
    r, z = (gate.sigmoid() for gate in gates.chunk(2))
    W_n, c_n = cell.W[:, 2 * n :], cell.b_hh[:, 2 * n :]
    inner = (r * h).mapped(W_n, c_n) if cell.cho else r * h.mapped(W_n, c_n)
    nu = (drive.last(n) + inner).tanh()
    return nu + z * (h - nu)
