"""How steep the step of a cell is over a box of states: its comparison matrix, for any cell.

A number is an interval for each unit and non-negative matrices M_1, …, M_R in the states and inputs
with |u(s, x) − u(s′, x′)|_i ≤ max_r (M_r (|s − s′|, |x − x′|))_i, row by row:

    W v + b:  |W| M,      f(v):  sup|f′| M,      u v:  sup|u| M^v + sup|v| M^u,
    g∘a + (1 − g)∘b:  ζ M^a + (1 − ζ) M^b + sup|a − b| M^g   for ζ = g̲ and ζ = ḡ,

since what ζ multiplies is linear in it. All is rounded up. Inputs lie in a Euclidean ball: what an
affine map makes of them is bounded by Cauchy–Schwarz. Sources: Miller & Hardt, Proposition 1; Horn
& Johnson, section 8.

Euclidean norms of blocks of units, which see the signs of the weights.

How units u move with the blocks s_b of a state, two runs apart, is kept as a sum of terms

    Δu = Σ_k D_k A_k Δy_k,    |D_k| ≤ diag(rows_k),    ‖Δy_k‖₂ ≤ Σ_b reach_kb ‖Δs_b‖₂,

with the weights A_k as they are, so that ‖Δu‖₂ ≤ Σ_kb ‖diag(rows_k) A_k‖₂ reach_kb ‖Δs_b‖₂. A
comparison of absolute values has ‖|A_k|‖₂ there. Gates that move with one and the same Δy add up to
less: by Cauchy and Schwarz, unit by unit with t = Σ_k rows_k, to at most the norm of all
diag(√(rows_k t)) A_k, one below another. All is rounded up, or plain, as `up` has it.
Source: Miller & Hardt, section 4, for an LSTM.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from types import MappingProxyType
from typing import Self

import torch
from torch import Tensor
from torch.nn.functional import pad

from rnnbounds.impl.arithmetic.base import ALL, Program
from rnnbounds.impl.arithmetic.inputs.images import input_enclosure
from rnnbounds.impl.arithmetic.inputs.sets import InputBound, InputSet
from rnnbounds.impl.arithmetic.interval_arithmetic import step_bound
from rnnbounds.impl.arithmetic.intervals import FunctionBounds, Interval, RangedNumber
from rnnbounds.impl.arithmetic.weight_balls import EnclosingArithmetic, Radii
from rnnbounds.impl.norms.comparison import Comparison
from rnnbounds.impl.numbers.operations import Operations


@dataclass(frozen=True, eq=False)
class Term:
    """D A Δy, |D| ≤ diag(rows): rows (B, m), A (B, m, l), or None for units of y themselves.

    reach: at least ‖Δy‖₂/‖Δs_b‖₂ for each block, (B, blocks), one tensor for terms of one y.
    """

    rows: Tensor
    A: Tensor | None
    reach: Tensor
    up: Operations

    @property
    def norm(self) -> Tensor:
        """At least ‖D A‖₂, (B,)."""
        return self.rows.amax(1) if self.A is None else self.up.scaled_bound(self.rows, self.A)

    def scaled(self, factors: Tensor) -> "Term":
        """The term times a diagonal that is at most that, 0 where the term is."""
        factors = self.up.multiply(factors, self.rows)
        return replace(self, rows=torch.where(self.rows == 0, 0.0, factors))

    def part(self, start: int, stop: int) -> "Term":
        """Some of its units."""
        A = None if self.A is None else self.A[:, start:stop]
        return replace(self, rows=self.rows[:, start:stop], A=A)

    def padded(self, before: int, after: int) -> "Term":
        """Its units between others, which do not move with it."""
        A = None if self.A is None else pad(self.A, (0, 0, before, after))
        return replace(self, rows=pad(self.rows, (before, after)), A=A)


Terms = tuple[Term, ...]


def scale_terms(factors: Tensor, terms: Terms) -> Terms:
    """The terms times a diagonal that is at most `factors` (B, m)."""
    return tuple(term.scaled(factors) for term in terms)


def block_norms(terms: Sequence[Term]) -> Tensor:
    """At least ‖Δu‖₂/‖Δs_b‖₂ for each block of the state, (B, blocks); there is a term."""
    groups: dict[int, list[Term]] = {}
    for term in terms:
        groups.setdefault(id(term.reach), []).append(term)
    up, bounds = terms[0].up, []
    for group in groups.values():
        reach = group[0].reach
        bounds.append(torch.where(reach == 0, 0.0, up.multiply(_sum_norm(group)[:, None], reach)))
    return up.total(torch.stack(bounds, dim=-1))


def _sum_norm(terms: Sequence[Term]) -> Tensor:
    """At least ‖Σ_k D_k A_k‖₂ of terms of one and the same Δy, (B,)."""
    up = terms[0].up
    sum_of_norms = up.total(torch.stack([term.norm for term in terms], dim=-1))
    weights = [term.A for term in terms if term.A is not None]
    if not 1 < len(weights) == len(terms):
        return sum_of_norms
    total = up.total(torch.stack([term.rows for term in terms], dim=-1))
    rows = torch.cat([up.root(up.multiply(term.rows, total)) for term in terms], dim=1)
    return torch.minimum(sum_of_norms, up.scaled(rows, torch.cat(weights, dim=1)))


@dataclass(frozen=True, eq=False)
class LipschitzBounds(RangedNumber):
    """Intervals (B, m) and slopes (B, R, m, N + d); radius (B,) where the units are the inputs, and
    `given` where more is known of them.

    `terms`: bounds in Euclidean norms of the state's blocks, see `impl.arithmetic.slopes`.
    """

    range: Interval
    slopes: Tensor
    radius: Tensor | None = None
    terms: Terms = ()
    given: InputSet | None = None

    @property
    def largest_slopes(self) -> Tensor:
        """One matrix that is at least each of the R, (B, m, N + d)."""
        return self.slopes.amax(1)

    def __add__(self, other: Self) -> Self:
        slopes = self.range.up.add(*_reduce_one(self.slopes, other.slopes))
        return type(self)(self.range + other.range, slopes, terms=self.terms + other.terms)

    def __neg__(self) -> Self:
        return type(self)(-self.range, self.slopes, terms=self.terms)

    def __mul__(self, other: Self) -> Self:
        u, v, up = self.range.magnitude, other.range.magnitude, self.range.up
        slopes = up.add(
            *_reduce_one(_scale_rows(up, v, self.slopes), _scale_rows(up, u, other.slopes))
        )
        terms = scale_terms(v, self.terms) + scale_terms(u, other.terms)
        return type(self)(self.range * other.range, slopes, terms=terms)

    def constant(self, c: float) -> Self:
        """That number in the place of each unit, depending on nothing."""
        return type(self)(self.range.constant(c), torch.zeros_like(self.slopes[:, :1]))

    def apply(self, f: FunctionBounds) -> Self:
        """f of each unit."""
        slope = f.slope(self.range)
        slopes = _scale_rows(self.range.up, slope, self.slopes)
        terms = scale_terms(slope, self.terms)
        return type(self)(f.image(self.range), slopes, terms=terms)

    def part(self, start: int, stop: int) -> Self:
        """The units from start on, before stop."""
        slopes = self.slopes[:, :, start:stop]
        parts = (term.part(start, stop) for term in self.terms)
        terms = tuple(term for term in parts if bool((term.rows != 0).any()))
        return type(self)(self.range.part(start, stop), slopes, terms=terms)


@dataclass(frozen=True, eq=False)
class SlopeArithmetic(EnclosingArithmetic):
    """Parameters (B, m, n) and (B, m) that stand still; `width` is N + d.

    With radii, whatever they are within these distances; see `impl.arithmetic.weight_balls`.
    """

    width: int

    def affine(
        self, weight: str, bias: str | None, v: LipschitzBounds, rows: slice = ALL
    ) -> LipschitzBounds:
        """W v + b."""
        W, up = self.stored(weight)[:, rows], self.interval.up
        slopes = up.product(self.weight_magnitudes(weight, rows), v.largest_slopes)[:, None]
        ones = torch.ones_like(W[:, :, 0])
        terms = (Term(ones, W, block_norms(v.terms), up),) if v.terms else ()
        return LipschitzBounds(self.affine_range(weight, bias, v, rows), slopes, terms=terms)

    def vector(self, name: str, rows: slice = ALL) -> LipschitzBounds:
        """A parameter vector, which depends on nothing."""
        interval = self.vector_range(name, rows)
        zeros = interval.low.new_zeros(interval.low.shape[0], 1, interval.low.shape[1], self.width)
        return LipschitzBounds(interval, zeros)

    def mix(self, gate: LipschitzBounds, a: LipschitzBounds, b: LipschitzBounds) -> LipschitzBounds:
        """g∘a + (1 − g)∘b."""
        up, difference = self.interval.up, (a.range + -b.range).magnitude
        endpoint_slopes = [
            up.add(
                _scale_rows(up, g, a.largest_slopes),
                _scale_rows(up, up.add(1.0, -g), b.largest_slopes),
            )
            for g in _endpoints(gate.range)
        ]
        by_gate = _scale_rows(up, difference, gate.largest_slopes)[:, None]
        slopes = up.add(torch.stack(endpoint_slopes, dim=1), by_gate)
        is_unit = (gate.range.low >= 0) & (gate.range.high <= 1)  # what no mix is fails closed
        slopes = torch.where(is_unit[:, None, :, None], slopes, torch.inf)
        complement = torch.maximum(up.add(1.0, -gate.range.low), up.add(gate.range.high, -1.0))
        weighted = ((gate.range.magnitude, a), (complement, b), (difference, gate))
        terms = tuple(t for rows, v in weighted for t in scale_terms(rows, v.terms))
        return LipschitzBounds(gate.range.mixed(a.range, b.range), slopes, terms=terms)

    def join(self, *parts: LipschitzBounds) -> LipschitzBounds:
        """All units of the parts, one after another."""
        count = max(part.slopes.shape[1] for part in parts)
        slopes = torch.cat([part.slopes.expand(-1, count, -1, -1) for part in parts], dim=2)
        ends, total = [*accumulate(part.size for part in parts)], slopes.shape[2]
        terms = tuple(
            term.padded(end - part.size, total - end)
            for part, end in zip(parts, ends, strict=True)
            for term in part.terms
        )
        return LipschitzBounds(
            self.interval.joined(*(part.range for part in parts)), slopes, terms=terms
        )


def step_lipschitz(
    program: Program,
    parameters: Mapping[str, Tensor],
    box: Tensor,
    B: InputBound | Tensor,
    d: int,
    radii: Radii = MappingProxyType({}),
    blocks: int = 1,
    interval: type[Interval] = Interval,
) -> LipschitzBounds:
    """One step from |s| ≤ box (B, N) and ‖x‖₂ ≤ B: intervals, and slopes in s and in x; the terms
    are those of a state of so many blocks."""
    batch, N = box.shape
    m = SlopeArithmetic(parameters, N + d, radii=radii, interval=interval)
    inputs, radius, given = input_enclosure(B, box, d, m.interval)
    eye = torch.eye(N + d, dtype=box.dtype, device=box.device).expand(batch, 1, -1, -1)
    indicators = torch.eye(blocks, dtype=box.dtype, device=box.device)
    terms = tuple(
        Term(reach.repeat_interleave(N // blocks, 1), None, reach, m.interval.up)
        for reach in indicators[:, None].expand(-1, batch, -1)
    )
    state = LipschitzBounds(m.interval.symmetric(box), eye[:, :, :N], terms=terms)
    return program(m, state, LipschitzBounds(inputs, eye[:, :, N:], radius, given=given))


def compare_runs(
    program: Program,
    parameters: Mapping[str, Tensor],
    box: Tensor,
    B: InputBound | Tensor,
    d: int,
    *,
    blocks: int = 1,
    euclidean: Tensor | None = None,
    drive: Tensor | None = None,
    radii: Radii = MappingProxyType({}),
    interval: type[Interval] = Interval,
) -> Comparison:
    """The comparison of B systems on their invariant boxes (B, N); see
    `impl.norms.comparison.Comparison`.

    `euclidean` (B, blocks, blocks) where something better is known than the norms of the matrices;
    `drive` (B, N) where another is asked about than that of the inputs.
    """
    N = box.shape[1]
    step = step_lipschitz(program, parameters, box, B, d, radii, blocks, interval)
    n = N // blocks

    def norms() -> Tensor:
        parts = step.largest_slopes[:, :, :N].reshape(-1, blocks, n, blocks, n)
        blocks_flat = parts.transpose(2, 3).flatten(0, 2)
        of_slopes = interval.up.spectral(blocks_flat).reshape(-1, blocks, blocks)
        if radii:  # of weights as they are the signs are known
            return of_slopes
        rows = [step.part(i * n, (i + 1) * n).terms for i in range(blocks)]
        zeros = box.new_zeros(len(box), blocks)
        signed = [block_norms(terms) if terms else zeros for terms in rows]
        return torch.minimum(of_slopes, torch.stack(signed, dim=1))

    if drive is None:
        drive = step_bound(program, parameters, torch.zeros_like(box), B, d, radii=radii)
    return Comparison(
        slopes=step.slopes,
        box=box,
        drive=drive,
        blocks=blocks,
        norms=norms if euclidean is None else lambda: euclidean,
    )


def _scale_rows(up: Operations, rows: Tensor, slopes: Tensor) -> Tensor:
    """diag(rows) M, for rows (B, m) and slopes (B, …, m, N + d); 0 where M is."""
    factors = rows.reshape(rows.shape[0], *[1] * (slopes.ndim - 3), rows.shape[1], 1)
    return torch.where(slopes == 0, 0.0, up.multiply(factors, slopes))


def _endpoints(gate: Interval) -> tuple[Tensor, ...]:
    """Endpoints of the gate's interval; one tensor if it is a point."""
    still = torch.equal(gate.low, gate.high)
    return (gate.high,) if still else (gate.low, gate.high)


def _reduce_one(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    """Reduce both to their maximum over R where both have several matrices, so that one has one."""
    if first.shape[1] > 1 and second.shape[1] > 1:
        return first.amax(1, keepdim=True), second.amax(1, keepdim=True)
    return first, second
