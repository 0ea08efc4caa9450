"""Float64 numbers that carry a rigorous bound on their own rounding error, and their arithmetic.

Every operation is off by at most u times its result, sums of m products by γ_{m+1} times the sum
of absolute values, activations by their own error model; errors of what goes in are carried along
with L_ρ and β_ρ. What is exactly 0 stays so: nothing underflows where nothing is. Tangents have one
axis more than their values, and meet them along it.

Entry by entry an error grows by |W| where a step multiplies by W, which for an orthogonal W of 12
units is 2.8 times a step. So the Euclidean norm of a column's error is carried beside its entries
from exact numbers on, through A v + b, sums and activations, by

    ‖ρ(fl(A v)) − ρ(A v̂)‖₂ ≤ L_ρ (‖A‖₂ ‖v − v̂‖₂ + ‖γ |A| |v|‖₂) + ‖errors of ρ‖₂,

and no entry is off by more than the norm. Products drop it: theirs is that of their entries.

The numbers of a batch are small arrays, on which a call costs more than its arithmetic: NumPy's
cost a quarter of torch's. Those of another machine stay tensors; what is written with operators
alone takes either. Others give and take tensors.
Source: Higham, Accuracy and Stability, Sections 3 and 3.4.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

import numpy as np
import torch

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.arithmetic.base import ALL
from rnnbounds.impl.arithmetic.elementary import Elementary
from rnnbounds.impl.numbers.outward import TINY, UNIT, gamma
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm

Tensor = torch.Tensor
Floats = Any
Params = ParamSpec("Params")
Result = TypeVar("Result")


def as_array(numbers: Tensor | Floats) -> Floats:
    """Convert numbers to a NumPy array, except tensors that are not on the CPU."""
    if isinstance(numbers, Tensor):
        return numbers.numpy() if numbers.is_cpu else numbers
    return np.asarray(numbers)


def as_tensor(numbers: Floats) -> Tensor:
    """Convert an array to a tensor of equal numbers."""
    return numbers if isinstance(numbers, Tensor) else torch.from_numpy(numbers)


def zeros_like(like: Floats) -> Floats:
    """Zeros of the shape of an array or tensor."""
    return torch.zeros_like(like) if isinstance(like, Tensor) else np.zeros(like.shape)


def clamp_above(numbers: Floats, cap: float) -> Floats:
    """The numbers, cut at a cap."""
    return numbers.clamp(max=cap) if isinstance(numbers, Tensor) else np.minimum(numbers, cap)


def concatenate(parts: list[Floats], axis: int) -> Floats:
    """Concatenate parts along an axis."""
    return torch.cat(parts, axis) if isinstance(parts[0], Tensor) else np.concatenate(parts, axis)


def mask_times(where: Floats, size: float) -> Floats:
    """So much where that is true, and 0 elsewhere; a mask of torch's times a number would be a
    float32, in which what underflow may lose is 0."""
    return where.to(torch.float64) * size if isinstance(where, Tensor) else where * size


def smaller(one: Floats, two: Floats) -> Floats:
    """The smaller of two arrays or tensors, entry by entry; NaN where one is."""
    return torch.minimum(one, two) if isinstance(one, Tensor) else np.minimum(one, two)


def column_norms(sizes: Floats) -> Floats:
    """At least the Euclidean norm of each column (B, N, …) of sizes ≥ 0, (B, 1, …)."""
    norms = ((sizes * sizes).sum(1) ** 0.5)[:, None] * ROUND_UP
    return norms + mask_times((sizes != 0).any(1)[:, None], NORM_FLOOR)


def without_warnings(operation: Callable[Params, Result]) -> Callable[Params, Result]:
    """Wrap an operation to suppress NumPy's warnings of infinity and NaN, which it returns."""
    return np.errstate(all="ignore")(operation)


# Absorbs the roundings of an error's own evaluation: fewer than 2¹² of non-negative terms.
ROUND_UP = 1 + 2.0**-40
# A sum of squares below 2⁻¹⁰²² has lost bits; its root is then below 2⁻⁵¹¹ √n: added to every norm.
NORM_FLOOR = 2.0**-505
LIBRARY_ERROR = 4 * UNIT


