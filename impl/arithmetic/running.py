"""Float64 numbers with running bounds on their own rounding: where the exact ones lie.

Each number is a computed value v̂ and e with |v̂ − v| ≤ e for the exact v. A rounded operation is off
by u|v̂| at most, a matrix product by γ_N |W||v̂| in any order of summation, a function by its
library's error model, and what was off before is carried on by the operation's slope between the
two. Bounds are computed in float64 as well, by a few operations on non-negative numbers each, and
enlarged by more than these lose. What overflows is NaN, which is below no bound.
Source: Higham, Accuracy and Stability of Numerical Algorithms, section 3.3, running error analysis.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from torch import Tensor

from impl.arithmetic.activation import Activation, activation
from impl.arithmetic.base import ALL
from impl.arithmetic.elementary import Elementary
from impl.numbers.outward import TINY, UNIT, gamma

_UP = 1 + 64 * UNIT  # what a few operations on bounds lose
_LIBRARY = 16 * UNIT  # of exp, sin and cos, relative to their scale


@dataclass(frozen=True, eq=False)
class Near(Elementary):
    """Values (…, M, N) of M columns, and how far they may be off, entry by entry."""

    value: Tensor
    error: Tensor

    @classmethod
    def exactly(cls, value: Tensor) -> Self:
        """Floats as they are."""
        return cls(value, torch.zeros_like(value))

    @classmethod
    def rounded(cls, value: Tensor, error: Tensor | float) -> Self:
        """A value that was rounded once, off by `error` before; what underflows is below TINY."""
        return cls(value, (value.abs() * UNIT + error) * _UP + TINY)

    def __add__(self, other: Self) -> Self:
        return self.rounded(self.value + other.value, self.error + other.error)

    def __sub__(self, other: Self) -> Self:
        return self + -other

    def __mul__(self, other: Self) -> Self:
        crossed = self.value.abs() * other.error + other.value.abs() * self.error
        return self.rounded(self.value * other.value, crossed + self.error * other.error)

    def __neg__(self) -> Self:
        return type(self)(-self.value, self.error)

    def constant(self, c: float) -> Self:
        """That number in the place of each unit, exactly."""
        return self.exactly(torch.full_like(self.value, c))

    @property
    def size(self) -> int:
        """N."""
        return self.value.shape[-1]

    def part(self, start: int, stop: int) -> Self:
        """The units from start on, before stop."""
        return type(self)(self.value[..., start:stop], self.error[..., start:stop])

    def through(self, rho: Activation) -> Self:
        """ρ(v): its slope between the two is at most |ρ′(v̂)| + β_ρ e, and L_ρ."""
        there = rho.derivative(self.value).abs() + rho.derivative_error
        steep = torch.fmin(there + rho.curvature * self.error, torch.tensor(rho.slope))
        library = rho.error(1, self.value.abs())
        return type(self)(rho(self.value), (steep * self.error + library) * _UP)

    def function(self, name: str) -> Self:
        """The elementary function of that name."""
        if name in ("tanh", "sigmoid", "softplus"):
            return self.through(activation(name))
        v, e = self.value, self.error
        if name == "exp":  # eᵉ − 1 ≤ e + e² for e ≤ 1
            found = v.exp()
            spread = torch.where(e <= 1, e * (1 + e), torch.inf) + _LIBRARY
            return self.rounded(found, found * spread)
        if name == "reciprocal":
            room = v.abs() * (1 - 4 * UNIT) - e
            spread = torch.where(room > 0, e / (v.abs() * room), torch.inf)
            return self.rounded(1 / v, spread)
        found = {"sin": torch.sin, "cos": torch.cos}[name](v)
        return self.rounded(found, e + _LIBRARY)


@dataclass(frozen=True, eq=False)
class Running:
    """Parameters (…, m, n) and (…, m), exact as they are stored; otherwise as `base.Floats`."""

    parameters: Mapping[str, Tensor]

    def affine(self, weight: str, bias: str | None, v: Near, rows: slice = ALL) -> Near:
        """W v + b."""
        W = self.parameters[weight][..., rows, :].mT
        off = gamma(W.shape[-2] + 2)
        value, error = v.value @ W, (v.value.abs() * off + v.error) @ W.abs()
        b = None if bias is None else self.parameters.get(bias)
        if b is not None:
            value, error = value + b[..., None, rows], error + off * b[..., None, rows].abs()
        return Near(value, error * (_UP + 2 * off) + W.shape[-2] * TINY)

    def vector(self, name: str, rows: slice = ALL) -> Near:
        """A parameter vector."""
        return Near.exactly(self.parameters[name][..., None, rows])

    def activate(self, name: str, v: Near) -> Near:
        """ρ(v)."""
        return v.through(activation(name))

    def slope(self, name: str, v: Near) -> Near:
        """ρ′(v)."""
        rho = activation(name)
        moved = torch.where(v.error == 0, 0.0, rho.curvature * v.error)
        return Near(rho.derivative(v.value), (moved + rho.derivative_error) * _UP)

    def mix(self, gate: Near, a: Near, b: Near) -> Near:
        """g∘a + (1 − g)∘b: what the gate is off by moves it by |a − b| alone."""
        g, rest = gate.value, 1 - gate.value
        kept, new = g * a.value, rest * b.value
        moved = gate.error * ((a.value - b.value).abs() + a.error + b.error)
        carried = g.abs() * a.error + rest.abs() * b.error
        rounding = 4 * UNIT * (kept.abs() + new.abs() + b.value.abs())
        return Near.rounded(kept + new, moved + carried + rounding)

    def join(self, *parts: Near) -> Near:
        """All units of the parts, one after another."""
        lead = np.broadcast_shapes(*(part.value.shape[:-1] for part in parts))
        ends = ([p.value for p in parts], [p.error for p in parts])
        return Near(*(torch.cat([a.expand(*lead, -1) for a in end], dim=-1) for end in ends))
