"""Running error analysis: bounds on the rounding error of one step of any cell in a dtype.

A number is an interval of what the exact step has there, and e with |v̂ − v| ≤ e for what the run
has, both from the same state and input of the run, unit by unit. With the unit roundoff u, values
within |v|, and of what is rounded to nearest u 2ᵉ, where it is below 2ᵉ⁺¹:

    Σ v_i:  Σ e_i + δ(|v_i| + e_i),            v w:  |v| e_w + |w| e_v + e_v e_w, and u of all,
    W v + b:  |W| e + δ(|W_ij|(|v_j| + e_j), |b_i|),   f(v):  sup|f′| e + the library's own error,
    g∘a + (1 − g)∘b:  |g| e_a + |1 − g| e_b + e_g(|a − b| + e_a + e_b) + 6u max(|a|, |b|),

sums in any order, also of the terms of several products W v + U x + b, which a kernel may add up as
one: δ is `DtypeRun.terms_error`; the last as it stands or as b + g∘(a − b). Each operation is
rounded once, or not, as a kernel may leave roundings out; what underflows loses at most the least
normal number, flushed or not; where a value or a part of a sum may exceed a quarter of the largest
number, nothing is known. Of functions the libraries' error models are taken as
`impl.arithmetic.activation.working` has them.
Source: Higham, Accuracy and Stability of Numerical Algorithms, section 3.3, running error analysis.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor
from torch.nn.functional import pad

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS, LIBRARY_ACTIVATIONS
from rnnbounds.impl.arithmetic.base import ALL, Program
from rnnbounds.impl.arithmetic.inputs.images import input_enclosure
from rnnbounds.impl.arithmetic.inputs.sets import InputBound, InputSet
from rnnbounds.impl.arithmetic.intervals import FunctionBounds, Interval, RangedNumber
from rnnbounds.impl.arithmetic.roundings import DtypeRun
from rnnbounds.impl.arithmetic.weight_balls import EnclosingArithmetic
from rnnbounds.impl.models.torch_machine import keeps_to_its_model
from rnnbounds.impl.numbers.outward import add_up, mul_up, sum_up, underflow

_FUNCTIONS = {  # of a function's units; IEEE 754 rounds 1/a and √a correctly, libraries to 2 units
    "exp": 1.0, "sin": 1.0, "cos": 1.0, "reciprocal": 0.125, "sqrt": 0.125,
}  # fmt: skip
_RELATIVE = ("exp", "reciprocal", "sqrt")  # whose errors are relative to their values
_MIX = 6.0  # units
_BELOW = 4.0  # values are this many times below the largest number: GELU takes 2z on its way


@dataclass(frozen=True, eq=False)
class Terms:
    """Rounding data of a sum: the error `carried` of the K terms before these, (B, m), and at least
    the absolute value of each, (B, m, K)."""

    carried: Tensor
    sizes: Tensor

    def part(self, start: int, stop: int) -> "Terms":
        """The units from start on, before stop."""
        return Terms(self.carried[:, start:stop], self.sizes[:, start:stop])

    def padded(self, count: int) -> Tensor:
        """The sizes of so many terms, the last of them 0."""
        return pad(self.sizes, (0, count - self.sizes.shape[2]))


@dataclass(frozen=True, eq=False)
class RoundingError(RangedNumber):
    """Intervals (B, m) of exact values, and at least how far those of the run are off, (B, m).

    radius (B,) where the units are the inputs of a ball, and `given` where more is known of them;
    terms of a sum.
    """

    range: Interval
    error: Tensor
    run: DtypeRun
    radius: Tensor | None = None
    given: InputSet | None = None
    sum: Terms | None = None

    @property
    def terms(self) -> Terms:
        """Rounding data of the sum, or of the value as its only term."""
        return self.sum or Terms(self.error, self.most[..., None])

    @property
    def most(self) -> Tensor:
        """At least |v̂|, and |v|."""
        return add_up(self.range.magnitude, self.error)

    def told(self, range: Interval, error: Tensor) -> Self:
        """A value with that range and error; infinite errors where it may overflow."""
        value = type(self)(range, error, self.run)
        fits = mul_up(_BELOW, value.most) < self.run.largest
        return type(self)(range, torch.where(fits, error, torch.inf), self.run)

    def rounded(self, range: Interval, error: Tensor) -> Self:
        """A value with the error so far plus that of rounding the result."""
        size = add_up(range.magnitude, error)
        rounding = add_up(self.run.rounding_error(size), underflow(size, self.run.tiny))
        return self.told(range, add_up(error, rounding))

    def summed(self, range: Interval, terms: Terms) -> Self:
        """A sum with its rounding error; infinite where a partial sum may overflow."""
        size, K = sum_up(terms.sizes), terms.sizes.shape[2]
        rounding = add_up(
            self.run.terms_error(terms.sizes), underflow(size, (K + 1) * self.run.tiny)
        )
        sums = self.told(self.range.symmetric(size), add_up(terms.carried, rounding))
        return replace(self.told(range, sums.error), sum=terms)

    def __add__(self, other: Self) -> Self:
        a, b = self.terms, other.terms
        sizes = torch.cat([a.sizes, b.sizes], 2)
        return self.summed(self.range + other.range, Terms(add_up(a.carried, b.carried), sizes))

    def __mul__(self, other: Self) -> Self:
        carried = add_up(_times(self.error, other.range.magnitude), _times(other.error, self.most))
        return self.rounded(self.range * other.range, carried)

    def __neg__(self) -> Self:
        return type(self)(-self.range, self.error, self.run, sum=self.sum)

    def constant(self, c: float) -> Self:
        """That number in the place of each unit, as the dtype stores it."""
        exact = self.range.constant(c)
        rounding = abs(c) * 2 * self.run.unit + self.run.tiny
        return self.told(exact, torch.where(self.run.stored(exact.low) == c, 0.0, rounding))

    def apply(self, f: FunctionBounds) -> Self:
        """f of each unit, exactly computed."""
        slope = f.slope(self.range.widened(self.error))
        return self.told(f.image(self.range), _times(self.error, slope))

    def function(self, name: str) -> Self:
        """The elementary function of that name, or an activation."""
        value = self.apply(self.range.function(name))
        if (rho := (ACTIVATIONS | LIBRARY_ACTIVATIONS).get(name)) is not None:
            library_error = rho.dtype_error(self.run.unit, 1, self.most)
            if not keeps_to_its_model(name, dtype=str(self.run.dtype).removeprefix("torch.")):
                library_error = torch.full_like(library_error, torch.inf)
        else:  # rounded, from that far off, where functions are computed with more precision
            library = self.run.function_error
            share, more = _FUNCTIONS.get(name, torch.inf), 16 * self.run.unit > library
            units = share * library + more * self.run.unit * (1 + 2.0**-10)
            library_error = mul_up(units, value.most if name in _RELATIVE else 1.0 + value.error)
        return self.told(
            value.range,
            add_up(value.error, add_up(library_error, underflow(library_error, self.run.tiny))),
        )

    def part(self, start: int, stop: int) -> Self:
        """The units from start on, before stop."""
        terms = None if self.sum is None else self.sum.part(start, stop)
        error = self.error[:, start:stop]
        return type(self)(self.range.part(start, stop), error, self.run, sum=terms)


@dataclass(frozen=True, eq=False)
class OffArithmetic(EnclosingArithmetic):
    """Parameters (B, m, n) and (B, m), as they are stored in the dtype."""

    run: DtypeRun

    def affine(
        self, weight: str, bias: str | None, v: RoundingError, rows: slice = ALL
    ) -> RoundingError:
        """W v + b."""
        W = self.weight_magnitudes(weight, rows)
        carried = Interval.symmetric(v.error).mapped(W).high
        is_finite = torch.isfinite(v.error).all(1, keepdim=True)  # 0 times infinity is no number
        carried = torch.where(is_finite, carried, torch.inf)
        sizes = self.sizes_of_terms(weight, bias, v, rows, v.most)
        return v.summed(self.affine_range(weight, bias, v, rows), Terms(carried, sizes))

    def vector(self, name: str, rows: slice = ALL) -> RoundingError:
        """A parameter vector."""
        entries = self.vector_range(name, rows)
        return RoundingError(entries, torch.zeros_like(entries.low), self.run)

    def slope(self, name: str, v: RoundingError) -> RoundingError:  # type: ignore[override]
        """ρ′(v), of whose error nothing is said."""
        value = v.apply(v.range.function(name).derivative)
        return v.told(value.range, torch.full_like(value.error, torch.inf))

    def mix(self, gate: RoundingError, a: RoundingError, b: RoundingError) -> RoundingError:
        """g∘a + (1 − g)∘b."""
        complement = torch.maximum(add_up(1.0, -gate.range.low), add_up(gate.range.high, -1.0))
        difference = add_up((a.range + -b.range).magnitude, add_up(a.error, b.error))
        propagated = add_up(_times(a.error, gate.range.magnitude), _times(b.error, complement))
        largest = torch.maximum(a.most, b.most)
        size = mul_up(
            add_up(add_up(gate.range.magnitude, complement), mul_up(2.0, gate.error)), largest
        )
        rounding = add_up(mul_up(_MIX * self.run.unit, size), underflow(size, 3 * self.run.tiny))
        error = add_up(add_up(propagated, _times(gate.error, difference)), rounding)
        return a.told(gate.range.mixed(a.range, b.range), error)

    def join(self, *parts: RoundingError) -> RoundingError:
        """All units of the parts, one after another."""
        count = max(part.terms.sizes.shape[2] for part in parts)
        error, carried, sizes = (
            torch.cat(each, dim=1)
            for each in zip(
                *((p.error, p.terms.carried, p.terms.padded(count)) for p in parts), strict=True
            )
        )
        terms = Terms(carried, sizes)
        return RoundingError(
            Interval.joined(*(part.range for part in parts)), error, self.run, sum=terms
        )


def step_error(
    program: Program,
    parameters: Mapping[str, Tensor],
    box: Tensor,
    B: InputBound | Tensor,
    d: int,
    dtype: torch.dtype,
) -> Tensor:
    """At least how far a step in the dtype is off, from states |s| ≤ box (B, N) and inputs of the
    run: (B, N), infinite where nothing is known."""
    run, zeros = DtypeRun(dtype), torch.zeros_like(box)
    channels, radius, given = input_enclosure(B, box, d, Interval)
    x = RoundingError(channels, torch.zeros_like(channels.low), run, radius, given)
    s = RoundingError(Interval.symmetric(box), zeros, run)
    result: RoundingError = program(OffArithmetic(parameters, run), s, x)
    return result.error


def _times(error: Tensor, other: Tensor) -> Tensor:
    """Multiply an error by a factor, rounded up; exactly 0 where the error is 0."""
    return torch.where(error == 0, 0.0, mul_up(error, other))
