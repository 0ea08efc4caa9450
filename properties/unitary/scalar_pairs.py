"""Scalar networks with unitary candidates: equal at |w| = 1, near elsewhere, mostly far."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from flint import arb, ctx, fmpq, fmpq_mat

from impl.rational import cayley, identity
from properties.spec import Candidate as Written
from properties.spec import SystemSpec
from properties.unitary.exact import Table, fraction, stream
from properties.unitary.linear import blocks, cayley_of, column, entries, rational
from properties.unitary.lumping import same_map
from properties.unitary.matches import can_dilate, root, small
from properties.unitary.sigmoid import BOUND, Network, probes

ZERO, ONE = fmpq(0), fmpq(1)
# Balls at these precisions, until the gap is told from 0.
PRECISIONS = (64, 128, 256, 512, 1024)
Builder = Callable[[Network, int, random.Random], Network]


@dataclass(frozen=True, eq=False)
class ScalarPair:
    """A scalar network and a unitary one of ``states`` units."""

    network: Network
    candidate: Network

    @cached_property
    def same_map(self) -> bool:
        """Whether lumping shows that both have the same outputs, for all inputs at all times."""
        one, other = self.network.normal, self.candidate.normal
        return {one.activation, other.activation} == {"tanh"} and same_map(one, other)

    @cached_property
    def exact_gap(self) -> fmpq | None:
        """max |y − ŷ| over the probes where that is rational: 0 for one map, or both ReLU."""
        if self.same_map:
            return ZERO
        outputs, others = self.network.exact_outputs(), self.candidate.exact_outputs()
        if outputs is None or others is None:
            return None
        largest = ZERO
        for y, z in zip(outputs, others, strict=True):
            largest = max(largest, *(abs(p - q) for p, q in zip(y, z, strict=True)))
        return largest

    def ball_gap(self) -> arb:
        """max |y − ŷ| over the probes in balls of the current precision."""
        exact = self.exact_gap
        if exact is not None:
            return arb(exact)
        low, high = arb(0), arb(0)
        for y, z in zip(self.network.outputs(), self.candidate.outputs(), strict=True):
            for p, q in zip(y, z, strict=True):
                low, high = low.max((p - q).abs_lower()), high.max((p - q).abs_upper())
        return low.union(high)

    @cached_property
    def gap(self) -> arb:
        """The same at the first precision that tells it from 0, if one does."""
        found = arb(0)
        for precision in PRECISIONS:
            with ctx.workprec(precision):
                found = self.ball_gap()
            if found > 0 or found.is_exact():
                break
        return found

    def tables(self) -> dict[str, Table]:
        """Both networks; x holds the first probe."""
        one, other = self.network, self.candidate
        return {
            "W": one.V.tolist(), "U": [[v] for v in one.g], "b": list(one.d),
            "C": [list(one.e)], "x": [[[v] for v in probes()[0]]], "h": [list(one.start)],
            "h_other": [list(one.start)], "W2": other.V.tolist(), "U2": [[v] for v in other.g],
            "b2": list(other.d), "C2": [list(other.e)], "e0": [other.e0],
            "start2": list(other.start), "probes": [list(x) for x in probes()],
        }  # fmt: skip

    def constants(self) -> dict[str, float]:
        """None: no form speaks of any."""
        return {}

    def parameters(self) -> dict[str, float]:
        """m, |w|, and whether the activations are the same and sigmoids."""
        one, other = self.network, self.candidate
        sigmoidal = {one.activation, other.activation} <= {"tanh", "sigmoid"}
        return {
            "states": float(len(other.d)),
            "w_abs": abs(float(fraction(one.V[0, 0]))),
            "same_activation": float(one.activation == other.activation),
            "sigmoidal": float(sigmoidal),
        }


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
    """m units of an activation: up to m lumped ones with V1 = ±1, the others driven but not read.

    Written down as tanh units t; a sigmoid unit is s = (t + 1)/2 at twice the argument.
    """
    own, used = network.normal, draw.randint(1, m)
    V = row_sums_one(used, draw) * fmpq(-1 if network.V[0, 0] < 0 else 1)
    more = m - used
    e = [small(draw) for _ in range(used - 1)]
    e += [own.e[0] - sum(e, ZERO), *[ZERO] * more]
    if more:
        V = blocks(V, cayley(more, draw))
    g, d, start = (
        [*part * used, *(small(draw) for _ in range(more))] for part in (own.g, own.d, own.start)
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
        return tuple(fmpq(*v.as_integer_ratio()) for v in values)

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


def scalar_pair(spec: SystemSpec, member: int) -> ScalarPair:
    """One member of a batch of kind ``sigmoid``; an unrelated one where the regime has none."""
    network = scalar_network(spec, stream(spec, member, "network"))
    if spec.found is not None:
        return ScalarPair(network, written(network, spec.found))
    draw = stream(spec, member, "candidate")
    fits = spec.regime != "held" or (spec.states > 1 and can_dilate(network.V[0, 0]))
    fits = fits and (spec.regime != "mixed" or spec.activation != "relu")
    build = BUILDERS[spec.regime if fits else "unrelated"]
    return ScalarPair(network, build(network, spec.states, draw))
