"""Networks with unitary candidates: equal where W is orthogonal, or what is left of an orthogonal
matrix when copies of units are merged; near or far elsewhere."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from flint import fmpq, fmpq_mat

from rnnbounds.impl.numbers.rationals import cayley, diagonal, identity
from rnnbounds.properties.systems.limits.exact_candidates import can_dilate, root, small
from rnnbounds.properties.systems.limits.sigmoid import BOUND, Network
from rnnbounds.properties.systems.limits.sigmoid_pairs import SigmoidPair
from rnnbounds.properties.systems.spec import Candidate as Written
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.exact import rationals, stream
from rnnbounds.properties.systems.unitary.linear import (
    beside,
    blocks,
    cayley_of,
    column,
    entries,
    permutation,
    rational,
)

ZERO, ONE = fmpq(0), fmpq(1)
# A unit has as many copies: numbers whose roots are rational.
COPIES = (1, 4)
WEIGHTS = (ONE, fmpq(1, 2), fmpq(2), ZERO)
BIASES = (8, 16, 40, 100)  # that hold a unit at its end
OTHER = {"tanh": "sigmoid", "sigmoid": "tanh"}


@dataclass(frozen=True, eq=False)
class Turn:
    """W = λ D⁻¹ Q D with Q (n, n) orthogonal and D = diag(√k_i): with k_i equal units in place of
    each unit i, an orthogonal matrix does what D⁻¹ Q D does."""

    factor: fmpq
    Q: fmpq_mat
    sizes: tuple[int, ...]

    @property
    def W(self) -> fmpq_mat:
        """λ D⁻¹ Q D."""
        D = diagonal([root(fmpq(k)) for k in self.sizes])
        found: fmpq_mat = self.factor * D.inv() * self.Q * D
        return found

    @property
    def copied(self) -> list[int]:
        """The unit that each copy is one of."""
        return [i for i, k in enumerate(self.sizes) for _ in range(k)]

    @property
    def V(self) -> fmpq_mat:
        """B Q Bᵀ + I − B Bᵀ, where the orthonormal columns of B are the units' copies, scaled."""
        B = fmpq_mat([
            [1 / root(fmpq(k)) if i == unit else ZERO for i, k in enumerate(self.sizes)]
            for unit in self.copied
        ])  # fmt: skip
        found: fmpq_mat = B * self.Q * B.transpose() + identity(B.nrows()) - B * B.transpose()
        return found


def scalar(spec: SystemSpec, draw: random.Random) -> tuple[Network, Turn]:
    """h = ρ(w h + f x + b), y = c h with |w| the rational of ``lam``, f and c not 0."""
    w = rational(spec.lam) * draw.choice((1, 1, -1))
    f, c = (draw.choice((ONE, -ONE, fmpq(1, 2), fmpq(2))) for _ in range(2))
    b, start = fmpq(draw.randint(-2, 2), 4), fmpq(draw.randint(0, 4), 4) * rational(spec.start)
    net = Network(spec.activation, fmpq_mat(1, 1, [w]), (f,), (b,), (start,), (c,))
    return net, Turn(w, identity(1), (1,))


def several(spec: SystemSpec, draw: random.Random) -> tuple[Network, Turn | None]:
    """h = ρ(W h + f x + b), y = c·h, all c_i f_i of one sign and one of them not 0, and how W comes
    of an orthogonal matrix, if it does; now and then one unit has four copies, where there are as
    many states."""
    n, lam, turned = spec.n, rational(spec.lam), None
    if spec.regime == "cancelling":
        return cancelling(spec.activation, n, lam, draw), None
    if spec.regime == "unrelated" and draw.random() < 0.5:
        W = sheared(n, lam, draw)
    else:
        sizes = [1] * n
        if spec.states >= n + 3 and draw.random() < 0.5:
            sizes[draw.randrange(n)] = max(COPIES)
        turned = Turn(lam, cayley(n, draw), tuple(sizes))
        W = turned.W
    sign = draw.choice((1, -1))
    f = [draw.choice((1, -1)) * (draw.choice(WEIGHTS) if i else ONE) for i in range(n)]
    c = [(sign if v > 0 else -sign) * (draw.choice(WEIGHTS) if i else ONE) for i, v in enumerate(f)]
    b = [fmpq(draw.randint(-2, 2), 4) for _ in range(n)]
    start = [fmpq(draw.randint(0, 4), 4) * rational(spec.start) for _ in range(n)]
    return Network(spec.activation, W, tuple(f), tuple(b), tuple(start), tuple(c)), turned


