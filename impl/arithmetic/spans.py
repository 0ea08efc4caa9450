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
from rnnbounds.impl.arithmetic.inputs.given import spread
from rnnbounds.impl.arithmetic.inputs.sets import InputSet
from rnnbounds.impl.arithmetic.intervals import (
    Bounded,
    Mapped,
    added,
    bounded,
    everywhere,
    magnitude,
    mapped,
    mixed,
    product,
    symmetric,
)
from rnnbounds.impl.arithmetic.roundings import Roundings
from rnnbounds.impl.arithmetic.weight_balls import Enclosing, Radii
from rnnbounds.impl.numbers.interval import Interval
from rnnbounds.impl.numbers.outward import add_up, mul_up, norm_up


@dataclass(frozen=True, eq=False)
class Spans(Mapped):
    """Intervals (B, m); radius (B,) where the units are the inputs of a Euclidean ball, and `given`
    where more is known of them; in kernels that are fused, of a sum the roundings on the way of any
    of its terms, and at least the sum of their absolute values (B, m)."""

    range: Interval
    run: Roundings | None = None
    radius: Tensor | None = None
    given: InputSet | None = None
    sum: tuple[int, Tensor] | None = None

    @property
    def terms(self) -> tuple[int, Tensor]:
        """The same, or the value as the only term."""
        return self.sum or (0, magnitude(self.range))

    def __add__(self, other: Self) -> Self:
        told = added(self.range, other.range)
        if self.run is None or not self.run.fused:
            return self._told(told)
        (a, size), (b, more) = self.terms, other.terms
        return self.summed(self.run, told, (a + b + 1, add_up(size, more)))

    def summed(self, run: Roundings, told: Interval, terms: tuple[int, Tensor]) -> Self:
        """A sum of such terms, in any order."""
        roundings, size = terms
        lost = add_up(run.sums(roundings, size), roundings * run.tiny)
        return type(self)(run.off(told, lost), run, sum=terms)

    def __neg__(self) -> Self:
        return type(self)(-self.range, self.run, sum=self.sum)

    def __mul__(self, other: Self) -> Self:
        return self._told(product(self.range, other.range))

    def constant(self, c: float) -> Self:
        """That number in the place of each unit, as the run stores it."""
        return self._told(everywhere(self.range, c))

    def through(self, f: Bounded) -> Self:
        """f of each unit."""
        image = f.image(self.range)
        if self.run is None:
            return type(self)(image)
        low, high = (mul_up(self.run.library, end.abs()) for end in (image.low, image.high))
        told = Interval(-add_up(-image.low, low), add_up(image.high, high))
        return type(self)(self.run.off(told, 0.0), self.run)

    def part(self, start: int, stop: int) -> Self:
        """The units from start on, before stop."""
        terms = None if self.sum is None else (self.sum[0], self.sum[1][:, start:stop])
        return type(self)(self.range.part(start, stop), self.run, sum=terms)

    def _told(self, a: Interval) -> Self:
        return type(self)(a if self.run is None else self.run.rounded(a), self.run)


@dataclass(frozen=True, eq=False)
class SpanArithmetic(Enclosing):
    """Parameters (B, m, n) and (B, m), in a dtype's run those that are stored in it; so are then
    the ones within the radii."""

    run: Roundings | None = None
    _stored: dict[str, Tensor] = field(default_factory=dict)
    _fed: dict[tuple[Any, ...], tuple[Spans, Spans]] = field(default_factory=dict)

    def affine(self, weight: str, bias: str | None, v: Spans, rows: slice = ALL) -> Spans:
        """W v + b; what it makes of inputs is kept, as they stand still while boxes of states are
        tried."""
        if v.radius is None:
            return self._affine(weight, bias, v, rows)
        key = weight, bias, rows.start, rows.stop
        if key not in self._fed or self._fed[key][0] is not v:
            self._fed[key] = v, self._affine(weight, bias, v, rows)
        return self._fed[key][1]

    def _affine(self, weight: str, bias: str | None, v: Spans, rows: slice) -> Spans:
        told = self.enclosed(weight, bias, v, rows)
        if self.run is None:
            return Spans(told)
        W = self.sizes(weight, rows)
        if v.radius is None:
            size = mapped(W, symmetric(magnitude(v.range))).high
        else:
            size = mul_up(norm_up(W), v.radius[:, None])
        if bias is not None and bias in self.parameters:
            size = add_up(size, magnitude(self.within(bias, rows)))
        return v.summed(self.run, told, (W.shape[2] + 1, size))

    def activate(self, name: str, v: Spans) -> Spans:  # type: ignore[override]
        """ρ(v)."""
        rho = activation(name)
        if self.run is None or rho.relative:
            return v.through(bounded(name))
        lost = self.run.lost(rho, magnitude(v.range))
        return Spans(self.run.off(bounded(name).image(v.range), lost), self.run)

    def vector(self, name: str, rows: slice = ALL) -> Spans:
        """A parameter vector."""
        return Spans(self.within(name, rows), self.run)

    def mix(self, gate: Spans, a: Spans, b: Spans) -> Spans:
        """g∘a + (1 − g)∘b, or b + g∘(a − b), for 0 ≤ g ≤ 1: roundings of 4u, and u² of them."""
        told = mixed(gate.range, a.range, b.range)
        if self.run is None:
            return Spans(told)
        most = torch.maximum(magnitude(a.range), magnitude(b.range))
        return Spans(self.run.off(told, mul_up(5 * self.run.unit, most)), self.run)

    def join(self, *parts: Spans) -> Spans:
        """All units of the parts, one after another."""
        told = Interval.joined(*(p.range for p in parts))
        if self.run is None or not self.run.fused:
            return Spans(told, self.run)
        roundings, sizes = zip(*(p.terms for p in parts), strict=True)
        return Spans(told, self.run, sum=(max(roundings), torch.cat(sizes, dim=1)))

    def stored(self, name: str) -> Tensor:
        """A parameter as it is stored."""
        if name not in self._stored:
            value = self.parameters[name].detach()
            self._stored[name] = value if self.run is None else self.run.stored(value)
        return self._stored[name]


def inputs(B: float | Tensor, box: Tensor, d: int, run: Roundings | None = None) -> Spans:
    """‖x‖₂ ≤ B, a number or (B, 1), beside states in a box (B, N)."""
    told, radius, given = spread(B, box, d)
    return Spans(told, run, radius, given)


def reached(
    program: Program,
    parameters: Mapping[str, Tensor],
    box: Tensor,
    B: float | Tensor,
    d: int,
    run: Roundings | None = None,
    radii: Radii = MappingProxyType({}),
) -> Tensor:
    """At least |φ(s, x)_i| over |s| ≤ box (B, N) and ‖x‖₂ ≤ B: (B, N)."""
    return reaching(program, parameters, box, B, d, run, radii)(box)


def reaching(
    program: Program,
    parameters: Mapping[str, Tensor],
    like: Tensor,
    B: float | Tensor,
    d: int,
    run: Roundings | None = None,
    radii: Radii = MappingProxyType({}),
) -> Callable[[Tensor], Tensor]:
    """The same of any boxes that are like that one."""
    m, x = SpanArithmetic(parameters, run, radii=radii), inputs(B, like, d, run)

    def found(box: Tensor) -> Tensor:
        told: Spans = program(m, Spans(symmetric(box), run), x)
        return magnitude(told.range)

    return found
