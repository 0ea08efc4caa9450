"""Candidates that match a network by construction, all of them from one place.

With V orthogonal, A its leading n × n block and T invertible
such that W = T A T⁻¹, the first n units of the candidate are T⁻¹h + q, q large enough to keep them
active, and the others are held at zero by their biases. Sources: Emami et al., Theorems 3.1, 3.2.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from flint import fmpq, fmpq_mat

from rnnbounds.impl.convert.rational_unitary import RationalRNN
from rnnbounds.impl.numbers.rationals import (
    cayley,
    diagonal,
    identity,
    random_contraction,
    root_above,
)
from rnnbounds.properties.systems.limits.candidates import UnitaryCandidate, find_smooth_centre
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.exact import Vector, matrix_vector
from rnnbounds.properties.systems.unitary.linear import (
    block_diagonal,
    column_matrix,
    is_contraction,
    join_columns,
    matrix_entries,
    permutation_matrix,
    short_rational,
    submatrix,
)

ZERO, ONE = fmpq(0), fmpq(1)
SMALL = [[fmpq(p, q) for q in (1, 2, 3)] for p in range(-3, 4)]
QUARTERS = [fmpq(p, 4) for p in range(-4, 5)]
# Draws of V and T until T A T⁻¹ is a contraction.
TRIES = 400


@dataclass(frozen=True, eq=False)
class OrthogonalView:
    """V (m, m) orthogonal and T (n, n): the candidate's view of W = T A T⁻¹."""

    V: fmpq_mat
    T: fmpq_mat

    @cached_property
    def inverse(self) -> fmpq_mat:
        """T⁻¹."""
        return self.T.inv()

    @cached_property
    def W(self) -> fmpq_mat:
        """T A T⁻¹ with A the leading block of V."""
        n = range(self.T.nrows())
        found: fmpq_mat = self.T * submatrix(self.V, n, n) * self.inverse
        return found


def small_rational(draw: random.Random) -> fmpq:
    """A rational of small numerator and denominator, seldom 0."""
    return draw.choice(draw.choice(SMALL))


def small_rational_matrix(draw: random.Random, rows: int, columns: int) -> fmpq_mat:
    """A matrix of small rationals."""
    return fmpq_mat(rows, columns, [small_rational(draw) for _ in range(rows * columns)])


def relu_network(
    spec: SystemSpec, W: fmpq_mat, draw: random.Random
) -> tuple[RationalRNN, list[Vector]]:
    """h = ReLU(W h + x + β1) and inputs that keep it at h = β1, where all its units are active."""
    beta = fmpq(draw.randint(1, 4), 2)
    level = [beta] * spec.n
    initial = [fmpq(draw.randint(0, 4), 4) * short_rational(spec.start) for _ in range(spec.n)]
    first, later = (
        tuple(-v for v in matrix_entries(W * column_matrix(h))) for h in (initial, level)
    )
    rnn = RationalRNN(W, identity(spec.n), tuple(level), tuple(initial))
    return rnn, [first, *[later] * (spec.T - 1)]


def finish_candidate(
    rnn: RationalRNN, urnn: RationalRNN, E: fmpq_mat, e: Sequence[fmpq], centre: Sequence[Vector]
) -> UnitaryCandidate:
    """The candidate around the centre, moved off every kink."""
    return UnitaryCandidate(rnn, urnn, E, tuple(e), find_smooth_centre(rnn, urnn, centre))


def candidate_from_view(
    spec: SystemSpec, orthogonal_view: OrthogonalView, draw: random.Random
) -> UnitaryCandidate:
    """The candidate that sees the network through T, with as many idle states as are left."""
    n, rows = spec.n, orthogonal_view.V.nrows()
    rnn, centre = relu_network(spec, orthogonal_view.W, draw)
    runs = [rnn.initial, *rnn.states(centre)]
    lowest = min(
        v for h in runs for v in matrix_entries(orthogonal_view.inverse * column_matrix(h))
    )
    # Without need of it the first units are the network's own.
    q = column_matrix([max(ZERO, ONE - lowest) if identity(n) != orthogonal_view.T else ZERO] * n)
    inside = [orthogonal_view.inverse * column_matrix(h) + q for h in runs]
    leading = range(n)
    A, lower = (
        submatrix(orthogonal_view.V, leading, leading),
        submatrix(orthogonal_view.V, range(n, rows), leading),
    )
    d = [*matrix_entries(orthogonal_view.inverse * column_matrix(rnn.b) + q - A * q)]
    d += [-ONE - max(matrix_entries(lower * s)[i] for s in inside) for i in range(rows - n)]
    G = orthogonal_view.inverse.tolist() + [[ZERO] * n] * (rows - n)
    E = join_columns(orthogonal_view.T, fmpq_mat(n, rows - n)) if rows > n else orthogonal_view.T
    urnn = RationalRNN(
        orthogonal_view.V, fmpq_mat(G), tuple(d), (*matrix_entries(inside[0]), *[ZERO] * (rows - n))
    )
    urnn, E = add_idle_states(urnn, E, spec.states - rows, draw)
    return finish_candidate(
        rnn, urnn, E, [-v for v in matrix_entries(orthogonal_view.T * q)], centre
    )


