"""One (system, sequence) pair in ball arithmetic.

Gaps of two rollouts that see the same inputs are carried as differences, δ ↦ ρ(a) − ρ(a − Wδ):
where Wδ is exactly zero so is the next difference, and a gap that vanishes (λ = 0, nilpotent W) is
seen to vanish.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, nextafter
from typing import Any

import torch
from flint import arb, arb_mat

from rnnbounds.impl.arithmetic.activation import Activation
from rnnbounds.properties.systems.batch import Batch

Vector = list[arb]
Ends = tuple[float, float]


def column(values: Sequence[float | arb]) -> arb_mat:
    """The (n, 1) matrix of n values."""
    return arb_mat([[arb(v)] for v in values])


def entries(matrix: arb_mat) -> Vector:
    """The first column of a matrix as a list."""
    return [matrix[i, 0] for i in range(matrix.nrows())]


def matrix_of(tensor: torch.Tensor) -> arb_mat:
    """The floats of an (r, c) tensor, exactly."""
    return arb_mat([[arb(v) for v in row] for row in tensor.tolist()])


def length(vector: Vector) -> arb:
    """‖v‖₂, never NaN for finite balls: the ends come from |v_i|, whose squares are ≥ 0."""
    low = sum((v.abs_lower() * v.abs_lower() for v in vector), arb(0))
    high = sum((v.abs_upper() * v.abs_upper() for v in vector), arb(0))
    return arb(low.lower() if low > 0 else 0).sqrt().union(arb(high.upper()).sqrt())


def largest(vector: Sequence[arb], weights: Sequence[float]) -> arb:
    """max |v_i|/weight_i, from the ends of the balls."""
    low, high = arb(0), arb(0)
    for value, weight in zip(vector, weights, strict=True):
        low = low.max(value.abs_lower() / weight)
        high = high.max(value.abs_upper() / weight)
    return low.union(high)


def difference(activation: Activation, a: arb, shift: arb) -> arb:
    """ρ(a) − ρ(a − shift), exactly 0 where the shift is."""
    if shift.is_zero():
        return arb(0)
    if activation.name == "identity":
        return shift
    return activation.ball(a) - activation.ball(a - shift)


@dataclass(frozen=True)
class BallPair:
    """Rollouts of one pair at the precision that is current while they are first read."""

    batch: Batch
    cache: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def W(self) -> arb_mat:
        """The recurrent matrix (n, n), exactly."""
        return matrix_of(self.batch.cell.W[0])

    @cached_property
    def U(self) -> arb_mat:
        """The input matrix (n, d), exactly."""
        return matrix_of(self.batch.cell.U[0])

    @cached_property
    def inputs(self) -> list[arb_mat]:
        """x_1 … x_T, each (d, 1), exactly."""
        return [column(x) for x in self.batch.x[0, :, :, 0].tolist()]

    @cached_property
    def path(self) -> tuple[list[arb_mat], list[arb_mat]]:
        """States h_0 … h_T and pre-activations a_1 … a_T of the full rollout."""
        return self.roll(self.inputs)

    def roll(
        self, inputs: list[arb_mat], start: arb_mat | None = None
    ) -> tuple[list[arb_mat], list[arb_mat]]:
        """States and pre-activations of a rollout, from the zero state unless another is given."""
        ball, b = self.batch.cell.activation.ball, column(self.batch.cell.b[0].tolist())
        states, before = [column([0.0] * self.batch.cell.n) if start is None else start], []
        for x in inputs:
            before.append(self.W * states[-1] + self.U * x + b)
            states.append(arb_mat([[ball(a)] for a in entries(before[-1])]))
        return states, before

    def advance(self, delta: arb_mat, a: arb_mat, forced: arb_mat | None = None) -> arb_mat:
        """The next difference of two states from this one and the first state's pre-activation;
        ``forced`` is by how much the inputs differ, through U."""
        carried = self.W * delta
        shift = entries(carried if forced is None else carried + forced)
        pairs = zip(entries(a), shift, strict=True)
        return arb_mat([[difference(self.batch.cell.activation, p, q)] for p, q in pairs])

    def gap(self, k: int) -> Vector:
        """h_T − h_T^k."""
        (states, before), start = self.path, self.batch.spec.T - k
        delta = states[start]
        for a in before[start:]:
            delta = self.advance(delta, a)
        return entries(delta)

    def forward_gap(self, k: int) -> Vector:
        """H_T^{(k)} − h_T^k: the layers' recursion against the truncated rollout, as a difference
        from H⁽⁰⁾ = 0 = h_{T−k}^k on."""
        delta = column([0.0] * self.batch.cell.n)
        for a in self.roll(self.inputs[self.batch.spec.T - k :])[1]:
            delta = self.advance(delta, a)
        return entries(delta)

    @cached_property
    def step_gap(self) -> Vector:
        """φ(h, x_1) − φ(h', x_1)."""
        h, other = (column(v[0, :, 0].tolist()) for v in (self.batch.h, self.batch.h_other))
        a = self.W * h + self.U * self.inputs[0] + column(self.batch.cell.b[0].tolist())
        return entries(self.advance(h - other, a))

    @cached_property
    def state_gap(self) -> Vector:
        """h − h'."""
        pairs = zip(
            self.batch.h[0, :, 0].tolist(), self.batch.h_other[0, :, 0].tolist(), strict=True
        )
        return [arb(p) - arb(q) for p, q in pairs]

    def jacobian(self, k: int) -> arb_mat:
        """∂h_T/∂x_{T−k}, k < T."""
        slope, n = self.batch.cell.activation.ball_derivative, self.batch.cell.n
        carried = arb_mat([[arb(int(i == j)) for j in range(n)] for i in range(n)])
        for lag, a in enumerate(reversed(self.path[1][self.batch.spec.T - 1 - k :])):
            slopes = [slope(z) for z in entries(a)]
            carried = carried * self.W if lag else carried
            carried = arb_mat([[carried[i, j] * slopes[j] for j in range(n)] for i in range(n)])
        return carried * self.U


def ball_pair(batch: Batch, precision: int) -> BallPair:
    """The pair's rollouts at one precision, made once."""
    key = f"balls at {precision} bits"
    if key not in batch.cache:
        batch.cache[key] = BallPair(batch)
    pair = batch.cache[key]
    assert isinstance(pair, BallPair)
    return pair


def float_ends(value: arb) -> Ends:
    """A float64 interval around a ball."""
    if not value.is_finite():
        return (-inf, inf)
    if value.is_exact() and float(value) == value:
        return (float(value), float(value))
    return (nextafter(float(value.lower()), -inf), nextafter(float(value.upper()), inf))
