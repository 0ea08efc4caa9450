"""Scalar networks with unitary candidates: equal at |w| = 1, near elsewhere, mostly far."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from flint import fmpq, fmpq_mat

from rnnbounds.impl.numbers.rationals import cayley, identity
from rnnbounds.properties.systems.limits.exact_candidates import can_dilate, root, small
from rnnbounds.properties.systems.limits.sigmoid import BOUND, Network
from rnnbounds.properties.systems.limits.sigmoid_pairs import SigmoidPair
from rnnbounds.properties.systems.spec import Candidate as Written
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.exact import rational as exactly
from rnnbounds.properties.systems.unitary.exact import stream
from rnnbounds.properties.systems.unitary.linear import blocks, cayley_of, column, entries, rational

ZERO, ONE = fmpq(0), fmpq(1)
Builder = Callable[[Network, int, random.Random], Network]


def scalar_network(spec: SystemSpec, draw: random.Random) -> Network:
    """h = ρ(w h + f x + b), y = c h with |w| the rational of ``lam``, f and c not 0."""
    w = rational(spec.lam) * draw.choice((1, 1, -1))
    f, c = (draw.choice((ONE, -ONE, fmpq(1, 2), fmpq(2))) for _ in range(2))
    b, start = fmpq(draw.randint(-2, 2), 4), fmpq(draw.randint(0, 4), 4) * rational(spec.start)
    one = fmpq_mat(1, 1, [w])
    return Network(spec.activation, one, (f,), (b,), (start,), (c,))


def unrelated(network: Network, m: int, draw: random.Random) -> Network:
    """All weights drawn without regard to the network."""
    g, d, start, e = (tuple(small(draw) for _ in range(m)) for _ in range(4))
    return Network(network.activation, cayley(m, draw), g, d, start, e, small(draw))


def row_sums_one(m: int, draw: random.Random) -> fmpq_mat:
    """An orthogonal matrix with V1 = 1: a permutation and reflections that leave 1 alone."""
    order = draw.sample(range(m), m)
    V = fmpq_mat(m, m, [fmpq(j == order[i]) for i in range(m) for j in range(m)])
    for _ in range(draw.randint(0, 2) if m > 1 else 0):
        u = [fmpq(draw.randint(-2, 2)) for _ in range(m)]
        mean = sum(u, ZERO) / m
        v = column([a - mean for a in u])
        size = (v.transpose() * v)[0, 0]
        if size != 0:
            V = (identity(m) - v * v.transpose() * (2 / size)) * V
    return V


def lumped(network: Network, m: int, draw: random.Random) -> Network:
    """Some of the m units are the network's own if |w| = 1, with readouts that sum to c."""
    return lumps_of(network, network.activation, m, draw)


def mixed(network: Network, m: int, draw: random.Random) -> Network:
    """The same with units of the other activation, which are the network's where the weights of
    the normal forms agree: |w| = 1/4 for tanh, |w| = 4 for sigmoid."""
    other = {"tanh": "sigmoid", "sigmoid": "tanh"}[network.activation]
    return lumps_of(network, other, m, draw)


def lumps_of(network: Network, activation: str, m: int, draw: random.Random) -> Network:
    """m units of an activation: up to m lumped ones, V1 = ±1, the others driven but not read."""
    used = draw.randint(1, m)
    V = row_sums_one(used, draw) * fmpq(-1 if network.V[0, 0] < 0 else 1)
    return copies(network, activation, V, [0] * used, m, draw)


def copies(
    network: Network,
    activation: str,
    V: fmpq_mat,
    copied: Sequence[int],
    m: int,
    draw: random.Random,
) -> Network:
    """m units of an activation: copies of the network's units, recurrent by V, with readouts that
    sum to each unit's, and others that are driven but not read.

    Written down as tanh units t; a sigmoid unit is s = (t + 1)/2 at twice the argument.
    """
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
    if activation != "sigmoid":
        return Network(activation, V, tuple(g), tuple(d), tuple(start), tuple(e), own.e0)
    sums = entries(V * column([ONE] * m))
    return Network(
        activation, V, tuple(2 * v for v in g),
        tuple(2 * v - r / 2 for v, r in zip(d, sums, strict=True)),
        tuple((v + 1) / 2 for v in start), tuple(2 * v for v in e), own.e0 - sum(e, ZERO),
    )  # fmt: skip


def held(network: Network, m: int, draw: random.Random) -> Network:
    """The dilation of w for |w| < 1 and a second unit that a bias holds at its end: for ReLU the
    network's equivalent, for sigmoids one that comes as near as the bias is large."""
    w = network.V[0, 0]
    kappa = root(1 - w * w)
    V = fmpq_mat([[w, kappa], [kappa, -w]])
    rest = -ONE if network.activation == "tanh" else ZERO
    bias = -fmpq(draw.choice((8, 16, 40, 100)))
    if network.activation == "relu":
        reach = abs(network.g[0]) * BOUND + abs(network.d[0])
        bias = -kappa * max(abs(network.start[0]), reach / (1 - abs(w)))
    more = m - 2
    g, d, start = (tuple(small(draw) for _ in range(more)) for _ in range(3))
    return Network(
        network.activation,
        blocks(V, cayley(more, draw)) if more else V,
        (network.g[0], ZERO, *g),
        (network.d[0] - kappa * rest, bias, *d),
        (network.start[0], rest, *start),
        (network.e[0], ZERO, *[ZERO] * more),
    )


def written(network: Network, found: Written) -> Network:
    """The candidate that a spec writes out."""

    def exact(values: Sequence[float]) -> tuple[fmpq, ...]:
        return tuple(exactly(v) for v in values)

    V = cayley_of(exact(found.skew), [int(v) for v in found.signs])
    e = exact(found.E[0]) if found.E else (ZERO,) * len(found.d)
    e0 = exact(found.e0)[0] if found.e0 else ZERO
    g = exact([row[0] for row in found.G])
    return Network(network.activation, V, g, exact(found.d), exact(found.s), e, e0)


BUILDERS: dict[str, Builder] = {
    "unrelated": unrelated,
    "lumped": lumped,
    "mixed": mixed,
    "held": held,
}


def scalar_pair(spec: SystemSpec, member: int) -> SigmoidPair:
    """One member of a batch of kind ``sigmoid``; an unrelated one where the regime has none."""
    network = scalar_network(spec, stream(spec, member, "network"))
    if spec.found is not None:
        return SigmoidPair(network, written(network, spec.found))
    draw = stream(spec, member, "candidate")
    fits = spec.regime != "held" or (spec.states > 1 and can_dilate(network.V[0, 0]))
    fits = fits and (spec.regime != "mixed" or spec.activation != "relu")
    fits = fits and spec.regime in BUILDERS
    build = BUILDERS[spec.regime if fits else "unrelated"]
    return SigmoidPair(network, build(network, spec.states, draw))
