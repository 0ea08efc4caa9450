"""A network with sigmoids, and a unitary network of the same inputs that may stand in.

h_k = ρ(W h_{k−1} + f x_k + b), y = cᵀh, against s_k = ρ̂(V s_{k−1} + g x_k + d), ŷ = eᵀs + e₀, with
rational weights. In t = 2s − 1 the sigmoid is a tanh too: t_k = tanh((V/4) t_{k−1} + …). Units of
tanh networks that are equal for all inputs are lumped, which proves that two networks are one map.
Source: Emami et al., Theorem 4.1.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, reduce

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from rnnbounds.properties.systems.unitary.exact import (
    ExactMember,
    Table,
    Vector,
    nearest_float,
    recurrence_tables,
    upper_float,
)
from rnnbounds.properties.systems.unitary.linear import (
    block_diagonal,
    column_matrix,
    matrix_entries,
)

ZERO = fmpq(0)
STEPS = 12
AMPLITUDES = (fmpq(1), fmpq(4), fmpq(1, 4))
# Balls at these precisions, until the gap is told from 0.
PRECISIONS = (64, 128, 256, 512, 1024)
# The spectral radius is bounded by the powers W^(2^p) up to this p, in balls.
SQUARINGS, PRECISION = 9, 256


@cache
def probe_inputs() -> tuple[Vector, ...]:
    """The input sequences on which outputs are compared: constant, alternating, an impulse and
    drawn ones, each at three amplitudes."""
    draw = random.Random("probes")
    shapes = [
        [1] * STEPS,
        [(-1) ** k for k in range(STEPS)],
        [int(k == 0) for k in range(STEPS)],
        *([fmpq(draw.randint(-64, 64), 64) for _ in range(STEPS)] for _ in range(3)),
    ]
    return tuple(tuple(size * fmpq(v) for v in shape) for size in AMPLITUDES for shape in shapes)


@dataclass(frozen=True, eq=False)
class SigmoidNetwork:
    """s_k = ρ(V s_{k−1} + g x_k + d) from ``start``, read by eᵀs + e₀; ρ is the sigmoid or tanh."""

    activation: str
    V: fmpq_mat
    g: Vector
    d: Vector
    start: Vector
    e: Vector
    e0: fmpq = ZERO

    @cached_property
    def as_tanh(self) -> SigmoidNetwork:
        """Equivalent tanh network, by σ(z) = (1 + tanh(z/2))/2."""
        if self.activation == "tanh":
            return self
        shift = matrix_entries(self.V * column_matrix([fmpq(1)] * len(self.d)))
        return SigmoidNetwork(
            "tanh",
            self.V / 4,
            tuple(v / 2 for v in self.g),
            tuple((v + r / 2) / 2 for v, r in zip(self.d, shift, strict=True)),
            tuple(2 * v - 1 for v in self.start),
            tuple(v / 2 for v in self.e),
            self.e0 + sum(self.e, ZERO) / 2,
        )

    def outputs(self) -> Iterator[arb_mat]:
        """y of a tanh network at every step, (1, P) for the P probes, in balls of the current
        precision."""
        inputs, m = probe_inputs(), len(self.d)
        P = len(inputs)
        ones = fmpq_mat(1, P, [1] * P)
        state, offset = (arb_mat(column_matrix(part) * ones) for part in (self.start, self.d))
        W, U, read = arb_mat(self.V), arb_mat(column_matrix(self.g)), arb_mat(1, m, list(self.e))
        for x in zip(*inputs, strict=True):
            moved = W * state + U * arb_mat(1, P, list(x)) + offset
            state = arb_mat(m, P, [z.tanh() for z in moved.entries()])
            yield read * state + arb_mat(1, P, [self.e0] * P)


def equal_units(
    V: fmpq_mat, g: Sequence[fmpq], d: Sequence[fmpq], start: Sequence[fmpq]
) -> list[int]:
    """The classes, by number, of units that are equal at all times, whatever the inputs are.

    The coarsest partition in which units of one class have the same input weight, bias and initial
    state, and the same sums of recurrent weights from every class: equal states stay equal.
    """
    rows = V.tolist()
    classes = numbered(list(zip(g, d, start, strict=True)))
    while True:
        keys = [(c, *class_sums(row, classes)) for c, row in zip(classes, rows, strict=True)]
        finer = numbered(keys)
        if max(finer) == max(classes):
            return classes
        classes = finer


def numbered(keys: Sequence[Hashable]) -> list[int]:
    """Equal keys as equal numbers, in the order in which they come."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def class_sums(weights: Sequence[fmpq], classes: Sequence[int]) -> list[fmpq]:
    """The sum of the weights from each class."""
    sums = [ZERO] * (max(classes) + 1)
    for c, weight in zip(classes, weights, strict=True):
        sums[c] += weight
    return sums