def add_idle_states(
    urnn: RationalRNN, E: fmpq_mat, added: int, draw: random.Random
) -> tuple[RationalRNN, fmpq_mat]:
    """Add states that no output reads to a unitary network (urnn, E), then perhaps permute all."""
    if added > 0:
        V, G = cayley(added, draw), small_rational_matrix(draw, added, urnn.U.ncols())
        # Half of them are active near any centre, half are not.
        level = fmpq(draw.choice((-16, 16)))
        d = matrix_entries(
            column_matrix([level] * added) - V * column_matrix([max(level, ZERO)] * added)
        )
        urnn = RationalRNN(
            block_diagonal(urnn.W, V), fmpq_mat(urnn.U.tolist() + G.tolist()), (*urnn.b, *d),
            (*urnn.initial, *[max(level, ZERO)] * added),
        )  # fmt: skip
        E = join_columns(E, fmpq_mat(E.nrows(), added))
    order = draw.sample(range(len(urnn.b)), len(urnn.b)) if draw.random() < 0.5 else None
    if order is None:
        return urnn, E
    order_matrix = permutation_matrix(order)
    W, U, back = (
        order_matrix * urnn.W * order_matrix.transpose(),
        order_matrix * urnn.U,
        E * order_matrix.transpose(),
    )
    return RationalRNN(
        W, U, matrix_vector(order_matrix, urnn.b), matrix_vector(order_matrix, urnn.initial)
    ), back


def swap_matrix(n: int) -> fmpq_mat:
    """(0 I; I 0), the dilation of W = 0."""
    return permutation_matrix([(i + n) % (2 * n) for i in range(2 * n)])


def random_dilation(spec: SystemSpec, draw: random.Random) -> fmpq_mat:
    """A dilation (2n, 2n) of W = 0 or of a random contraction, its added rows and columns each
    turned by an orthogonal matrix."""
    V = swap_matrix(spec.n) if spec.lam == 0 else random_contraction(spec.n, draw).dilation()
    if draw.random() < 0.5:
        return V
    left, right = (block_diagonal(identity(spec.n), cayley(spec.n, draw)) for _ in range(2))
    return left * V * right


def dilated_candidate(spec: SystemSpec, draw: random.Random) -> UnitaryCandidate:
    """The unitary equivalent of 2n states in the network's own coordinates."""
    return candidate_from_view(
        spec, OrthogonalView(random_dilation(spec, draw), identity(spec.n)), draw
    )


def rotated_candidate(spec: SystemSpec, draw: random.Random) -> UnitaryCandidate:
    """Build the unitary equivalent of 2n states in orthogonally transformed coordinates."""
    return candidate_from_view(
        spec, OrthogonalView(random_dilation(spec, draw), cayley(spec.n, draw)), draw
    )


def rescaled_candidate(spec: SystemSpec, draw: random.Random) -> UnitaryCandidate:
    """W moves unit i to i + 1 with a weight below 1; scaled to weights 1 it needs n + 1 states."""
    n = spec.n
    V = permutation_matrix([(i - 1) % (n + 1) for i in range(n + 1)])
    weights = [fmpq(1, draw.randint(2, 4)) for _ in range(n - 1)]
    scale = [ONE]
    for weight in weights:
        scale.append(scale[-1] * weight)
    return candidate_from_view(spec, OrthogonalView(V, diagonal(scale)), draw)


def similar_candidate(spec: SystemSpec, draw: random.Random) -> UnitaryCandidate:
    """W is similar to the leading block of an orthogonal matrix with one row more (a balanced
    realisation): n + 1 states match it. Identity of the two where no contraction is drawn."""
    n = spec.n
    for _ in range(TRIES):
        T = fmpq_mat(n, n, [draw.choice(QUARTERS) for _ in range(n * n)]) + identity(n)
        orthogonal_view = OrthogonalView(cayley(n + 1, draw), T)
        if T.det() != 0 and is_contraction(orthogonal_view.W):
            return candidate_from_view(spec, orthogonal_view, draw)
    return rescaled_candidate(spec, draw)


def scalar_candidate(spec: SystemSpec, draw: random.Random) -> UnitaryCandidate:
    """W = ρI, ρ = p/q with q² − p² a square, and (ρI κI; κI −ρI) seen through an orthogonal T."""
    rho, one = short_rational(spec.lam), identity(spec.n)
    kappa = rational_root(1 - rho * rho)
    V = fmpq_mat(
        (join_columns(rho * one, kappa * one)).tolist()
        + join_columns(kappa * one, -rho * one).tolist()
    )
    return candidate_from_view(
        spec, OrthogonalView(V, one if draw.random() < 0.5 else cayley(spec.n, draw)), draw
    )


def rational_root(square: fmpq) -> fmpq:
    """√s, of the square of a rational."""
    root_value = root_above(square)
    if root_value * root_value != square:
        raise ArithmeticError(f"√({square}) is not rational")
    return root_value


def can_dilate(rho: fmpq) -> bool:
    """True if |ρ| < 1 and √(1 − ρ²) is rational."""
    gap = 1 - rho * rho
    return bool(gap > 0 and root_above(gap) ** 2 == gap)
