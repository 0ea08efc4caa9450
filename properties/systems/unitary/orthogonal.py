"""Rational orthogonal matrices, directions and inputs; networks that an orthogonal matrix drives,
and orthogonal matrices with a leading block.

Source: Cayley (1846); Emami et al., section 2 and Theorem 3.1.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from flint import fmpq, fmpq_mat

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.numbers.rationals import (
    RationalContraction,
    cayley,
    diagonal,
    identity,
    pythagorean,
)
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.exact import (
    ExactMember,
    Table,
    Vector,
    member_random,
    rational,
    recurrence_tables,
)
from rnnbounds.properties.systems.unitary.linear import (
    block_diagonal,
    permutation_matrix,
    submatrix,
)

ZERO, ONE = fmpq(0), fmpq(1)


def signed_permutation(n: int, draw: random.Random) -> fmpq_mat:
    """A signed permutation matrix."""
    places = draw.sample(range(n), n)
    return diagonal([fmpq(draw.choice((-1, 1))) for _ in places]) * permutation_matrix(places)


def orthogonal_matrix(regime: str, n: int, draw: random.Random) -> fmpq_mat:
    """A rational orthogonal matrix (n, n): identity, signed (permutation) or Cayley's."""
    return {"identity": lambda: identity(n), "signed": lambda: signed_permutation(n, draw)}.get(
        regime, lambda: cayley(n, draw)
    )()


def unit_vector(n: int, draw: random.Random) -> Vector:
    """A rational unit vector: along an axis, or a column of a Cayley transform."""
    Q = orthogonal_matrix(draw.choice(("signed", "cayley")), n, draw)
    return tuple(Q[i, 0] for i in range(n))


def scale_vector(factor: fmpq, v: Vector) -> Vector:
    """factor · v."""
    return tuple(factor * entry for entry in v)


def random_isometry(n: int, d: int, draw: random.Random, regime: str = "cayley") -> fmpq_mat:
    """(n, d) with orthonormal columns, or rows where d > n: its norm is exactly 1."""
    rows = orthogonal_matrix(regime, max(n, d), draw).tolist()
    return fmpq_mat([row[:d] for row in rows[:n]])


def draw_biases(spec: SystemSpec, n: int, draw: random.Random) -> Vector:
    """b (n): quarters between −1 and 1 times the spec's ``bias``."""
    return tuple(rational(spec.bias) * fmpq(draw.randint(-4, 4), 4) for _ in range(n))


def draw_input_sequences(spec: SystemSpec, member: int) -> list[list[Vector]]:
    """The chosen sequences x (S, T, d) in rationals, every ‖x_t‖ ≤ B, and where the regime has one
    direction, ``saturating`` or ``resonant`` inputs, exactly B.

    ``resonant`` ones stay on the first axis; ``gaussian`` ones vary in size and direction.
    """
    B, d = rational(spec.scale), spec.d

    def first(draw: random.Random) -> Vector:
        one = unit_vector(d, draw)
        return scale_vector(B, (ONE, *[ZERO] * (d - 1)) if spec.inputs == "resonant" else one)

    def other(draw: random.Random) -> Vector:
        size = fmpq(draw.randint(-4, 4), 4) if spec.inputs == "gaussian" else ONE
        return scale_vector(B * size, unit_vector(d, draw))

    return make_sequences(spec, member, first, other)


def make_sequences(
    spec: SystemSpec, member: int, first: Callable[[random.Random], Vector],
    other: Callable[[random.Random], Vector],
) -> list[list[Vector]]:  # fmt: skip
    """The chosen sequences x (S, T, d): each has a first input, which ``constant`` ones repeat and
    ``alternating`` ones negate, and ``gaussian`` and ``saturating`` ones have others."""

    def step(t: int, one: Vector, draw: random.Random) -> Vector:
        if spec.inputs == "zero" or (spec.inputs == "impulse" and t > 0):
            return (ZERO,) * len(one)
        if spec.inputs in ("gaussian", "saturating"):
            return other(draw)
        return scale_vector(-ONE, one) if spec.inputs == "alternating" and t % 2 else one

    found = []
    for s in spec.sequence_range:
        draw = member_random(spec, member, f"inputs {s}")
        one = first(draw)
        found.append([step(t, one, draw) for t in range(spec.T)])
    return found