def sheared(n: int, lam: fmpq, draw: random.Random) -> fmpq_mat:
    """λ times a triangular matrix with ±1 on the diagonal: the norm may be far above the radius."""
    W = diagonal([lam * draw.choice((1, -1)) for _ in range(n)])
    for j in range(n):
        for i in range(j):
            W[i, j] = lam * draw.randint(-4, 4)
    return W


def cancelling(name: str, n: int, lam: fmpq, draw: random.Random) -> Network:
    """n equal units whose readouts cancel: driven, with the output 0."""
    f, b = draw.choice((ONE, -ONE, fmpq(2))), fmpq(draw.randint(-2, 2), 4)
    e = [small(draw) for _ in range(n - 1)]
    V, zeros = row_sums_one(n, draw) * lam, (ZERO,) * n
    return Network(name, V, (f,) * n, (b,) * n, zeros, (*e, -sum(e, ZERO)))


def row_sums_one(m: int, draw: random.Random) -> fmpq_mat:
    """An orthogonal matrix with V1 = 1: a permutation and reflections that leave 1 alone."""
    V = permutation(draw.sample(range(m), m))
    for _ in range(draw.randint(0, 2) if m > 1 else 0):
        u = [fmpq(draw.randint(-2, 2)) for _ in range(m)]
        mean = sum(u, ZERO) / m
        v = column([a - mean for a in u])
        size = (v.transpose() * v)[0, 0]
        if size != 0:
            V = (identity(m) - v * v.transpose() * (2 / size)) * V
    return V


def unrelated(network: Network, m: int, draw: random.Random) -> Network:
    """All weights drawn without regard to the network."""
    g, d, start, e = (tuple(small(draw) for _ in range(m)) for _ in range(4))
    return Network(network.activation, cayley(m, draw), g, d, start, e, small(draw))


def copies(turned: Turn, network: Network, name: str, m: int, draw: random.Random) -> Network:
    """m units of an activation: copies of the network's units, with readouts that sum to each
    unit's, and others that are driven but not read. The same map for |λ| = 1 and the network's
    activation; else for λ = 1/4 (tanh) and λ = 4 (sigmoid).

    Written down as tanh units t; a sigmoid unit is s = (t + 1)/2 at twice the argument.
    """
    if len(network.d) == 1:
        copied = [0] * draw.randint(1, m)
        V = row_sums_one(len(copied), draw) * fmpq(-1 if turned.factor < 0 else 1)
    else:
        copied, V = turned.copied, turned.V
    own, more = network.normal, m - len(copied)
    e = [small(draw) for _ in copied]
    for unit, c in enumerate(own.e):
        last = max(i for i, copy in enumerate(copied) if copy == unit)
        e[last] += c - sum((e[i] for i, copy in enumerate(copied) if copy == unit), ZERO)
    e += [ZERO] * more
    if more:
        V = blocks(V, cayley(more, draw))
    g, d, start = (
        [*(part[i] for i in copied), *(small(draw) for _ in range(more))]
        for part in (own.g, own.d, own.start)
    )
    if name != "sigmoid":
        return Network(name, V, tuple(g), tuple(d), tuple(start), tuple(e), own.e0)
    sums = entries(V * column([ONE] * m))
    return Network(
        name, V, tuple(2 * v for v in g),
        tuple(2 * v - r / 2 for v, r in zip(d, sums, strict=True)),
        tuple((v + 1) / 2 for v in start), tuple(2 * v for v in e), own.e0 - sum(e, ZERO),
    )  # fmt: skip


