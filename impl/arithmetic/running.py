"""Float64 numbers with running bounds on their own rounding: where the exact ones lie.

Each number is a computed v̂ with |v̂ − v| ≤ e entry by entry and ‖v̂ − v‖₂ ≤ r for the exact v. A
rounded operation is off by u|v̂| at most, a matrix product by γ_N |W||v̂| in any order of summation,
a function by its library's error model. What was off before is carried on by the operation's slope
between the two: through W as |W| e, and in the norm as ‖W‖₂ r, which grows less over many steps.
Bounds are computed in float64 as well, by a few operations on non-negative numbers each, and
enlarged by more than these lose. Of what overflows nothing is known.
Source: Higham, Accuracy and Stability of Numerical Algorithms, section 3.3, running error analysis.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import Activation, activation
from rnnbounds.impl.arithmetic.base import ALL
from rnnbounds.impl.arithmetic.elementary import Elementary
from rnnbounds.impl.numbers.outward import TINY, UNIT, gamma, norm_bound
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm

_UP = 1 + 64 * UNIT  # what a few operations on bounds lose
_LIBRARY = 16 * UNIT  # of exp, sin and cos, relative to their scale


@dataclass(frozen=True, eq=False)
class RunningError(Elementary):
    """Values (…, M, N) of M columns, and how far they may be off: entry by entry, and in the norm
    (…, M, 1), where None is no more than the entries say."""

    value: Tensor
    error: Tensor
    norm: Tensor | None = None

    @classmethod
    def exactly(cls, value: Tensor) -> Self:
        """Floats as they are."""
        return cls(value, torch.zeros_like(value))

    @classmethod
    def off(cls, value: Tensor, error: Tensor, norm: Tensor) -> Self:
        """A value that is off by so much in each entry, and in the norm: the lesser of both."""
        known = value.isfinite()
        r = torch.where(known.all(-1, True), torch.fmin(norm * _UP, _norm(error)), torch.inf)
        return cls(value, torch.where(known, torch.fmin(error, r), torch.inf), r)

    @classmethod
    def rounded(cls, value: Tensor, error: Tensor, norm: Tensor | None = None) -> Self:
        """A value that was rounded once, and was off before; what underflows is below TINY."""
        told = (value.abs() * UNIT + error) * _UP + TINY
        if norm is None:
            return cls(value, told)
        return cls.off(value, told, _norm(value) * UNIT + norm + value.shape[-1] * TINY)

    @property
    def r(self) -> Tensor:
        """How far the whole vector may be off, (…, M, 1)."""
        return _norm(self.error) if self.norm is None else self.norm

    def __add__(self, other: Self) -> Self:
        error = self.error + other.error
        return self.rounded(self.value + other.value, error, self.r + other.r)

    def __sub__(self, other: Self) -> Self:
        return self + -other

    def __mul__(self, other: Self) -> Self:
        a, b = self.value.abs(), other.value.abs()
        error = a * other.error + b * self.error + self.error * other.error
        norm = _most(a + self.error) * other.r + _most(b) * self.r
        return self.rounded(self.value * other.value, error, norm)

    def __neg__(self) -> Self:
        return type(self)(-self.value, self.error, self.norm)

    def constant(self, c: float) -> Self:
        """That number in the place of each unit, exactly."""
        return self.exactly(torch.full_like(self.value, c))

    @property
    def size(self) -> int:
        """N."""
        return self.value.shape[-1]

    def part(self, start: int, stop: int) -> Self:
        """The units from start on, before stop."""
        return self.off(self.value[..., start:stop], self.error[..., start:stop], self.r)

    def through(self, rho: Activation) -> Self:
        """ρ(v): its slope between the two is at most |ρ′(v̂)| + β_ρ e, and L_ρ."""
        there = rho.derivative(self.value).abs() + rho.derivative_error
        most = torch.full_like(there, rho.slope)
        steep = torch.fmin(there + rho.curvature * self.error, most)
        library = rho.error(1, self.value.abs())
        error = (steep * self.error + library) * _UP
        return self.off(rho(self.value), error, _most(steep) * self.r + _norm(library))

    def function(self, name: str) -> Self:
        """The elementary function of that name."""
        if name in ("tanh", "sigmoid", "softplus"):
            return self.through(activation(name))
        v, e = self.value, self.error
        if name == "exp":  # eᵉ − 1 ≤ e + e² for e ≤ 1
            found = v.exp()
            spread = torch.where(e <= 1, e * (1 + e), torch.inf) + _LIBRARY
            return self.rounded(found, found.clamp(min=TINY) * spread + 4 * TINY)
        if name == "reciprocal":
            room = v.abs() * (1 - 4 * UNIT) - e
            known = (room > 0) & (room < torch.inf)
            spread = torch.where(known, e / v.abs() / room, torch.inf)  # |v| room may overflow
            return self.rounded(1 / v, spread * _UP + TINY)
        if name == "sqrt":  # |√a − √b| ≤ √|a − b|, and ≤ |a − b|/√a
            found = v.clamp(min=0.0).sqrt()
            return self.rounded(found, torch.fmin(e.sqrt(), e / found) * _UP)
        found = {"sin": torch.sin, "cos": torch.cos}[name](v)
        return self.rounded(found, e + _LIBRARY)


def _norm(error: Tensor) -> Tensor:
    """At least the Euclidean norm over the units, of what is not negative."""
    return norm_bound(error, -1)[..., None]


def _most(size: Tensor) -> Tensor:
    return size.amax(-1, keepdim=True)


@dataclass(frozen=True, eq=False)
class Running:
    """Parameters (…, m, n) and (…, m), exact as they are stored; otherwise as `base.Floats`."""

    parameters: Mapping[str, Tensor]
    _norms: dict[tuple[str, str], tuple[Tensor, Tensor]] = field(default_factory=dict)

    def affine(
        self, weight: str, bias: str | None, v: RunningError, rows: slice = ALL
    ) -> RunningError:
        """W v + b."""
        W = self.parameters[weight][..., rows, :]
        off = gamma(W.shape[-1] + 2)
        value, lost = v.value @ W.mT, (v.value.abs() * off) @ W.mT.abs()
        b = None if bias is None else self.parameters.get(bias)
        if b is not None:
            value, lost = value + b[..., None, rows], lost + off * b[..., None, rows].abs()
        lost = lost * (_UP + 2 * off) + W.shape[-1] * TINY
        whole, each = self._sizes(weight, rows, W)
        error = torch.fmin(v.error @ W.mT.abs() * (_UP + 2 * off), each * v.r * _UP) + lost
        return RunningError.off(value, error * _UP, whole * v.r + _norm(lost))

    def _sizes(self, weight: str, rows: slice, W: Tensor) -> tuple[Tensor, Tensor]:
        """At least ‖W‖₂ (…, 1, 1), and the norm of each row (…, 1, m)."""
        key = (weight, str(rows))
        if key not in self._norms:
            flat = W.reshape(-1, *W.shape[-2:])
            whole = certified_norm(flat).reshape(*W.shape[:-2], 1, 1)
            self._norms[key] = whole, norm_bound(W, -1)[..., None, :]
        return self._norms[key]

    def vector(self, name: str, rows: slice = ALL) -> RunningError:
        """A parameter vector."""
        return RunningError.exactly(self.parameters[name][..., None, rows])

    def activate(self, name: str, v: RunningError) -> RunningError:
        """ρ(v)."""
        return v.through(activation(name))

    def slope(self, name: str, v: RunningError) -> RunningError:
        """ρ′(v)."""
        rho = activation(name)
        moved = torch.where(v.error == 0, 0.0, rho.curvature * v.error)
        return RunningError(rho.derivative(v.value), (moved + rho.derivative_error) * _UP)

    def mix(self, gate: RunningError, a: RunningError, b: RunningError) -> RunningError:
        """g∘a + (1 − g)∘b: what the gate is off by moves it by |a − b| alone."""
        g, rest = gate.value, 1 - gate.value
        kept, new = g * a.value, rest * b.value
        apart = (a.value - b.value).abs() + a.error + b.error
        carried = g.abs() * a.error + rest.abs() * b.error
        rounding = 4 * UNIT * (kept.abs() + new.abs() + b.value.abs())
        error = gate.error * apart + carried + rounding
        norm = _most(apart) * gate.r + _most(g.abs()) * a.r + _most(rest.abs()) * b.r
        return RunningError.rounded(kept + new, error, norm + _norm(rounding))

    def join(self, *parts: RunningError) -> RunningError:
        """All units of the parts, one after another."""
        lead = np.broadcast_shapes(*(part.value.shape[:-1] for part in parts))
        ends = ([p.value for p in parts], [p.error for p in parts])
        value, error = (torch.cat([a.expand(*lead, -1) for a in end], dim=-1) for end in ends)
        norms = torch.cat([part.r.expand(*lead, 1) for part in parts], dim=-1)
        return RunningError.off(value, error, _norm(norms))
