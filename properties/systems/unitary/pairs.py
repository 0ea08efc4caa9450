"""Sigmoid networks with unitary candidates: copies of their units, which match an orthogonal W or
one of the other activation, readouts that cancel, and unrelated ones."""

from __future__ import annotations

import random

from flint import fmpq, fmpq_mat

from rnnbounds.impl.numbers.rationals import cayley, diagonal, identity
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.exact import member_random
from rnnbounds.properties.systems.unitary.linear import (
    block_diagonal,
    column_matrix,
    matrix_entries,
    permutation_matrix,
    short_rational,
    small_rational,
)
from rnnbounds.properties.systems.unitary.sigmoid import SigmoidNetwork, SigmoidPair

ZERO, ONE = fmpq(0), fmpq(1)
WEIGHTS = (ONE, fmpq(1, 2), fmpq(2), ZERO)
OTHER = {"tanh": "sigmoid", "sigmoid": "tanh"}


def draw_network(spec: SystemSpec, draw: random.Random) -> tuple[SigmoidNetwork, fmpq_mat]:
    """h = ρ(λQ h + f x + b), y = c·h, all c_i f_i of one sign and one of them not 0, and Q, which
    is orthogonal; half of the unrelated ones have a norm far above the spectral radius λ."""
    n, lam = spec.n, short_rational(spec.lam)
    Q = cayley(n, draw) if n > 1 else identity(1) * draw.choice((1, 1, -1))
    W = Q * lam
    if n > 1 and spec.regime == "unrelated" and draw.random() < 0.5:
        W = diagonal([lam * draw.choice((1, -1)) for _ in range(n)])
        for j in range(n):
            for i in range(j):
                W[i, j] = lam * draw.randint(-4, 4)
    sign = draw.choice((1, -1))
    f = [draw.choice((1, -1)) * (draw.choice(WEIGHTS) if i else ONE) for i in range(n)]
    c = [(sign if v > 0 else -sign) * (draw.choice(WEIGHTS) if i else ONE) for i, v in enumerate(f)]
    b = [fmpq(draw.randint(-2, 2), 4) for _ in range(n)]
    start = [fmpq(draw.randint(0, 4), 4) * short_rational(spec.start) for _ in range(n)]
    return SigmoidNetwork(spec.activation, W, tuple(f), tuple(b), tuple(start), tuple(c)), Q


def cancelling_network(name: str, n: int, lam: fmpq, draw: random.Random) -> SigmoidNetwork:
    """n equal units whose readouts cancel: driven, with the output 0."""
    f, b = draw.choice((ONE, -ONE, fmpq(2))), fmpq(draw.randint(-2, 2), 4)
    e = [small_rational(draw) for _ in range(n - 1)]
    V, zeros = orthogonal_with_unit_row_sums(n, draw) * lam, (ZERO,) * n
    return SigmoidNetwork(name, V, (f,) * n, (b,) * n, zeros, (*e, -sum(e, ZERO)))


def orthogonal_with_unit_row_sums(m: int, draw: random.Random) -> fmpq_mat:
    """An orthogonal matrix with V1 = 1: a permutation and reflections that leave 1 alone."""
    V = permutation_matrix(draw.sample(range(m), m))
    for _ in range(draw.randint(0, 2) if m > 1 else 0):
        u = [fmpq(draw.randint(-2, 2)) for _ in range(m)]
        mean = sum(u, ZERO) / m
        v = column_matrix([a - mean for a in u])
        size = (v.transpose() * v)[0, 0]
        if size != 0:
            V = (identity(m) - v * v.transpose() * (2 / size)) * V
    return V


def unrelated_network(name: str, m: int, draw: random.Random) -> SigmoidNetwork:
    """All weights drawn without regard to any other network."""
    g, d, start, e = (tuple(small_rational(draw) for _ in range(m)) for _ in range(4))
    return SigmoidNetwork(name, cayley(m, draw), g, d, start, e, small_rational(draw))


def copied_candidate(
    network: SigmoidNetwork, Q: fmpq_mat, name: str, m: int, draw: random.Random
) -> SigmoidNetwork:
    """m units of an activation: the network's units, of a single one several copies with readouts
    that sum to its own, and others that are driven but not read. The same map for |λ| = 1 and the
    network's activation; else for λ = 1/4 (tanh) and λ = 4 (sigmoid).

    Written down as tanh units t; a sigmoid unit is s = (t + 1)/2 at twice the argument.
    """
    tanh_network, n = network.as_tanh, len(network.d)
    copies = list(range(n)) if n > 1 else [0] * draw.randint(1, m)
    added = m - len(copies)
    V = Q if n > 1 else orthogonal_with_unit_row_sums(len(copies), draw) * Q[0, 0]
    V = block_diagonal(V, cayley(added, draw)) if added else V
    e = [small_rational(draw) for _ in copies[n:]]
    e = [tanh_network.e[0] - sum(e, ZERO), *e] if n == 1 else list(tanh_network.e)
    e += [ZERO] * added
    g, d, start = (
        [*(part[i] for i in copies), *(small_rational(draw) for _ in range(added))]
        for part in (tanh_network.g, tanh_network.d, tanh_network.start)
    )
    if name == "tanh":
        return SigmoidNetwork(name, V, tuple(g), tuple(d), tuple(start), tuple(e), tanh_network.e0)
    sums = matrix_entries(V * column_matrix([ONE] * m))
    return SigmoidNetwork(
        name, V, tuple(2 * v for v in g),
        tuple(2 * v - r / 2 for v, r in zip(d, sums, strict=True)),
        tuple((v + 1) / 2 for v in start), tuple(2 * v for v in e), tanh_network.e0 - sum(e, ZERO),
    )  # fmt: skip


def sigmoid_pair_member(spec: SystemSpec, member: int) -> SigmoidPair:
    """One member of a batch of kind ``sigmoid``; an unrelated one where the regime has none."""
    draw, name, m = member_random(spec, member, "pair"), spec.activation, spec.states
    if spec.regime == "cancelling" and spec.n > 1:
        networks = (
            cancelling_network(name, size, factor, draw)
            for size, factor in ((spec.n, short_rational(spec.lam)), (m, ONE))
        )
        return SigmoidPair(*networks)
    network, Q = draw_network(spec, draw)
    if spec.regime not in ("lumped", "mixed") or m < spec.n:
        return SigmoidPair(network, unrelated_network(name, m, draw))
    copied = name if spec.regime == "lumped" else OTHER[name]
    return SigmoidPair(network, copied_candidate(network, Q, copied, m, draw))
