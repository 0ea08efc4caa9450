"""Bounds over balls of weights: each parameter within a Euclidean distance r of its own of W⁰,

    |W_ij| ≤ |W⁰_ij| + r,    W v ∈ W⁰ v ± r‖v‖₂,

rounded up. A parameter without a radius stands still, as a gate of its own must.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.nn.functional import pad

from rnnbounds.impl.arithmetic.inputs.images import image_of_set
from rnnbounds.impl.arithmetic.intervals import Interval, RangedNumber
from rnnbounds.impl.numbers.outward import add_up, mul_up, norm_up, sum_up

Radii = Mapping[str, Tensor]
M = TypeVar("M", bound=RangedNumber)


@dataclass(frozen=True, eq=False)
class EnclosingArithmetic:
    """Base class of bounding arithmetics: parameters (B, m, n) and (B, m), with radii (B,) by name.

    Numbers v have a `range`, an interval (B, n); inputs also a `radius` (B,), at least ‖v‖₂, and
    their `InputSet`, if it is one, as `given`. What a number does not have is None.
    """

    parameters: Mapping[str, Tensor]
    radii: Radii = field(default_factory=dict, kw_only=True)
    interval: type[Interval] = field(default=Interval, kw_only=True)  # of every range

    def stored(self, name: str) -> Tensor:
        """A parameter as a number."""
        return self.interval.of_weight(self.parameters[name])

    def vector_norm(self, v: Any) -> Tensor:
        """At least ‖v‖₂, (B,)."""
        return norm_up(v.range.magnitude) if v.radius is None else v.radius

    def affine_range(self, weight: str, bias: str | None, v: Any, rows: slice) -> Interval:
        """The range (B, m) of W v + b; W v is ±‖W_i‖₂ radius of a ball, and wider by r‖v‖₂."""
        W = self.stored(weight)[:, rows]
        if v.given is not None:
            image = image_of_set(v.given, W, self.interval)
        elif v.radius is not None:
            image = self.interval.of_ball(W, v.radius)
        else:
            image = v.range.mapped(W)
        if weight in self.radii:
            image = image.widened(mul_up(self.radii[weight], self.vector_norm(v))[:, None])
        return image + self.vector_range(bias, rows) if bias in self.parameters else image

    def weight_magnitudes(self, weight: str, rows: slice) -> Tensor:
        """At least |W_ij| of all weights within their radius, (B, m, n)."""
        size = self.stored(weight)[:, rows].abs()
        return add_up(size, self.radii[weight][:, None, None]) if weight in self.radii else size

    def sizes_of_terms(
        self, weight: str, bias: str | None, v: Any, rows: slice, magnitude: Tensor
    ) -> Tensor:
        """At least each |W_ij||v_j|, then |b_i|, for |v| ≤ magnitude (B, n): (B, m, n + 1), or
        (B, m, n) without a bias. Of inputs in a ball ‖W_i‖₂ radius and zeros, where that is less
        than the sum of the terms."""
        W = self.weight_magnitudes(weight, rows)
        sizes = torch.where(W == 0, 0.0, mul_up(W, magnitude[:, None, :]))
        if v.radius is not None:
            together = mul_up(norm_up(W), v.radius[:, None])[..., None]
            shorter = together < sum_up(sizes)[..., None]
            sizes = torch.where(shorter, pad(together, (0, W.shape[2] - 1)), sizes)
        if bias not in self.parameters:
            return sizes
        entries = self.vector_range(bias, rows).magnitude
        return torch.cat([sizes, entries[..., None].expand(len(sizes), -1, 1)], 2)

    def vector_range(self, name: str | None, rows: slice) -> Interval:
        """The range (B, m) of the entries of a parameter vector."""
        value = self.stored(str(name))[:, rows]
        entries, radius = self.interval(value, value), self.radii.get(str(name))
        return entries if radius is None else entries.widened(radius[:, None])

    def activate(self, name: str, v: M) -> M:
        """ρ(v)."""
        return v.function(name)

    def slope(self, name: str, v: M) -> M:
        """ρ′(v)."""
        return v.apply(v.range.function(name).derivative)
