"""Networks with unitary candidates: equal where W is orthogonal, or what is left of an orthogonal
matrix when copies of units are merged; near or far elsewhere."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from flint import fmpq, fmpq_mat

from rnnbounds.impl.numbers.rationals import cayley, diagonal, identity
from rnnbounds.properties.systems.limits.exact_candidates import (
    can_dilate,
    rational_root,
    small_rational,
)
from rnnbounds.properties.systems.limits.sigmoid import BOUND, SigmoidNetwork
from rnnbounds.properties.systems.limits.sigmoid_pairs import SigmoidPair
from rnnbounds.properties.systems.spec import Candidate as Written
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.exact import member_random, to_rationals
from rnnbounds.properties.systems.unitary.linear import (
    block_diagonal,
    cayley_from_entries,
    column_matrix,
    join_columns,
    matrix_entries,
    permutation_matrix,
    short_rational,
)

ZERO, ONE = fmpq(0), fmpq(1)
# A unit has as many copies: numbers whose roots are rational.
COPIES = (1, 4)
WEIGHTS = (ONE, fmpq(1, 2), fmpq(2), ZERO)
BIASES = (8, 16, 40, 100)  # that hold a unit at its end
OTHER = {"tanh": "sigmoid", "sigmoid": "tanh"}


@dataclass(frozen=True, eq=False)
class MergedOrthogonal:
    """W = λ D⁻¹ Q D with Q (n, n) orthogonal and D = diag(√k_i): with k_i equal units in place of
    each unit i, an orthogonal matrix does what D⁻¹ Q D does."""

    factor: fmpq
    Q: fmpq_mat
    copy_counts: tuple[int, ...]

    @property
    def W(self) -> fmpq_mat:
        """λ D⁻¹ Q D."""
        D = diagonal([rational_root(fmpq(k)) for k in self.copy_counts])
        found: fmpq_mat = self.factor * D.inv() * self.Q * D
        return found

    @property
    def unit_of_copy(self) -> list[int]:
        """The unit that each copy is one of."""
        return [i for i, k in enumerate(self.copy_counts) for _ in range(k)]

    @property
    def V(self) -> fmpq_mat:
        """B Q Bᵀ + I − B Bᵀ, where the orthonormal columns of B are the units' copies, scaled."""
        B = fmpq_mat([
            [1 / rational_root(fmpq(k)) if i == unit else ZERO for i,
            k in enumerate(self.copy_counts)]
            for unit in self.unit_of_copy
        ])  # fmt: skip
        found: fmpq_mat = B * self.Q * B.transpose() + identity(B.nrows()) - B * B.transpose()
        return found


def scalar_network(
    spec: SystemSpec, draw: random.Random
) -> tuple[SigmoidNetwork, MergedOrthogonal]:
    """h = ρ(w h + f x + b), y = c h with |w| the rational of ``lam``, f and c not 0."""
    w = short_rational(spec.lam) * draw.choice((1, 1, -1))
    f, c = (draw.choice((ONE, -ONE, fmpq(1, 2), fmpq(2))) for _ in range(2))
    b, start = (
        fmpq(draw.randint(-2, 2), 4),
        fmpq(draw.randint(0, 4), 4) * short_rational(spec.start),
    )
    net = SigmoidNetwork(spec.activation, fmpq_mat(1, 1, [w]), (f,), (b,), (start,), (c,))
    return net, MergedOrthogonal(w, identity(1), (1,))


