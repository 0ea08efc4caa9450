"""A network with sigmoids, and a unitary network of the same inputs that may stand in.

h_k = ρ(W h_{k−1} + f x_k + b), y = cᵀh, against s_k = ρ̂(V s_{k−1} + g x_k + d), ŷ = eᵀs + e₀, with
rational weights. In t = 2s − 1 the sigmoid is a tanh too: t_k = tanh((V/4) t_{k−1} + …).
Source: Emami et al., Theorem 4.1.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from flint import arb, arb_mat, fmpq, fmpq_mat

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.properties.systems.unitary.exact import Vector
from rnnbounds.properties.systems.unitary.linear import column_matrix, matrix_entries

ZERO = fmpq(0)
STEPS = 12
AMPLITUDES = (fmpq(1), fmpq(4), fmpq(1, 4))
# No probe is larger.
BOUND = max(AMPLITUDES)


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
    """s_k = ρ(V s_{k−1} + g x_k + d) from ``start``, read by eᵀs + e₀."""

    activation: str
    V: fmpq_mat
    g: Vector
    d: Vector
    start: Vector
    e: Vector
    e0: fmpq = ZERO

    @cached_property
    def as_tanh(self) -> SigmoidNetwork:
        """Equivalent tanh network, by σ(z) = (1 + tanh(z/2))/2; itself for other activations."""
        if self.activation != "sigmoid":
            return self
        ones = column_matrix([fmpq(1)] * len(self.d))
        shift = matrix_entries(self.V * ones)
        return SigmoidNetwork(
            "tanh",
            self.V / 4,
            tuple(v / 2 for v in self.g),
            tuple((v + r / 2) / 2 for v, r in zip(self.d, shift, strict=True)),
            tuple(2 * v - 1 for v in self.start),
            tuple(v / 2 for v in self.e),
            self.e0 + sum(self.e, ZERO) / 2,
        )

    def outputs(self) -> list[arb_mat]:
        """y of every step, (1, P) for the P probes, in balls of the current precision."""
        rho, inputs = activation(self.activation).ball, probe_inputs()
        read, offset = (arb_mat(1, len(v), list(v)) for v in (self.e, [self.e0] * len(inputs)))
        states = run_network(rho, self.V, self.g, self.d, self.start, inputs)
        return [read * state + offset for state in states]


def run_network(
    rho: Callable[[arb], arb], V: fmpq_mat, g: Vector, d: Vector, start: Vector,
    inputs: Sequence[Vector],
) -> Iterator[arb_mat]:  # fmt: skip
    """s_k = ρ(V s_{k−1} + g x_k + d) at every step of P sequences, (m, P), in balls of the current
    precision."""
    m, P = len(d), len(inputs)
    ones = fmpq_mat(1, P, [1] * P)
    state, offset = (arb_mat(column_matrix(part) * ones) for part in (start, d))
    W, U = arb_mat(V), arb_mat(column_matrix(g))
    for x in zip(*inputs, strict=True):
        moved = W * state + U * arb_mat(1, P, list(x)) + offset
        state = arb_mat(m, P, list(map(rho, moved.entries())))
        yield state
