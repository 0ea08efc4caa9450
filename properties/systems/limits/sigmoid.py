"""A network with sigmoids, and a unitary network of the same inputs that may stand in.

h_k = ρ(W h_{k−1} + f x_k + b), y = cᵀh, against s_k = ρ̂(V s_{k−1} + g x_k + d), ŷ = eᵀs + e₀, with
rational weights. In t = 2s − 1 the sigmoid is a tanh too: t_k = tanh((V/4) t_{k−1} + …).
Source: Emami et al., Theorem 4.1.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache

from flint import arb, arb_mat, fmpq, fmpq_mat

from impl.arithmetic.activation import activation
from properties.systems.unitary.exact import Vector
from properties.systems.unitary.linear import column, entries

ZERO = fmpq(0)
STEPS = 12
AMPLITUDES = (fmpq(1), fmpq(4), fmpq(1, 4))
# No probe is larger.
BOUND = max(AMPLITUDES)


@cache
def probes() -> tuple[Vector, ...]:
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
class Network:
    """s_k = ρ(V s_{k−1} + g x_k + d) from ``start``, read by eᵀs + e₀."""

    activation: str
    V: fmpq_mat
    g: Vector
    d: Vector
    start: Vector
    e: Vector
    e0: fmpq = ZERO

    @property
    def normal(self) -> Network:
        """The same map as a network of tanh units; of another activation, itself."""
        if self.activation != "sigmoid":
            return self
        ones = column([fmpq(1)] * len(self.d))
        shift = entries(self.V * ones)
        return Network(
            "tanh",
            self.V / 4,
            tuple(v / 2 for v in self.g),
            tuple((v + r / 2) / 2 for v, r in zip(self.d, shift, strict=True)),
            tuple(2 * v - 1 for v in self.start),
            tuple(v / 2 for v in self.e),
            self.e0 + sum(self.e, ZERO) / 2,
        )

    def outputs(self) -> list[list[arb]]:
        """y of every step (inner) of every probe, in balls of the current precision."""
        rho = activation(self.activation).ball
        inputs = probes()
        state = arb_mat([[arb(v)] * len(inputs) for v in self.start])
        V, e = (balls(A) for A in (self.V, fmpq_mat(1, len(self.e), list(self.e))))
        found = []
        for k in range(STEPS):
            pushed = [
                [arb(g * x[k] + d) for x in inputs] for g, d in zip(self.g, self.d, strict=True)
            ]
            moved = V * state + arb_mat(pushed)
            state = arb_mat([[rho(z) for z in row] for row in moved.tolist()])
            found.append([v + arb(self.e0) for v in (e * state).tolist()[0]])
        return found


def balls(A: fmpq_mat) -> arb_mat:
    """A in balls of the current precision."""
    return arb_mat([[arb(v) for v in row] for row in A.tolist()])