def vector_network(
    spec: SystemSpec, draw: random.Random
) -> tuple[SigmoidNetwork, MergedOrthogonal | None]:
    """h = ρ(W h + f x + b), y = c·h, all c_i f_i of one sign and one of them not 0, and how W comes
    of an orthogonal matrix, if it does; now and then one unit has four copies, where there are as
    many states."""
    n, lam, merged = spec.n, short_rational(spec.lam), None
    if spec.regime == "cancelling":
        return cancelling_network(spec.activation, n, lam, draw), None
    if spec.regime == "unrelated" and draw.random() < 0.5:
        W = sheared_matrix(n, lam, draw)
    else:
        sizes = [1] * n
        if spec.states >= n + 3 and draw.random() < 0.5:
            sizes[draw.randrange(n)] = max(COPIES)
        merged = MergedOrthogonal(lam, cayley(n, draw), tuple(sizes))
        W = merged.W
    sign = draw.choice((1, -1))
    f = [draw.choice((1, -1)) * (draw.choice(WEIGHTS) if i else ONE) for i in range(n)]
    c = [(sign if v > 0 else -sign) * (draw.choice(WEIGHTS) if i else ONE) for i, v in enumerate(f)]
    b = [fmpq(draw.randint(-2, 2), 4) for _ in range(n)]
    start = [fmpq(draw.randint(0, 4), 4) * short_rational(spec.start) for _ in range(n)]
    return SigmoidNetwork(spec.activation, W, tuple(f), tuple(b), tuple(start), tuple(c)), merged


def sheared_matrix(n: int, lam: fmpq, draw: random.Random) -> fmpq_mat:
    """λ times a triangular matrix with ±1 on the diagonal: the norm may be far above the radius."""
    W = diagonal([lam * draw.choice((1, -1)) for _ in range(n)])
    for j in range(n):
        for i in range(j):
            W[i, j] = lam * draw.randint(-4, 4)
    return W


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


def unrelated_network(network: SigmoidNetwork, m: int, draw: random.Random) -> SigmoidNetwork:
    """All weights drawn without regard to the network."""
    g, d, start, e = (tuple(small_rational(draw) for _ in range(m)) for _ in range(4))
    return SigmoidNetwork(network.activation, cayley(m, draw), g, d, start, e, small_rational(draw))


def copied_candidate(
    merged: MergedOrthogonal, network: SigmoidNetwork, name: str, m: int, draw: random.Random
) -> SigmoidNetwork:
    """m units of an activation: copies of the network's units, with readouts that sum to each
    unit's, and others that are driven but not read. The same map for |λ| = 1 and the network's
    activation; else for λ = 1/4 (tanh) and λ = 4 (sigmoid).

    Written down as tanh units t; a sigmoid unit is s = (t + 1)/2 at twice the argument.
    """
    if len(network.d) == 1:
        unit_of_copy = [0] * draw.randint(1, m)
        V = orthogonal_with_unit_row_sums(len(unit_of_copy), draw) * fmpq(
            -1 if merged.factor < 0 else 1
        )
    else:
        unit_of_copy, V = merged.unit_of_copy, merged.V
    tanh_network, added = network.as_tanh, m - len(unit_of_copy)
    e = [small_rational(draw) for _ in unit_of_copy]
    for unit, c in enumerate(tanh_network.e):
        last = max(i for i, copy in enumerate(unit_of_copy) if copy == unit)
        e[last] += c - sum((e[i] for i, copy in enumerate(unit_of_copy) if copy == unit), ZERO)
    e += [ZERO] * added
    if added:
        V = block_diagonal(V, cayley(added, draw))
    g, d, start = (
        [*(part[i] for i in unit_of_copy), *(small_rational(draw) for _ in range(added))]
        for part in (tanh_network.g, tanh_network.d, tanh_network.start)
    )
    if name != "sigmoid":
        return SigmoidNetwork(name, V, tuple(g), tuple(d), tuple(start), tuple(e), tanh_network.e0)
    sums = matrix_entries(V * column_matrix([ONE] * m))
    return SigmoidNetwork(
        name, V, tuple(2 * v for v in g),
        tuple(2 * v - r / 2 for v, r in zip(d, sums, strict=True)),
        tuple((v + 1) / 2 for v in start), tuple(2 * v for v in e), tanh_network.e0 - sum(e, ZERO),
    )  # fmt: skip


