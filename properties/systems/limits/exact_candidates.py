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
from rnnbounds.properties.systems.limits.candidates import Candidate, settled
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.exact import Vector, times
from rnnbounds.properties.systems.unitary.linear import (
    beside,
    blocks,
    column,
    contractive,
    corner,
    entries,
    permutation,
    rational,
)

ZERO, ONE = fmpq(0), fmpq(1)
SMALL = [[fmpq(p, q) for q in (1, 2, 3)] for p in range(-3, 4)]
QUARTERS = [fmpq(p, 4) for p in range(-4, 5)]
# Draws of V and T until T A T⁻¹ is a contraction.
TRIES = 400


@dataclass(frozen=True, eq=False)
class Seen:
    """V (m, m) orthogonal and T (n, n): the candidate's view of W = T A T⁻¹."""

    V: fmpq_mat
    T: fmpq_mat

    @cached_property
    def back(self) -> fmpq_mat:
        """T⁻¹."""
        return self.T.inv()

    @cached_property
    def W(self) -> fmpq_mat:
        """T A T⁻¹ with A the leading block of V."""
        n = range(self.T.nrows())
        found: fmpq_mat = self.T * corner(self.V, n, n) * self.back
        return found


def small(draw: random.Random) -> fmpq:
    """A rational of small numerator and denominator, seldom 0."""
    return draw.choice(draw.choice(SMALL))


def table(draw: random.Random, rows: int, columns: int) -> fmpq_mat:
    """A matrix of small rationals."""
    return fmpq_mat(rows, columns, [small(draw) for _ in range(rows * columns)])


def network(spec: SystemSpec, W: fmpq_mat, draw: random.Random) -> tuple[RationalRNN, list[Vector]]:
    """h = ReLU(W h + x + β1) and inputs that keep it at h = β1, where all its units are active."""
    beta = fmpq(draw.randint(1, 4), 2)
    level = [beta] * spec.n
    initial = [fmpq(draw.randint(0, 4), 4) * rational(spec.start) for _ in range(spec.n)]
    first, later = (tuple(-v for v in entries(W * column(h))) for h in (initial, level))
    rnn = RationalRNN(W, identity(spec.n), tuple(level), tuple(initial))
    return rnn, [first, *[later] * (spec.T - 1)]


def finished(
    rnn: RationalRNN, urnn: RationalRNN, E: fmpq_mat, e: Sequence[fmpq], centre: Sequence[Vector]
) -> Candidate:
    """The candidate around the centre, moved off every kink."""
    return Candidate(rnn, urnn, E, tuple(e), settled(rnn, urnn, centre))


def view(spec: SystemSpec, seen: Seen, draw: random.Random) -> Candidate:
    """The candidate that sees the network through T, with as many idle states as are left."""
    n, used = spec.n, seen.V.nrows()
    rnn, centre = network(spec, seen.W, draw)
    runs = [rnn.initial, *rnn.states(centre)]
    lowest = min(v for h in runs for v in entries(seen.back * column(h)))
    # Without need of it the first units are the network's own.
    q = column([max(ZERO, ONE - lowest) if identity(n) != seen.T else ZERO] * n)
    inside = [seen.back * column(h) + q for h in runs]
    top = range(n)
    A, low = corner(seen.V, top, top), corner(seen.V, range(n, used), top)
    d = [*entries(seen.back * column(rnn.b) + q - A * q)]
    d += [-ONE - max(entries(low * s)[i] for s in inside) for i in range(used - n)]
    G = seen.back.tolist() + [[ZERO] * n] * (used - n)
    E = beside(seen.T, fmpq_mat(n, used - n)) if used > n else seen.T
    urnn = RationalRNN(seen.V, fmpq_mat(G), tuple(d), (*entries(inside[0]), *[ZERO] * (used - n)))
    urnn, E = extended(urnn, E, spec.states - used, draw)
    return finished(rnn, urnn, E, [-v for v in entries(seen.T * q)], centre)


