"""Intervals as an arithmetic: where one step of a cell may lead, exactly or as a dtype computes it.

Without a dtype the numbers are real, and all ends are rounded outwards. With one, or with several
side by side, they are those of a run in it, as `impl.arithmetic.roundings` has it; functions are
off relative to their values, but GELU, which is 0 far to the left, as its error model has it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Self

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.arithmetic.base import ALL, Program
from rnnbounds.impl.arithmetic.inputs.images import input_enclosure
from rnnbounds.impl.arithmetic.inputs.sets import InputBound, InputSet
from rnnbounds.impl.arithmetic.intervals import FunctionBounds, Interval, RangedNumber
from rnnbounds.impl.arithmetic.roundings import DtypeRun
from rnnbounds.impl.arithmetic.weight_balls import EnclosingArithmetic, Radii
from rnnbounds.impl.numbers.outward import add_up, mul_up, sum_up


@dataclass(frozen=True, eq=False)
class IntervalVector(RangedNumber):
    """Intervals (B, m); radius (B,) where the units are the inputs of a Euclidean ball, and `given`
    where more is known of them; in kernels that are fused, of a sum the roundings on the way of any
    of its terms, and at least the sum of their absolute values (B, m)."""

    range: Interval
    run: DtypeRun | None = None
    radius: Tensor | None = None
    given: InputSet | None = None
    sum: tuple[int, Tensor] | None = None

    @property
    def summands(self) -> tuple[int, Tensor]:
        """Roundings of any term, and at least Σ |terms| (B, m); a plain value is one term."""
        return self.sum or (0, self.range.magnitude)

    def __add__(self, other: Self) -> Self:
        total = self.range + other.range
        if self.run is None or not self.run.fused:
            return self._rounded(total)
        (a, size), (b, other_size) = self.summands, other.summands
        return self.summed(self.run, total, (a + b + 1, add_up(size, other_size)))

    def summed(self, run: DtypeRun, total: Interval, terms: tuple[int, Tensor]) -> Self:
        """A sum of such terms, in any order."""
        roundings, size = terms
        error = add_up(run.sum_error(roundings, size), roundings * run.tiny)
        return type(self)(run.round_within(total, error), run, sum=terms)

    def __neg__(self) -> Self:
        return type(self)(-self.range, self.run, sum=self.sum)

    def __mul__(self, other: Self) -> Self:
        return self._rounded(self.range * other.range)

    def constant(self, c: float) -> Self:
        """That number in the place of each unit, as the run stores it."""
        return self._rounded(self.range.constant(c))

    def apply(self, f: FunctionBounds) -> Self:
        """f of each unit."""
        image = f.image(self.range)
        if self.run is None:
            return type(self)(image)
        low, high = (mul_up(self.run.function_error, end.abs()) for end in (image.low, image.high))
        widened = Interval(-add_up(-image.low, low), add_up(image.high, high))
        return type(self)(self.run.round_within(widened, 0.0), self.run)

    def part(self, start: int, stop: int) -> Self:
        """The units from start on, before stop."""
        terms = None if self.sum is None else (self.sum[0], self.sum[1][:, start:stop])
        return type(self)(self.range.part(start, stop), self.run, sum=terms)

    def _rounded(self, a: Interval) -> Self:
        return type(self)(a if self.run is None else self.run.round(a), self.run)


@dataclass(frozen=True, eq=False)
class IntervalArithmetic(EnclosingArithmetic):
    """Parameters (B, m, n) and (B, m), in a dtype's run those that are stored in it; so are then
    the ones within the radii."""

    run: DtypeRun | None = None
    _stored: dict[str, Tensor] = field(default_factory=dict)
    _input_images: dict[tuple[Any, ...], tuple[IntervalVector, IntervalVector]] = field(
        default_factory=dict
    )

    def affine(
        self, weight: str, bias: str | None, v: IntervalVector, rows: slice = ALL
    ) -> IntervalVector:
        """W v + b; what it makes of inputs is kept, as they stand still while boxes of states are
        tried."""
        if v.radius is None:
            return self._affine(weight, bias, v, rows)
        key = weight, bias, rows.start, rows.stop
        if key not in self._input_images or self._input_images[key][0] is not v:
            self._input_images[key] = v, self._affine(weight, bias, v, rows)
        return self._input_images[key][1]

    def _affine(
        self, weight: str, bias: str | None, v: IntervalVector, rows: slice
    ) -> IntervalVector:
        total = self.affine_range(weight, bias, v, rows)
        if self.run is None:
            return IntervalVector(total)
        size = sum_up(self.sizes_of_terms(weight, bias, v, rows, v.range.magnitude))
        terms = self.weight_magnitudes(weight, rows).shape[2] + 1
        return v.summed(self.run, total, (terms, size))

    def activate(self, name: str, v: IntervalVector) -> IntervalVector:  # type: ignore[override]
        """ρ(v)."""
        rho = activation(name)
        if self.run is None or rho.relative:
            return v.function(name)
        error = rho.dtype_error(self.run.unit, 1, v.range.magnitude)
        return IntervalVector(
            self.run.round_within(v.range.function(name).image(v.range), error), self.run
        )

    def vector(self, name: str, rows: slice = ALL) -> IntervalVector:
        """A parameter vector."""
        return IntervalVector(self.vector_range(name, rows), self.run)

    def mix(self, gate: IntervalVector, a: IntervalVector, b: IntervalVector) -> IntervalVector:
        """g∘a + (1 − g)∘b, or b + g∘(a − b), for 0 ≤ g ≤ 1: roundings of 4u, and u² of them."""
        mixed = gate.range.mixed(a.range, b.range)
        if self.run is None:
            return IntervalVector(mixed)
        size = torch.maximum(a.range.magnitude, b.range.magnitude)
        return IntervalVector(
            self.run.round_within(mixed, mul_up(5 * self.run.unit, size)), self.run
        )

    def join(self, *parts: IntervalVector) -> IntervalVector:
        """All units of the parts, one after another."""
        joined = self.interval.joined(*(p.range for p in parts))
        if self.run is None or not self.run.fused:
            return IntervalVector(joined, self.run)
        roundings, sizes = zip(*(p.summands for p in parts), strict=True)
        return IntervalVector(joined, self.run, sum=(max(roundings), torch.cat(sizes, dim=1)))

    def box(self, size: Tensor) -> IntervalVector:
        """|s| ≤ size (B, N)."""
        return IntervalVector(self.interval.symmetric(size), self.run)

    def inputs(self, B: InputBound | Tensor, box: Tensor, d: int) -> IntervalVector:
        """‖x‖₂ ≤ B, a number or (B, 1), beside states in a box (B, N)."""
        channels, radius, given = input_enclosure(B, box, d, self.interval)
        return IntervalVector(channels, self.run, radius, given)

    def stored(self, name: str) -> Tensor:
        """A parameter as it is stored."""
        if name not in self._stored:
            value = super().stored(name)
            self._stored[name] = value if self.run is None else self.run.stored(value)
        return self._stored[name]


def step_bound(
    program: Program,
    parameters: Mapping[str, Tensor],
    box: Tensor,
    B: InputBound | Tensor,
    d: int,
    run: DtypeRun | None = None,
    radii: Radii = MappingProxyType({}),
) -> Tensor:
    """At least |φ(s, x)_i| over |s| ≤ box (B, N) and ‖x‖₂ ≤ B: (B, N)."""
    return step_bounds(program, IntervalArithmetic(parameters, run, radii=radii), box, B, d)(box)


def step_bounds(
    program: Program, m: IntervalArithmetic, like: Tensor, B: InputBound | Tensor, d: int
) -> Callable[[Tensor], Tensor]:
    """Build the map box (B, N) -> upper bounds on |φ(s, x)_i| over |s| ≤ box, ‖x‖₂ ≤ B: (B, N)."""
    x = m.inputs(B, like, d)

    def bound(box: Tensor) -> Tensor:
        image: IntervalVector = program(m, m.box(box), x)
        return image.range.magnitude

    return bound
