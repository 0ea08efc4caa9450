"""Networks of several units with unitary candidates: equal where W is orthogonal, or what is left
of an orthogonal matrix when copies of units are merged; far or near elsewhere."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from flint import fmpq, fmpq_mat

from rnnbounds.impl.numbers.rationals import cayley, diagonal, identity
from rnnbounds.properties.systems.limits.exact_candidates import can_dilate, root, small
from rnnbounds.properties.systems.limits.scalar_pairs import (
    copies,
    row_sums_one,
    scalar_network,
    scalar_pair,
    unrelated,
    written,
)
from rnnbounds.properties.systems.limits.sigmoid import Network
from rnnbounds.properties.systems.limits.sigmoid_pairs import SigmoidPair
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.exact import stream
from rnnbounds.properties.systems.unitary.linear import beside, blocks, column, entries, rational

ZERO, ONE = fmpq(0), fmpq(1)
# A unit has as many copies: numbers whose roots are rational.
COPIES = (1, 4)
WEIGHTS = (ONE, fmpq(1, 2), fmpq(2), ZERO)


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


def turn(spec: SystemSpec, draw: random.Random) -> Turn:
    """λ from ``lam``; now and then one unit has four copies, where there are as many states."""
    sizes = [1] * spec.n
    if spec.states >= spec.n + 3 and draw.random() < 0.5:
        sizes[draw.randrange(spec.n)] = max(COPIES)
    return Turn(rational(spec.lam), cayley(spec.n, draw), tuple(sizes))


def sheared(spec: SystemSpec, draw: random.Random) -> fmpq_mat:
    """λ times a triangular matrix with ±1 on the diagonal: the norm may be far above the radius."""
    W = diagonal([rational(spec.lam) * draw.choice((1, -1)) for _ in range(spec.n)])
    for j in range(spec.n):
        for i in range(j):
            W[i, j] = rational(spec.lam) * draw.randint(-4, 4)
    return W


def network(spec: SystemSpec, W: fmpq_mat, draw: random.Random) -> Network:
    """h = ρ(W h + f x + b), y = c·h, all c_i f_i of one sign and one of them not 0."""
    n, sign = spec.n, draw.choice((1, -1))
    f = [draw.choice((1, -1)) * (draw.choice(WEIGHTS) if i else ONE) for i in range(n)]
    c = [(sign if v > 0 else -sign) * (draw.choice(WEIGHTS) if i else ONE) for i, v in enumerate(f)]
    b = [fmpq(draw.randint(-2, 2), 4) for _ in range(n)]
    start = [fmpq(draw.randint(0, 4), 4) * rational(spec.start) for _ in range(n)]
    return Network(spec.activation, W, tuple(f), tuple(b), tuple(start), tuple(c))


def lumped(turned: Turn, net: Network, m: int, draw: random.Random) -> Network:
    """Copies of the network's units; the same map for λ = 1."""
    return copies(net, net.activation, turned.V, turned.copied, m, draw)


def mixed(turned: Turn, net: Network, m: int, draw: random.Random) -> Network:
    """The same of the other activation: the same map for λ = 1/4 (tanh) and λ = 4 (sigmoid)."""
    other = {"tanh": "sigmoid", "sigmoid": "tanh"}[net.activation]
    return copies(net, other, turned.V, turned.copied, m, draw)


def held(turned: Turn, net: Network, m: int, draw: random.Random) -> Network:
    """The dilation of λQ, λ < 1, whose added units a bias holds at their end, as near as it is
    large."""
    n, lam, Q = len(net.d), turned.factor, turned.Q
    kappa, one = root(1 - lam * lam), identity(n)
    V = beside(lam * Q, kappa * Q).tolist() + beside(kappa * one, -lam * one).tolist()
    rest = -ONE if net.activation == "tanh" else ZERO
    offset = entries(kappa * Q * column([rest] * n))
    bias, more = -fmpq(draw.choice((16, 40, 100))), m - 2 * n
    g, d, start = (tuple(small(draw) for _ in range(more)) for _ in range(3))
    return Network(
        net.activation,
        blocks(fmpq_mat(V), cayley(more, draw)) if more else fmpq_mat(V),
        (*net.g, *[ZERO] * n, *g),
        (*(v - o for v, o in zip(net.d, offset, strict=True)), *[bias] * n, *d),
        (*net.start, *[rest] * n, *start),
        (*net.e, *[ZERO] * (n + more)),
    )


def cancelling(name: str, n: int, lam: fmpq, draw: random.Random) -> Network:
    """n equal units whose readouts cancel: driven, with the output 0."""
    f, b = draw.choice((ONE, -ONE, fmpq(2))), fmpq(draw.randint(-2, 2), 4)
    e = [small(draw) for _ in range(n - 1)]
    V, zeros = row_sums_one(n, draw) * lam, (ZERO,) * n
    return Network(name, V, (f,) * n, (b,) * n, zeros, (*e, -sum(e, ZERO)))


Builder = Callable[[Turn, Network, int, random.Random], Network]
BUILDERS: dict[str, Builder] = {"lumped": lumped, "mixed": mixed, "held": held}


def vector_network(spec: SystemSpec, draw: random.Random) -> tuple[Network, Turn | None]:
    """The network of a spec, and how W comes of an orthogonal matrix, if it does."""
    if spec.regime == "cancelling":
        return cancelling(spec.activation, spec.n, rational(spec.lam), draw), None
    if spec.regime == "unrelated" and draw.random() < 0.5:
        return network(spec, sheared(spec, draw), draw), None
    turned = turn(spec, draw)
    return network(spec, turned.W, draw), turned


def can_build(regime: str, net: Network, turned: Turn, m: int) -> bool:
    """Whether a construction has the units and the rationals that it needs."""
    if net.activation == "relu":
        return False
    if regime == "held":
        return 2 * len(net.d) <= m and max(turned.sizes) == 1 and can_dilate(turned.factor)
    return len(turned.copied) <= m


def network_of(spec: SystemSpec, member: int) -> Network:
    """The network of one member of a batch, of any number of units."""
    draw = stream(spec, member, "network")
    return scalar_network(spec, draw) if spec.n == 1 else vector_network(spec, draw)[0]


def sigmoid_pair(spec: SystemSpec, member: int) -> SigmoidPair:
    """One member of a batch of kind ``sigmoid``; an unrelated one where the regime has none."""
    if spec.n == 1:
        return scalar_pair(spec, member)
    net, turned = vector_network(spec, stream(spec, member, "network"))
    if spec.found is not None:
        return SigmoidPair(net, written(net, spec.found))
    m, draw = spec.states, stream(spec, member, "candidate")
    if spec.regime == "cancelling":
        return SigmoidPair(net, cancelling(spec.activation, m, ONE, draw))
    build = BUILDERS.get(spec.regime)
    if build is None or turned is None or not can_build(spec.regime, net, turned, m):
        return SigmoidPair(net, unrelated(net, m, draw))
    return SigmoidPair(net, build(turned, net, m, draw))