def extended(
    urnn: RationalRNN, E: fmpq_mat, more: int, draw: random.Random
) -> tuple[RationalRNN, fmpq_mat]:
    """Add states that no output reads to a unitary network (urnn, E), then perhaps permute all."""
    if more > 0:
        V, G = cayley(more, draw), table(draw, more, urnn.U.ncols())
        # Half of them are active near any centre, half are not.
        level = fmpq(draw.choice((-16, 16)))
        d = entries(column([level] * more) - V * column([max(level, ZERO)] * more))
        urnn = RationalRNN(
            blocks(urnn.W, V), fmpq_mat(urnn.U.tolist() + G.tolist()), (*urnn.b, *d),
            (*urnn.initial, *[max(level, ZERO)] * more),
        )  # fmt: skip
        E = beside(E, fmpq_mat(E.nrows(), more))
    order = draw.sample(range(len(urnn.b)), len(urnn.b)) if draw.random() < 0.5 else None
    if order is None:
        return urnn, E
    turn = permutation(order)
    W, U, back = turn * urnn.W * turn.transpose(), turn * urnn.U, E * turn.transpose()
    return RationalRNN(W, U, times(turn, urnn.b), times(turn, urnn.initial)), back


def swap(n: int) -> fmpq_mat:
    """(0 I; I 0), the dilation of W = 0."""
    return permutation([(i + n) % (2 * n) for i in range(2 * n)])


def dilation(spec: SystemSpec, draw: random.Random) -> fmpq_mat:
    """A dilation (2n, 2n) of W = 0 or of a random contraction, its added rows and columns each
    turned by an orthogonal matrix."""
    V = swap(spec.n) if spec.lam == 0 else random_contraction(spec.n, draw).dilation()
    if draw.random() < 0.5:
        return V
    left, right = (blocks(identity(spec.n), cayley(spec.n, draw)) for _ in range(2))
    return left * V * right


def dilated(spec: SystemSpec, draw: random.Random) -> Candidate:
    """The unitary equivalent of 2n states in the network's own coordinates."""
    return view(spec, Seen(dilation(spec, draw), identity(spec.n)), draw)


def rotated(spec: SystemSpec, draw: random.Random) -> Candidate:
    """Build the unitary equivalent of 2n states in orthogonally transformed coordinates."""
    return view(spec, Seen(dilation(spec, draw), cayley(spec.n, draw)), draw)


def rescaled(spec: SystemSpec, draw: random.Random) -> Candidate:
    """W moves unit i to i + 1 with a weight below 1; scaled to weights 1 it needs n + 1 states."""
    n = spec.n
    V = permutation([(i - 1) % (n + 1) for i in range(n + 1)])
    weights = [fmpq(1, draw.randint(2, 4)) for _ in range(n - 1)]
    scale = [ONE]
    for weight in weights:
        scale.append(scale[-1] * weight)
    return view(spec, Seen(V, diagonal(scale)), draw)


def similar(spec: SystemSpec, draw: random.Random) -> Candidate:
    """W is similar to the leading block of an orthogonal matrix with one row more (a balanced
    realisation): n + 1 states match it. Identity of the two where no contraction is drawn."""
    n = spec.n
    for _ in range(TRIES):
        T = fmpq_mat(n, n, [draw.choice(QUARTERS) for _ in range(n * n)]) + identity(n)
        seen = Seen(cayley(n + 1, draw), T)
        if T.det() != 0 and contractive(seen.W):
            return view(spec, seen, draw)
    return rescaled(spec, draw)


def scalar(spec: SystemSpec, draw: random.Random) -> Candidate:
    """W = ρI, ρ = p/q with q² − p² a square, and (ρI κI; κI −ρI) seen through an orthogonal T."""
    rho, one = rational(spec.lam), identity(spec.n)
    kappa = root(1 - rho * rho)
    V = fmpq_mat(
        (beside(rho * one, kappa * one)).tolist() + beside(kappa * one, -rho * one).tolist()
    )
    return view(spec, Seen(V, one if draw.random() < 0.5 else cayley(spec.n, draw)), draw)


def root(square: fmpq) -> fmpq:
    """√s, of the square of a rational."""
    found = root_above(square)
    if found * found != square:
        raise ArithmeticError(f"√({square}) is not rational")
    return found


def can_dilate(rho: fmpq) -> bool:
    """True if |ρ| < 1 and √(1 − ρ²) is rational."""
    gap = 1 - rho * rho
    return bool(gap > 0 and root_above(gap) ** 2 == gap)