def held_candidate(
    merged: MergedOrthogonal, net: SigmoidNetwork, m: int, draw: random.Random
) -> SigmoidNetwork:
    """The dilation of λQ, |λ| < 1, whose added units a bias holds at their end: of one ReLU unit
    the network's equivalent, for sigmoids one that comes as near as the bias is large."""
    n, lam, Q = len(net.d), merged.factor, merged.Q
    kappa, one = rational_root(1 - lam * lam), identity(n)
    V = fmpq_mat(
        join_columns(lam * Q, kappa * Q).tolist() + join_columns(kappa * one, -lam * one).tolist()
    )
    held_state = -ONE if net.activation == "tanh" else ZERO
    offset = matrix_entries(kappa * Q * column_matrix([held_state] * n))
    bias, added = -fmpq(draw.choice(BIASES if n == 1 else BIASES[1:])), m - 2 * n
    if net.activation == "relu":
        reach = abs(net.g[0]) * BOUND + abs(net.d[0])
        bias = -kappa * max(abs(net.start[0]), reach / (1 - abs(lam)))
    g, d, start = (tuple(small_rational(draw) for _ in range(added)) for _ in range(3))
    return SigmoidNetwork(
        net.activation,
        block_diagonal(V, cayley(added, draw)) if added else V,
        (*net.g, *[ZERO] * n, *g),
        (*(v - o for v, o in zip(net.d, offset, strict=True)), *[bias] * n, *d),
        (*net.start, *[held_state] * n, *start),
        (*net.e, *[ZERO] * (n + added)),
    )


def explicit_network(network: SigmoidNetwork, found: Written) -> SigmoidNetwork:
    """The candidate that a spec writes out."""
    e = to_rationals(found.E[0]) if found.E else (ZERO,) * len(found.d)
    e0 = to_rationals(found.e0)[0] if found.e0 else ZERO
    g, d, start = (to_rationals(part) for part in ([row[0] for row in found.G], found.d, found.s))
    return SigmoidNetwork(
        network.activation, cayley_from_entries(found.skew, found.signs), g, d, start, e, e0
    )


Builder = Callable[[MergedOrthogonal, SigmoidNetwork, int, random.Random], SigmoidNetwork]
BUILDERS: dict[str, Builder] = {
    "lumped": lambda turned, net, m, draw: copied_candidate(turned, net, net.activation, m, draw),
    "mixed": lambda turned, net, m, draw: copied_candidate(
        turned, net, OTHER[net.activation], m, draw
    ),
    "held": held_candidate,
}


def can_build(regime: str, net: SigmoidNetwork, merged: MergedOrthogonal, m: int) -> bool:
    """True if m states and rational factors suffice for the construction of a regime."""
    if net.activation == "relu" and (len(net.d) > 1 or regime == "mixed"):
        return False
    if regime == "held":
        return 2 * len(net.d) <= m and max(merged.copy_counts) == 1 and can_dilate(merged.factor)
    return len(merged.unit_of_copy) <= m


def draw_network(spec: SystemSpec, member: int) -> tuple[SigmoidNetwork, MergedOrthogonal | None]:
    """The network of one member of a batch, and how W comes of an orthogonal matrix, if it does."""
    draw = member_random(spec, member, "network")
    return scalar_network(spec, draw) if spec.n == 1 else vector_network(spec, draw)


def sigmoid_pair_member(spec: SystemSpec, member: int) -> SigmoidPair:
    """One member of a batch of kind ``sigmoid``; an unrelated one where the regime has none."""
    net, merged = draw_network(spec, member)
    if spec.found is not None:
        return SigmoidPair(net, explicit_network(net, spec.found))
    m, draw, regime = spec.states, member_random(spec, member, "candidate"), spec.regime
    if regime == "cancelling" and spec.n > 1:
        return SigmoidPair(net, cancelling_network(spec.activation, m, ONE, draw))
    if regime not in BUILDERS or merged is None or not can_build(regime, net, merged, m):
        return SigmoidPair(net, unrelated_network(net, m, draw))
    return SigmoidPair(net, BUILDERS[regime](merged, net, m, draw))