@dataclass(frozen=True, eq=False)
class SigmoidPair(ExactMember):
    """A network of n units and a unitary one of ``states`` units."""

    network: SigmoidNetwork
    candidate: SigmoidNetwork

    @cached_property
    def is_equal(self) -> bool:
        """True if lumping proves equal outputs of both networks for all inputs at all times; False
        proves nothing."""
        one, other = self.network.as_tanh, self.candidate.as_tanh
        classes = equal_units(
            block_diagonal(one.V, other.V),
            one.g + other.g, one.d + other.d, one.start + other.start,
        )  # fmt: skip
        read = [*(-v for v in one.e), *other.e]
        return one.e0 == other.e0 and not any(class_sums(read, classes))

    def ball_gap(self) -> arb:
        """max |y − ŷ| over the probes in balls of the current precision."""
        if self.is_equal:
            return arb(0)
        both = zip(self.network.as_tanh.outputs(), self.candidate.as_tanh.outputs(), strict=True)
        gaps = [gap for y, z in both for gap in (y - z).entries()]
        return reduce(arb.max, map(arb.abs_lower, gaps)).union(
            reduce(arb.max, map(arb.abs_upper, gaps))
        )

    def gap_bound(self) -> arb:
        """At least |y − ŷ| at all times for all inputs, as |tanh| ≤ 1: Σ |c_i| + Σ |e_i| + |e₀|."""
        if self.is_equal:
            return arb(0)
        one, other = self.network.as_tanh, self.candidate.as_tanh
        return sum((abs(arb(v)) for v in (*one.e, *other.e, one.e0 - other.e0)), arb(0)).upper()

    @cached_property
    def probe_gap(self) -> arb:
        """Output gap at the probes, at the first precision that separates it from 0, if any."""
        ball = arb(0)
        for precision in PRECISIONS:
            with ctx.workprec(precision):
                ball = self.ball_gap()
            if ball > 0 or ball.is_exact():
                break
        return ball

    def tables(self) -> dict[str, Table]:
        """Both networks; x holds the first probe."""
        one, other = self.network, self.candidate
        U, x, start = [[v] for v in one.g], [[[v] for v in probe_inputs()[0]]], [list(one.start)]
        found = recurrence_tables(one.V.tolist(), U, list(one.d), x, start, start, [list(one.e)])
        return found | {
            "W2": other.V.tolist(), "U2": [[v] for v in other.g], "b2": list(other.d),
            "C2": [list(other.e)], "e0": [other.e0], "start2": list(other.start),
            "probes": [list(x) for x in probe_inputs()],
        }  # fmt: skip

    def dump_tables(self) -> dict[str, Table]:
        """Add the names of both activations to `tables`."""
        both = [self.network.activation, self.candidate.activation]
        return self.tables() | {"activations": both}

    def constants(self) -> dict[str, float]:
        """A bound on the spectral radius of W."""
        return {"W_radius": spectral_radius_bound(self.network.V)}

    def parameters(self) -> dict[str, float]:
        """m, |w| of a scalar network, whether the activations are the same, and whether the output
        is bound to depend on the latest input."""
        one, other = self.network, self.candidate
        parts = [c * f for c, f in zip(one.e, one.g, strict=True)]
        scalar = {"w_abs": nearest_float(abs(one.V[0, 0]))} if len(one.d) == 1 else {}
        return scalar | {
            "states": float(len(other.d)),
            "same_activation": float(one.activation == other.activation),
            "driven": float((min(parts) < 0) != (max(parts) > 0)),
        }


def spectral_radius_bound(W: fmpq_mat) -> float:
    """An upper bound on max |eigenvalue|: the least ‖W^k‖₂^(1/k) for powers of two k, where ‖A‖₂²
    is at most the largest absolute row sum of AᵀA. Source: Gelfand."""
    if W.nrows() == 1:
        return upper_float(abs(W[0, 0]))
    found = np.inf
    with ctx.workprec(PRECISION):
        A = arb_mat(W)
        for p in range(SQUARINGS + 1):
            sums = [sum((abs(v) for v in row), arb(0)) for row in (A.transpose() * A).tolist()]
            largest = max(v.upper() for v in sums)
            bound = largest.root(2 ** (p + 1)).upper()
            found = min(found, float(np.nextafter(float(bound), np.inf)))
            A = A * A
    return found