def held(turned: Turn, net: Network, m: int, draw: random.Random) -> Network:
    """The dilation of λQ, |λ| < 1, whose added units a bias holds at their end: of one ReLU unit
    the network's equivalent, for sigmoids one that comes as near as the bias is large."""
    n, lam, Q = len(net.d), turned.factor, turned.Q
    kappa, one = root(1 - lam * lam), identity(n)
    V = fmpq_mat(beside(lam * Q, kappa * Q).tolist() + beside(kappa * one, -lam * one).tolist())
    rest = -ONE if net.activation == "tanh" else ZERO
    offset = entries(kappa * Q * column([rest] * n))
    bias, more = -fmpq(draw.choice(BIASES if n == 1 else BIASES[1:])), m - 2 * n
    if net.activation == "relu":
        reach = abs(net.g[0]) * BOUND + abs(net.d[0])
        bias = -kappa * max(abs(net.start[0]), reach / (1 - abs(lam)))
    g, d, start = (tuple(small(draw) for _ in range(more)) for _ in range(3))
    return Network(
        net.activation,
        blocks(V, cayley(more, draw)) if more else V,
        (*net.g, *[ZERO] * n, *g),
        (*(v - o for v, o in zip(net.d, offset, strict=True)), *[bias] * n, *d),
        (*net.start, *[rest] * n, *start),
        (*net.e, *[ZERO] * (n + more)),
    )


def written(network: Network, found: Written) -> Network:
    """The candidate that a spec writes out."""
    e = rationals(found.E[0]) if found.E else (ZERO,) * len(found.d)
    e0 = rationals(found.e0)[0] if found.e0 else ZERO
    g, d, start = (rationals(part) for part in ([row[0] for row in found.G], found.d, found.s))
    return Network(network.activation, cayley_of(found.skew, found.signs), g, d, start, e, e0)


Builder = Callable[[Turn, Network, int, random.Random], Network]
BUILDERS: dict[str, Builder] = {
    "lumped": lambda turned, net, m, draw: copies(turned, net, net.activation, m, draw),
    "mixed": lambda turned, net, m, draw: copies(turned, net, OTHER[net.activation], m, draw),
    "held": held,
}


def can_build(regime: str, net: Network, turned: Turn, m: int) -> bool:
    """True if m states and rational factors suffice for the construction of a regime."""
    if net.activation == "relu" and (len(net.d) > 1 or regime == "mixed"):
        return False
    if regime == "held":
        return 2 * len(net.d) <= m and max(turned.sizes) == 1 and can_dilate(turned.factor)
    return len(turned.copied) <= m


def network_of(spec: SystemSpec, member: int) -> tuple[Network, Turn | None]:
    """The network of one member of a batch, and how W comes of an orthogonal matrix, if it does."""
    draw = stream(spec, member, "network")
    return scalar(spec, draw) if spec.n == 1 else several(spec, draw)


def sigmoid_pair(spec: SystemSpec, member: int) -> SigmoidPair:
    """One member of a batch of kind ``sigmoid``; an unrelated one where the regime has none."""
    net, turned = network_of(spec, member)
    if spec.found is not None:
        return SigmoidPair(net, written(net, spec.found))
    m, draw, regime = spec.states, stream(spec, member, "candidate"), spec.regime
    if regime == "cancelling" and spec.n > 1:
        return SigmoidPair(net, cancelling(spec.activation, m, ONE, draw))
    if regime not in BUILDERS or turned is None or not can_build(regime, net, turned, m):
        return SigmoidPair(net, unrelated(net, m, draw))
    return SigmoidPair(net, BUILDERS[regime](turned, net, m, draw))