@dataclass(frozen=True, eq=False)
class OrthogonalNetwork(ExactMember):
    """s_t = ρ(V s_{t−1} + U x_t + b) from s_{−1}, V orthogonal: the kind ``urnn``."""

    spec: SystemSpec
    V: fmpq_mat
    U: fmpq_mat
    b: Vector
    initial: Vector
    x: list[list[Vector]]

    def tables(self) -> dict[str, Table]:
        """The network, its inputs and where it starts."""
        start = [self.initial] * len(self.x)
        return recurrence_tables(self.V.tolist(), self.U.tolist(), self.b, self.x, start)

    def constants(self) -> dict[str, float]:
        """‖V‖ = 1 exactly, so that λ is the activation's slope."""
        slope = activation(self.spec.activation).slope
        return {"L_rho": slope, "lam": slope, "W_norm": 1.0, "B_x": self.spec.scale}

    def parameters(self) -> dict[str, float]:
        """The rows of V."""
        return {"states": float(self.V.nrows())}


def recurrent_member(spec: SystemSpec, member: int) -> OrthogonalNetwork:
    """The member of a ``urnn`` spec: V, b and s_{−1} of size ``start`` have ``n`` rows."""
    draw = member_random(spec, member, "system")
    V = orthogonal_matrix(spec.regime, spec.n, draw)
    U = random_isometry(spec.n, spec.d, draw, draw.choice(("identity", "cayley")))
    initial = scale_vector(rational(spec.start), unit_vector(spec.n, draw))
    return OrthogonalNetwork(
        spec, V, U, draw_biases(spec, spec.n, draw), initial, draw_input_sequences(spec, member)
    )


@dataclass(frozen=True, eq=False)
class OrthogonalBlock(ExactMember):
    """An orthogonal V (m, m) and its leading block W (n, n)."""

    spec: SystemSpec
    V: fmpq_mat

    @cached_property
    def W(self) -> fmpq_mat:
        """The leading block."""
        n = range(self.spec.n)
        return submatrix(self.V, n, n)

    @property
    def parts(self) -> dict[str, fmpq_mat]:
        """W and V, by their names in theory."""
        return {"W": self.W, "V": self.V}

    def tables(self) -> dict[str, Table]:
        """W and V; there are no inputs."""
        spec, n, m = self.spec, self.spec.n, self.V.nrows()
        x, rest = (
            [row] * len(spec.sequence_range) for row in ([[ZERO] * spec.d] * spec.T, [ZERO] * n)
        )
        U, b = [[ZERO] * spec.d] * n, [ZERO] * n
        return recurrence_tables(self.W.tolist(), U, b, x, rest, rest) | {
            "W2": self.V.tolist(), "U2": [[ZERO] * spec.d] * m, "b2": [ZERO] * m,
        }  # fmt: skip

    def constants(self) -> dict[str, float]:
        """A block of an orthogonal matrix has a norm of at most 1."""
        return {"lam": 1.0, "W_norm": 1.0, "L_rho": 1.0}

    def parameters(self) -> dict[str, float]:
        """The rows of V."""
        return {"states": float(self.V.nrows())}


def block_member(spec: SystemSpec, member: int) -> OrthogonalBlock:
    """The member of a ``block`` spec: V with ``states`` rows; of a ``dilation`` the block has at
    least ``units`` singular values 1, and as many below as the added rows have room for."""
    draw, n, m = member_random(spec, member, "system"), spec.n, spec.states
    if spec.regime != "dilation":
        return OrthogonalBlock(spec, orthogonal_matrix(spec.regime, m, draw))
    contracted = min(n - spec.units, m - n)
    pairs = [(ONE, ZERO)] * (n - contracted) + [pythagorean(draw) for _ in range(contracted)]
    sigma, kappa = zip(*pairs, strict=True)
    V = RationalContraction(cayley(n, draw), sigma, kappa, cayley(n, draw)).dilation()
    if m > V.nrows():
        V = block_diagonal(V, identity(m - V.nrows()))
    if m > n:
        # Rotating the added rows, and then the added columns, leaves the block as it is.
        left, right = (block_diagonal(identity(n), cayley(m - n, draw)) for _ in range(2))
        V = left * V * right
    return OrthogonalBlock(spec, V)
