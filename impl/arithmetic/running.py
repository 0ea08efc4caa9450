"""Float64 numbers with running bounds on their own rounding: where the exact ones lie.

Each number is a computed v̂ with |v̂ − v| ≤ e entry by entry and ‖v̂ − v‖₂ ≤ r for the exact v. A
rounded operation is off by u|v̂| at most, a matrix product by γ_N |W||v̂| in any order of summation,
a function by its library's error model. What was off before is carried on by the operation's slope
between the two: through W as |W| e, and in the norm as ‖W‖₂ r, which grows less over many steps.

The norm knows where errors come from. What a product or a state is off by is one vector ξ, and
parts ξ_p of it, with no unit in common, move the gates: v̂ − v = Σ_p a_p∘ξ_p + ρ. So
‖v̂ − v‖₂ ≤ max_j √(Σ_p a_pj²) ‖ξ‖₂ + ‖ρ‖₂, where the sum of the gates' own norms is larger.

Bounds are computed in float64 as well, by a few operations on non-negative numbers each, and
enlarged by more than these lose. Of what overflows nothing is known.
Source: Higham, Accuracy and Stability of Numerical Algorithms, section 3.3, running error analysis.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import pairwise
from typing import NamedTuple, Self

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


class Carried(NamedTuple):
    """Errors ξ_start, ξ_{start + 1}, … of a vector ‖ξ‖₂ ≤ size (…, M, 1), which move the units from
    `at` on by at most `factor` (…, M, m) times themselves. One tensor `size` is one ξ."""

    size: Tensor
    start: int
    at: int
    factor: Tensor

    @property
    def stop(self) -> int:
        """The first unit that is moved no more."""
        return self.at + self.factor.shape[-1]

    def within(self, start: int, stop: int) -> Self:
        """Those that move the units from start on, before stop, which are counted from 0."""
        low, high = max(start, self.at), min(stop, self.stop)
        factor = self.factor[..., low - self.at : max(low, high) - self.at]
        return self._replace(start=self.start + low - self.at, at=low - start, factor=factor)

    def scaled(self, by: Tensor) -> Self:
        """Times numbers (…, M, N) of all units; no factor underflows."""
        factor = self.factor * (by[..., self.at : self.stop] * _UP)
        return self._replace(factor=factor.clamp(min=TINY))


@dataclass(frozen=True, eq=False)
class RunningError(Elementary):
    """Values (…, M, N) of M columns, and how far they may be off: entry by entry, and in the norm
    by what is carried and `norm` (…, M, 1) more, where None is no more than the entries say. If
    `joined`, the carried are blocks of units, one after another, and all there is."""

    value: Tensor
    error: Tensor
    norm: Tensor | None = None
    carried: tuple[Carried, ...] = ()
    joined: bool = False

    @classmethod
    def exactly(cls, value: Tensor) -> Self:
        """Floats as they are."""
        return cls(value, torch.zeros_like(value))

    @classmethod
    def off(
        cls, value: Tensor, error: Tensor, norm: Tensor, carried: tuple[Carried, ...] = ()
    ) -> Self:
        """A value that is off by so much in each entry, and in the norm."""
        return cls(value, torch.where(value.isfinite(), error, torch.inf), norm * _UP, carried)

    @classmethod
    def rounded(
        cls, value: Tensor, error: Tensor, norm: Tensor | None = None,
        carried: tuple[Carried, ...] = (),
    ) -> Self:  # fmt: skip
        """A value that was rounded once, and was off before; what underflows is below TINY."""
        told = (value.abs() * UNIT + error) * _UP + TINY
        if norm is None:
            return cls(value, told)
        own = _norm(value) * UNIT + norm + value.shape[-1] * TINY
        return cls.off(value, told, own, carried)

    @cached_property
    def r(self) -> Tensor:
        """How far the whole vector may be off, (…, M, 1)."""
        each = _norm(self.error)
        if self.norm is None:
            return each
        if self.joined:
            return torch.fmin(_root(one.size for one in self.carried), each)
        total = self.norm
        for size, shared in _by_vector(self.carried):
            total = total + size * _gain(shared)
        known = self.value.isfinite().all(-1, True)
        return torch.where(known, torch.fmin(total * _UP, each), torch.inf)

    @property
    def rest(self) -> Tensor:
        """At least the norm of what is not carried, (…, M, 1)."""
        return self.r if self.norm is None else self.norm

    def scaled(self, by: Tensor) -> tuple[Tensor, tuple[Carried, ...]]:
        """`rest` and `carried` of its errors times numbers of at most `by` (…, M, N)."""
        return _most(by) * self.rest, tuple(one.scaled(by) for one in self.carried)

    def __add__(self, other: Self) -> Self:
        error = self.error + other.error
        carried = _summed(self.carried + other.carried)
        return self.rounded(self.value + other.value, error, self.rest + other.rest, carried)

    def __sub__(self, other: Self) -> Self:
        return self + -other

    def __mul__(self, other: Self) -> Self:
        a, b = self.value.abs(), other.value.abs()
        error = a * other.error + b * self.error + self.error * other.error
        rest, carried = other.scaled(a + self.error)
        own, parts = self.scaled(b)
        value = self.value * other.value
        return self.rounded(value, error, own + rest, _summed(parts + carried))

    def __neg__(self) -> Self:
        return type(self)(-self.value, self.error, self.norm, self.carried, self.joined)

    def constant(self, c: float) -> Self:
        """That number in the place of each unit, exactly."""
        return self.exactly(torch.full_like(self.value, c))

    @property
    def size(self) -> int:
        """N."""
        return self.value.shape[-1]

    def part(self, start: int, stop: int) -> Self:
        """The units from start on, before stop."""
        carried = (one.within(start, stop) for one in self.carried)
        ends = self.value[..., start:stop], self.error[..., start:stop]
        return type(self)(*ends, self.norm, tuple(one for one in carried if one.factor.numel()))

    def through(self, rho: Activation) -> Self:
        """ρ(v): its slope between the two is at most |ρ′(v̂)| + β_ρ e, and L_ρ."""
        there = rho.derivative(self.value).abs() + rho.derivative_error
        most = torch.full_like(there, rho.slope)
        steep = torch.fmin(there + rho.curvature * self.error, most)
        library = rho.error(1, self.value.abs())
        error = (steep * self.error + library) * _UP
        rest, carried = self.scaled(steep)
        return self.off(rho(self.value), error, rest + _norm(library), carried)

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


def _summed(carried: Iterable[Carried]) -> tuple[Carried, ...]:
    """Add the factors where one error moves the same units twice."""
    found: dict[tuple[int, ...], Carried] = {}
    for one in carried:
        key = id(one.size), one.start, one.at, one.stop
        if key in found:
            one = one._replace(factor=(found[key].factor + one.factor) * _UP)
        found[key] = one
    return tuple(found.values())


def _by_vector(carried: Iterable[Carried]) -> Iterable[tuple[Tensor, list[Carried]]]:
    """Those of one vector ξ together, with its size."""
    found: dict[int, list[Carried]] = {}
    for one in carried:
        found.setdefault(id(one.size), []).append(one)
    return [(shared[0].size, shared) for shared in found.values()]


def _gain(shared: Sequence[Carried]) -> Tensor:
    """At least ‖Σ_p a_p∘ξ_p‖₂/‖ξ‖₂ of parts of one ξ: max_j √(Σ_p a_pj²) where each moves the same
    units and no entry of ξ is in two, else Σ_p max_j a_pj."""
    starts = sorted(one.start for one in shared)
    m = shared[0].factor.shape[-1]
    apart = all(b - a >= m for a, b in pairwise(starts))
    if apart and len({(one.at, one.stop) for one in shared}) == 1:
        return _most(_root(one.factor for one in shared))
    return reduce(torch.add, (_most(one.factor) for one in shared))


def _root(sizes: Iterable[Tensor]) -> Tensor:
    """At least √Σ size², entry by entry."""
    return reduce(lambda a, b: torch.hypot(a, b) * _UP, sizes)


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
        if not bool(v.error.any()):
            return RunningError.off(value, lost * _UP, _norm(lost))
        error = torch.fmin(v.error @ W.mT.abs() * (_UP + 2 * off), each * v.r * _UP) + lost
        moved = Carried(whole * v.r * _UP, 0, 0, torch.ones_like(value[..., :1, :]))
        return RunningError.off(value, error * _UP, _norm(lost), (moved,))

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
        g, other = gate.value, 1 - gate.value
        kept, new = g * a.value, other * b.value
        apart = (a.value - b.value).abs() + a.error + b.error
        carried = g.abs() * a.error + other.abs() * b.error
        rounding = 4 * UNIT * (kept.abs() + new.abs() + b.value.abs())
        error = gate.error * apart + carried + rounding
        ends = gate.scaled(apart * _UP), a.scaled(g.abs()), b.scaled(other.abs() * _UP)
        norm = sum((rest for rest, _ in ends), _norm(rounding))
        parts = _summed(one for _, parts in ends for one in parts)
        return RunningError.rounded(kept + new, error, norm, parts)

    def join(self, *parts: RunningError) -> RunningError:
        """All units of the parts, one after another; each block of them carries its own errors."""
        if len(parts) == 1 and parts[0].joined:
            return parts[0]
        blocks = [
            block
            for part in parts
            for block in (
                (part.part(one.at, one.stop) for one in part.carried) if part.joined else (part,)
            )
        ]
        lead = np.broadcast_shapes(*(block.value.shape[:-1] for block in blocks))
        ends = [b.value for b in blocks], [torch.fmin(b.error, b.r) for b in blocks]
        value, error = (torch.cat([a.expand(*lead, -1) for a in end], dim=-1) for end in ends)
        carried, at = [], 0
        for block in blocks:
            carried.append(Carried(block.r, 0, at, torch.ones_like(block.value[..., :1, :])))
            at += block.size
        return RunningError(value, error, torch.zeros_like(value[..., :1]), tuple(carried), True)
