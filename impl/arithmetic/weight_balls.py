"""Sets of weights: every parameter within a Euclidean distance of its own of a given one.

Such a set Ω is convex, and what a cell's `program` makes of all its weights at once is bounded by
`impl.arithmetic.slopes` and `impl.arithmetic.derivatives.second_order` with
|W_ij| ≤ |W⁰_ij| + r and W v ∈ W⁰ v ± r‖v‖₂, rounded up. Both take the radii (B,) by name; a
parameter without one stands still, as a gate of its own must.

Enclosures of the image W x of a set of inputs, row by row.

    W x ∈ ±‖W_i‖₂ B,    W x ∈ W [low, high],    W x ∈ [min_p, max_p] W E_p for rows E_p,

all of which hold at once.
Sources: Moore, Kearfott & Cloud, Introduction to Interval Analysis; Higham, Accuracy and Stability
of Numerical Algorithms, section 3.5, for the products.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.nn.functional import pad

from rnnbounds.impl.arithmetic.inputs.sets import InputBound, InputSet
from rnnbounds.impl.arithmetic.intervals import Interval, RangedNumber
from rnnbounds.impl.numbers.outward import add_up, mul_up, norm_up, sum_up

_PARTS = 2**20  # rows times units that are multiplied at a time
I = TypeVar("I", bound=Interval)


def input_enclosure(
    B: InputBound | Tensor, box: Tensor, d: int, kind: type[I]
) -> tuple[I, Tensor, InputSet | None]:
    """Enclose the inputs beside states in boxes (B, N): intervals by channel (B, d), ball radii
    (B,), and the set if B is an `InputSet`, else None; other B are a number or (B, 1)."""
    size = float(B) if isinstance(B, InputSet) else B
    radius = torch.as_tensor(size, dtype=box.dtype, device=box.device).reshape(-1).expand(len(box))
    if not isinstance(B, InputSet):
        return kind.symmetric(radius[:, None].expand(-1, d)), radius, None
    return _box_enclosure(B, box, kind), radius, B


def image_of_set(given: InputSet, W: Tensor, kind: type[I]) -> I:
    """The range of W x over the set: W (B, m, d) -> (B, m)."""
    radius = torch.full((len(W),), float(given), dtype=W.dtype, device=W.device)
    enclosures = [kind.of_ball(W, radius), _box_enclosure(given, W, kind).mapped(W)]
    if given.rows is not None:
        E = given.rows.to(W.device)
        step = max(1, _PARTS // W.shape[1])
        products = [W @ E[i : i + step].mT for i in range(0, len(E), step)]
        low = torch.stack([product.amin(2) for product in products]).amin(0)
        high = torch.stack([product.amax(2) for product in products]).amax(0)
        size = kind.up.multiply(kind.up.norm(W), radius[:, None])
        enclosures.append(kind(low, high).widened(kind.up.sum_rounding(E.shape[1], size)))
    return kind(
        torch.stack([enclosure.low for enclosure in enclosures]).amax(0),
        torch.stack([enclosure.high for enclosure in enclosures]).amin(0),
    )


def _box_enclosure(given: InputSet, like: Tensor, kind: type[I]) -> I:
    return kind(
        *(endpoint.to(like.device).expand(len(like), -1) for endpoint in (given.low, given.high))
    )


Radii = Mapping[str, Tensor]
M = TypeVar("M", bound=RangedNumber)


@dataclass(frozen=True, eq=False)
class EnclosingArithmetic:
    """Base class of bounding arithmetics: parameters (B, m, n) and (B, m), each anywhere within its
    radius, and numbers with a range; inputs in a ball also have a radius, and a set if `given`."""

    parameters: Mapping[str, Tensor]
    radii: Radii = field(default_factory=dict, kw_only=True)
    interval: type[Interval] = field(default=Interval, kw_only=True)  # of what numbers are made

    def stored(self, name: str) -> Tensor:
        """A parameter as a number."""
        return self.interval.of_weight(self.parameters[name])

    def vector_norm(self, v: Any) -> Tensor:
        """At least ‖v‖₂, (B,)."""
        return norm_up(v.range.magnitude) if v.radius is None else v.radius

    def affine_range(self, weight: str, bias: str | None, v: Any, rows: slice) -> Interval:
        """The range of W v + b."""
        W = self.stored(weight)[:, rows]
        if v.given is not None:
            image = image_of_set(v.given, W, self.interval)
        elif v.radius is not None:
            image = self.interval.of_ball(W, v.radius)
        else:
            image = v.range.mapped(W)
        if weight in self.radii:
            image = _widened(image, mul_up(self.radii[weight], self.vector_norm(v)))
        return image + self.vector_range(bias, rows) if bias in self.parameters else image

    def weight_magnitudes(self, weight: str, rows: slice) -> Tensor:
        """At least |W_ij|."""
        size = self.stored(weight)[:, rows].abs()
        return add_up(size, self.radii[weight][:, None, None]) if weight in self.radii else size

    def sum_of_magnitudes(
        self, weight: str, bias: str | None, v: Any, rows: slice, magnitude: Tensor
    ) -> Tensor:
        """At least Σ_j |W_ij||v_j| + |b_i| for |v| ≤ most (B, n)."""
        return sum_up(self.sizes_of_terms(weight, bias, v, rows, magnitude))

    def sizes_of_terms(
        self, weight: str, bias: str | None, v: Any, rows: slice, magnitude: Tensor
    ) -> Tensor:
        """At least each |W_ij||v_j| and |b_i| for |v| ≤ magnitude (B, n), (B, m, n + 1); in place
        of those of inputs in a ball their sum and zeros, where that is less."""
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
        """The entries of a parameter vector."""
        value = self.stored(str(name))[:, rows]
        entries, radius = self.interval(value, value), self.radii.get(str(name))
        return entries if radius is None else _widened(entries, radius)

    def activate(self, name: str, v: M) -> M:
        """ρ(v)."""
        return v.function(name)

    def slope(self, name: str, v: M) -> M:
        """ρ′(v)."""
        return v.apply(v.range.function(name).derivative)


def _widened(interval: Interval, margin: Tensor) -> Interval:
    return interval.widened(margin[:, None].expand_as(interval.low))