class Rounded(Elementary):
    """|value − truth| ≤ error, entry by entry: (B, N, M) or (B, N, M, directions).

    ``error_norm`` bounds ‖value − truth‖₂ of each column, (B, 1, M, …), where that may be less than
    the norm of the errors; else it is None.
    """

    levels = True

    def __init__(
        self, value: Tensor | Floats, error: Tensor | Floats, error_norm: Floats | None = None
    ) -> None:
        self.v: Floats = as_array(value)
        self.e: Floats = as_array(error)
        self.error_norm = error_norm

    @classmethod
    def exact(cls, value: Tensor | Floats) -> Rounded:
        """Numbers that stand for themselves."""
        v = as_array(value)
        return cls(v, zeros_like(v), zeros_like(v[:, :1]))

    @classmethod
    def within(cls, value: Floats, error: Floats, error_norm: Floats | None) -> Rounded:
        """Numbers whose errors are bounded entry by entry, and by the norm of a column's."""
        if error_norm is None:
            return cls(value, error)
        return cls(value, smaller(error, error_norm), error_norm)

    @property
    def value(self) -> Tensor:
        """Computed value, off by at most `error`."""
        return as_tensor(self.v)

    @property
    def error(self) -> Tensor:
        """Upper bound on |value − truth|, entry by entry."""
        return as_tensor(self.e)

    @property
    def size(self) -> int:
        """N."""
        return int(self.v.shape[1])

    @property
    def nonzero_mask(self) -> Tensor:
        """Mask of the entries whose true value may be nonzero, as a tensor."""
        return as_tensor(self.nonzero_array)

    @property
    def nonzero_array(self) -> Floats:
        """Mask of the entries whose true value may be nonzero, as an array."""
        return (self.v != 0) | (self.e != 0)

    def __add__(self, other: Rounded) -> Rounded:
        return self.add_numbers(other)

    def __neg__(self) -> Rounded:
        return Rounded(-self.v, self.e, self.error_norm)

    def __sub__(self, other: Rounded) -> Rounded:
        return self.add_numbers(-other)

    @without_warnings
    def add_numbers(self, other: Rounded) -> Rounded:
        """The sum, entry by entry."""
        one, two = match_axes(self, other)
        value = one.v + two.v
        lost, total = UNIT * abs(value), None
        if one.error_norm is not None and two.error_norm is not None:
            total = (one.error_norm + two.error_norm + column_norms(lost)) * ROUND_UP
        return Rounded.within(value, (one.e + two.e + lost) * ROUND_UP, total)

    @without_warnings
    def __mul__(self, other: Rounded) -> Rounded:
        one, two = match_axes(self, other)
        value, first = one.v * two.v, abs(one.v)
        size = abs(two.v) + two.e
        carried = first * two.e + one.e * size
        lost = mask_times((first + one.e != 0) & (size != 0), TINY)  # where neither is exactly 0
        return Rounded(value, (carried + UNIT * abs(value)) * ROUND_UP + lost)

    def constant(self, c: float) -> Rounded:
        """The number c in the place of each unit, exactly."""
        return Rounded.exact(zeros_like(self.v) + c)

    @without_warnings
    def apply_matrix(
        self, A: Tensor, offset: Tensor | None = None, norm: Tensor | None = None
    ) -> Rounded:
        """A v + offset for an exact A (B, m, N) with ‖A‖₂ ≤ norm (B,) and an exact offset (B, m).

        The norm of the error is carried on if norm is given.
        """
        W, trailing = as_array(A), self.v.shape[2:]
        columns = (*self.v.shape[:2], math.prod(trailing))
        value, error = self.v.reshape(columns), self.e.reshape(columns)
        weights = abs(W)
        sums, size, offset_size = W @ value, weights @ abs(value), 0.0
        if offset is not None:
            bias = as_array(offset)[:, :, None]
            offset_size = abs(bias)
            sums, size = bias + sums, offset_size + size
        lost = gamma(W.shape[2] + 2) * size
        carried = lost + weights @ error
        may_underflow = carried > 0
        if not may_underflow.all():  # of products that underflow nothing else tells
            present = Rounded(value, error).nonzero_array
            may_underflow = offset_size + mask_times(W != 0, 1.0) @ mask_times(present, 1.0) != 0
        shape, total = (*sums.shape[:2], *trailing), None
        underflow = mask_times(may_underflow, TINY)
        if norm is not None and self.error_norm is not None:
            before = self.error_norm.reshape(len(W), 1, -1)
            total = as_array(norm)[:, None, None] * before + column_norms(lost + underflow)
            total = (total * ROUND_UP).reshape(len(W), 1, *trailing)
        return Rounded.within(
            sums.reshape(shape), (carried * ROUND_UP + underflow).reshape(shape), total
        )

    @without_warnings
    def activation(self, name: str) -> Rounded:
        """ρ of that name."""
        rho, v = activation(name), self.v
        has_rate = rho.rate < float("inf")
        lost = (clamp_above(rho.rate * abs(v), rho.cap) if has_rate else rho.cap) + rho.floor
        error, total = (rho.slope * self.e + lost) * ROUND_UP, None
        if name == "relu":  # a unit that is certainly off is exactly 0
            error = error * (v >= -self.e)
        if rho.at_zero == 0:
            error = error * self.nonzero_array
        if self.error_norm is not None:
            total = (rho.slope * self.error_norm + column_norms(lost + zeros_like(v))) * ROUND_UP
        return Rounded.within(as_array(rho(self.value)), error, total)

    def slope(self, name: str) -> Rounded:
        """ρ′."""
        rho = activation(name)
        error = torch.full_like(self.value, rho.derivative_error)
        if rho.curvature < float("inf"):
            error = (rho.curvature * self.error + error) * ROUND_UP
        else:  # constant on both sides of the kink, where it is torch's choice
            is_at_kink = (self.value.abs() <= self.error) & (self.error > 0)
            error = error + mask_times(is_at_kink, rho.slope)
        return Rounded(rho.derivative(self.value), error)

    def sigmoid(self) -> Rounded:
        """1/(1 + e⁻ᵃ)."""
        return self.activation("sigmoid")

    def tanh(self) -> Rounded:
        """tanh a."""
        return self.activation("tanh")

    def softplus(self) -> Rounded:
        """log(1 + eᵃ)."""
        return self.activation("softplus")

    def sin(self) -> Rounded:
        """sin a."""
        return self.activation("sin")

    def cos(self) -> Rounded:
        """cos a."""
        return Rounded(self.value.cos(), (self.error + LIBRARY_ERROR) * ROUND_UP)

    def exp(self) -> Rounded:
        """eᵃ."""
        value = self.value.exp()
        relative_error = self.error.expm1() * (1 + LIBRARY_ERROR) + 2 * LIBRARY_ERROR
        return Rounded(value, value * relative_error * ROUND_UP + TINY)

    def reciprocal(self) -> Rounded:
        """1/a; infinite errors where a may be 0."""
        value, least_size = self.value.reciprocal(), self.value.abs() - self.error
        relative_error = (
            self.error * value.abs() / (least_size * (1 - 2.0**-50)) + UNIT * value.abs()
        )
        return Rounded(
            value, torch.where(least_size > 0, relative_error * ROUND_UP + TINY, torch.inf)
        )

    def sqrt(self) -> Rounded:
        """√a for a ≥ 0, and 0 for a < 0: off by at most √e, and by e/√a."""
        value = self.value.clamp(min=0.0).sqrt()
        carried = torch.fmin(self.error.sqrt(), self.error / value)
        return Rounded(value, (carried + UNIT * value) * ROUND_UP + TINY)

    def chunk(self, count: int) -> tuple[Rounded, ...]:
        """Equal parts of the units."""
        size = -(-self.size // count)
        return tuple(self.part(start, start + size) for start in range(0, self.size, size))

    def part(self, start: int, stop: int) -> Rounded:
        """The units from start on, before stop."""
        return self[:, start:stop]

    def __getitem__(self, where: object) -> Rounded:
        return Rounded(self.v[where], self.e[where])

    def columns(self, start: int, stop: int) -> Rounded:
        """Some of the columns."""
        return self[:, :, start:stop]

    @without_warnings
    def zero_unless(self, where: Tensor | Floats) -> Rounded:
        """v where that is true, and exactly 0 elsewhere."""
        kept = as_array(where)
        norm = None if self.error_norm is None else self.error_norm * kept.any(1)[:, None]
        return Rounded(self.v * kept, self.e * kept, norm)


@dataclass(frozen=True, eq=False)
class RoundedCells:
    """Parameters (B, m, N) and (B, m) of B systems, by name."""

    parameters: Mapping[str, Tensor]
    norms: dict[tuple[str, Any, Any], Tensor] = field(default_factory=dict, repr=False)

    def affine(self, weight: str, bias: str | None, v: Rounded, rows: slice = ALL) -> Rounded:
        """W v + b."""
        b = None if bias is None else self.parameters.get(bias)
        A, norm = self.parameters[weight][:, rows], None
        if v.error_norm is not None and v.v.ndim == 3:  # of tangents products follow, which drop it
            norm = self.norm(weight, rows) if v.e.any() else A.new_zeros(len(A))
        return v.apply_matrix(A, None if b is None else b[:, rows], norm)

    def norm(self, weight: str, rows: slice) -> Tensor:
        """At least ‖W‖₂ of these rows, (B,), computed once."""
        key = weight, rows.start, rows.stop
        if key not in self.norms:
            self.norms[key] = certified_norm(self.parameters[weight][:, rows])
        return self.norms[key]

    def vector(self, name: str, rows: slice = ALL) -> Rounded:
        """A parameter vector, one column."""
        return Rounded.exact(self.parameters[name][:, rows, None])

    def activate(self, name: str, v: Rounded) -> Rounded:
        """ρ(v)."""
        return v.activation(name)

    def slope(self, name: str, v: Rounded) -> Rounded:
        """ρ′(v)."""
        return v.slope(name)

    def mix(self, gate: Rounded, a: Rounded, b: Rounded) -> Rounded:
        """g∘a + (1 − g)∘b."""
        return gate * a + (1.0 - gate) * b

    def join(self, *parts: Rounded) -> Rounded:
        """All units of the parts, one after another."""
        most = max(part.v.ndim for part in parts)
        wide = [with_axes(part, most) for part in parts]
        rest = tuple(map(max, *(part.v.shape[2:] for part in wide), (1,) * (most - 2)))
        return join_parts([expand_columns(part, rest) for part in wide], dim=1)


def with_axes(v: Rounded, ndim: int) -> Rounded:
    """Append axes of size 1 up to `ndim` axes."""
    more = (None,) * (ndim - v.v.ndim)
    return v[(..., *more)] if more else v


def match_axes(a: Rounded, b: Rounded) -> tuple[Rounded, Rounded]:
    """Give both numbers the same number of axes."""
    if a.v.ndim == b.v.ndim:
        return a, b
    most = max(a.v.ndim, b.v.ndim)
    return with_axes(a, most), with_axes(b, most)


def expand_columns(v: Rounded, rest: tuple[int, ...]) -> Rounded:
    """Broadcast to `rest` columns."""
    if v.v.shape[2:] == rest:
        return v
    shape, norm = (*v.v.shape[:2], *rest), v.error_norm
    if norm is not None:
        norm = as_array(as_tensor(norm).expand(len(norm), 1, *rest))
    return Rounded(v.value.expand(shape), v.error.expand(shape), norm)


def join_parts(parts: list[Rounded], dim: int) -> Rounded:
    """Concatenate parts along an axis."""
    v, e = (
        concatenate([part.v for part in parts], dim),
        concatenate([part.e for part in parts], dim),
    )
    norms = [part.error_norm for part in parts]
    if dim == 1 or any(norm is None for norm in norms):
        return Rounded(v, e)
    return Rounded(v, e, concatenate(norms, dim))
