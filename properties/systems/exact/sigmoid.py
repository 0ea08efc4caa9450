"""A network with sigmoids, and a unitary network of the same inputs that may stand in.

h_k = ρ(W h_{k−1} + f x_k + b), y = cᵀh, against s_k = ρ̂(V s_{k−1} + g x_k + d), ŷ = eᵀs + e₀, with
rational weights. In t = 2s − 1 the sigmoid is a tanh too: t_k = tanh((V/4) t_{k−1} + …). Units of
tanh networks that are equal for all inputs are lumped, which proves that two networks are one map.
Drawn are copies of a network's units, which match an orthogonal W or one of the other activation,
readouts that cancel, and unrelated candidates. Source: Emami et al., Theorem 4.1.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial, reduce

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat
from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.impl.numbers.rationals import cayley, diagonal, identity
from rnnbounds.properties.systems.exact.members import (
    EXACT_LIMITS,
    ExactMember,
    Table,
    Vector,
    check_exact,
    member_random,
    nearest_float,
    recurrence_tables,
    upper_float,
)
from rnnbounds.properties.systems.exact.networks import exact_networks
from rnnbounds.properties.systems.exact.rational_draws import (
    ONE,
    ZERO,
    block_diagonal,
    column_matrix,
    matrix_entries,
    orthogonal_with_unit_row_sums,
    short_rational,
    small_rational,
)
from rnnbounds.properties.systems.kind import (
    DrawRequest,
    Kind,
    draw_choices,
    pick,
    seeds,
    spec_grid,
    vanilla_cell,
)
from rnnbounds.properties.systems.spec import SystemSpec, spec_of

STEPS = 12
AMPLITUDES = (fmpq(1), fmpq(4), fmpq(1, 4))
# Balls at these precisions, until the gap is told from 0.
PRECISIONS = (64, 128, 256, 512, 1024)
# The spectral radius is bounded by the powers W^(2^p) up to this p, in balls.
SQUARINGS, PRECISION = 9, 256
PARTS = (ONE, fmpq(1, 2), fmpq(2), ZERO)
OTHER = {"tanh": "sigmoid", "sigmoid": "tanh"}


@cache
def probe_inputs() -> tuple[Vector, ...]:
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
class SigmoidNetwork:
    """s_k = ρ(V s_{k−1} + g x_k + d) from ``start``, read by eᵀs + e₀; ρ is the sigmoid or tanh."""

    activation: str
    V: fmpq_mat
    g: Vector
    d: Vector
    start: Vector
    e: Vector
    e0: fmpq = ZERO

    @cached_property
    def as_tanh(self) -> SigmoidNetwork:
        """Equivalent tanh network, by σ(z) = (1 + tanh(z/2))/2."""
        if self.activation == "tanh":
            return self
        shift = matrix_entries(self.V * column_matrix([fmpq(1)] * len(self.d)))
        return SigmoidNetwork(
            "tanh",
            self.V / 4,
            tuple(v / 2 for v in self.g),
            tuple((v + r / 2) / 2 for v, r in zip(self.d, shift, strict=True)),
            tuple(2 * v - 1 for v in self.start),
            tuple(v / 2 for v in self.e),
            self.e0 + sum(self.e, ZERO) / 2,
        )

    def outputs(self) -> Iterator[arb_mat]:
        """y of a tanh network at every step, (1, P) for the P probes, in balls of the current
        precision."""
        inputs, m = probe_inputs(), len(self.d)
        P = len(inputs)
        ones = fmpq_mat(1, P, [1] * P)
        state, offset = (arb_mat(column_matrix(part) * ones) for part in (self.start, self.d))
        W, U, read = arb_mat(self.V), arb_mat(column_matrix(self.g)), arb_mat(1, m, list(self.e))
        for x in zip(*inputs, strict=True):
            moved = W * state + U * arb_mat(1, P, list(x)) + offset
            state = arb_mat(m, P, [z.tanh() for z in moved.entries()])
            yield read * state + arb_mat(1, P, [self.e0] * P)


def equal_units(
    V: fmpq_mat, g: Sequence[fmpq], d: Sequence[fmpq], start: Sequence[fmpq]
) -> list[int]:
    """The classes, by number, of units that are equal at all times, whatever the inputs are.

    The coarsest partition in which units of one class have the same input weight, bias and initial
    state, and the same sums of recurrent weights from every class: equal states stay equal.
    """
    rows = V.tolist()
    classes = numbered(list(zip(g, d, start, strict=True)))
    while True:
        keys = [(c, *class_sums(row, classes)) for c, row in zip(classes, rows, strict=True)]
        finer = numbered(keys)
        if max(finer) == max(classes):
            return classes
        classes = finer


def numbered(keys: Sequence[Hashable]) -> list[int]:
    """Equal keys as equal numbers, in the order in which they come."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def class_sums(weights: Sequence[fmpq], classes: Sequence[int]) -> list[fmpq]:
    """The sum of the weights from each class."""
    sums = [ZERO] * (max(classes) + 1)
    for c, weight in zip(classes, weights, strict=True):
        sums[c] += weight
    return sums


@dataclass(frozen=True, eq=False)
class SigmoidPair(ExactMember):
    """A network of n units and a unitary one of ``states`` units."""

    network: SigmoidNetwork
    candidate: SigmoidNetwork

    @cached_property
    def is_equal(self) -> bool:
        """True if lumping proves equal outputs of both networks for all inputs at all times; False
        proves nothing."""
        one, other = self.network.as_tanh, self.candidate.as_tanh
        classes = equal_units(
            block_diagonal(one.V, other.V),
            one.g + other.g, one.d + other.d, one.start + other.start,
        )  # fmt: skip
        read = [*(-v for v in one.e), *other.e]
        return one.e0 == other.e0 and not any(class_sums(read, classes))

    def ball_gap(self) -> arb:
        """max |y − ŷ| over the probes in balls of the current precision."""
        if self.is_equal:
            return arb(0)
        both = zip(self.network.as_tanh.outputs(), self.candidate.as_tanh.outputs(), strict=True)
        gaps = [gap for y, z in both for gap in (y - z).entries()]
        return reduce(arb.max, map(arb.abs_lower, gaps)).union(
            reduce(arb.max, map(arb.abs_upper, gaps))
        )

    def gap_bound(self) -> arb:
        """At least |y − ŷ| at all times for all inputs, as |tanh| ≤ 1: Σ |c_i| + Σ |e_i| + |e₀|."""
        if self.is_equal:
            return arb(0)
        one, other = self.network.as_tanh, self.candidate.as_tanh
        return sum((abs(arb(v)) for v in (*one.e, *other.e, one.e0 - other.e0)), arb(0)).upper()

    @cached_property
    def probe_gap(self) -> arb:
        """Output gap at the probes, at the first precision that separates it from 0, if any."""
        ball = arb(0)
        for precision in PRECISIONS:
            with ctx.workprec(precision):
                ball = self.ball_gap()
            if ball > 0 or ball.is_exact():
                break
        return ball

    def tables(self) -> dict[str, Table]:
        """Both networks, with their activations; x holds the first probe."""
        one, other = self.network, self.candidate
        U, x, start = [[v] for v in one.g], [[[v] for v in probe_inputs()[0]]], [list(one.start)]
        found = recurrence_tables(one.V.tolist(), U, list(one.d), x, start, start, [list(one.e)])
        return found | {
            "W2": other.V.tolist(), "U2": [[v] for v in other.g], "b2": list(other.d),
            "C2": [list(other.e)], "e0": [other.e0], "start2": list(other.start),
            "probes": [list(x) for x in probe_inputs()],
            "activations": [one.activation, other.activation],
        }  # fmt: skip

    def constants(self) -> dict[str, float]:
        """A bound on the spectral radius of W."""
        return {"W_radius": spectral_radius_bound(self.network.V)}

    def parameters(self) -> dict[str, float]:
        """m, |w| of a scalar network, whether the activations are the same, and whether the output
        is bound to depend on the latest input."""
        one, other = self.network, self.candidate
        parts = [c * f for c, f in zip(one.e, one.g, strict=True)]
        scalar = {"w_abs": nearest_float(abs(one.V[0, 0]))} if len(one.d) == 1 else {}
        return scalar | {
            "states": float(len(other.d)),
            "same_activation": float(one.activation == other.activation),
            "driven": float((min(parts) < 0) != (max(parts) > 0)),
        }


def spectral_radius_bound(W: fmpq_mat) -> float:
    """An upper bound on max |eigenvalue|: the least ‖W^k‖₂^(1/k) for powers of two k, where ‖A‖₂²
    is at most the largest absolute row sum of AᵀA. Source: Gelfand."""
    if W.nrows() == 1:
        return upper_float(abs(W[0, 0]))
    found = np.inf
    with ctx.workprec(PRECISION):
        A = arb_mat(W)
        for p in range(SQUARINGS + 1):
            sums = [sum((abs(v) for v in row), arb(0)) for row in (A.transpose() * A).tolist()]
            largest = max(v.upper() for v in sums)
            bound = largest.root(2 ** (p + 1)).upper()
            found = min(found, float(np.nextafter(float(bound), np.inf)))
            A = A * A
    return found


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
    f = [draw.choice((1, -1)) * (draw.choice(PARTS) if i else ONE) for i in range(n)]
    c = [(sign if v > 0 else -sign) * (draw.choice(PARTS) if i else ONE) for i, v in enumerate(f)]
    b = [fmpq(draw.randint(-2, 2), 4) for _ in range(n)]
    start = [fmpq(draw.randint(0, 4), 4) * short_rational(spec.start) for _ in range(n)]
    return SigmoidNetwork(spec.activation, W, tuple(f), tuple(b), tuple(start), tuple(c)), Q


def cancelling_network(name: str, n: int, lam: fmpq, draw: random.Random) -> SigmoidNetwork:
    """n equal units whose readouts cancel: driven, with the output 0."""
    f, b = draw.choice((ONE, -ONE, fmpq(2))), fmpq(draw.randint(-2, 2), 4)
    e = [small_rational(draw) for _ in range(n - 1)]
    V, zeros = orthogonal_with_unit_row_sums(n, draw) * lam, (ZERO,) * n
    return SigmoidNetwork(name, V, (f,) * n, (b,) * n, zeros, (*e, -sum(e, ZERO)))


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


Sigmoid = spec_of(
    "sigmoid", "activation n regime lam states start", inputs="zero",
    limits=EXACT_LIMITS | {"n": 3, "d": 1, "states": 32}, check=check_exact,
    activations=("sigmoid", "tanh"),
    regimes=("unrelated", "lumped", "mixed", "cancelling"),
)  # fmt: skip
SCALAR = Sigmoid(activation="sigmoid", regime="lumped", states=1, batch=4)
SCALARS: dict[str, SystemSpec] = {
    # w = 1 is orthogonal itself, and so is any V with V1 = 1 over copies of the unit.
    "unit-weight": replace(SCALAR, lam=1.0),
    "unit-weight-lumped": replace(SCALAR, lam=1.0, states=3),
    # tanh(r/4 + …) = 2σ(s + …) − 1 with r = 2s − 1.
    "quarter-weight-tanh": replace(SCALAR, activation="tanh", regime="mixed", lam=0.25),
    # An orthogonal W is matched by itself.
    "orthogonal-itself": replace(SCALAR, n=2, lam=1.0, states=2),
    # The spectral radius is 1/2, and the norm well above 1.
    "sheared-radius": replace(SCALAR, regime="unrelated", n=3, states=3, batch=8),
    # Units that are driven, with readouts that cancel.
    "cancelling-readouts": replace(SCALAR, regime="cancelling", n=2, states=2),
}
# Powers of two, the weight that is matched, and that of the other activation's network.
WEIGHTS = (0.5, 0.6, 0.25, 0.8, 0.0, 0.75, 1.0, 0.96)
MIXED_WEIGHTS = (0.25, 0.5, 4.0, 0.6)


def worst_scalars() -> Iterator[SystemSpec]:
    """Both activations and all constructions, weights from 0 to 4; then some of several units."""
    yield from SCALARS.values()
    base, near = replace(SCALAR, batch=2, seed=7), 1 - 2.0**-20
    yield from spec_grid(
        base,
        {"activation": Sigmoid.activations},
        {"lam": (0.0, 0.25, 0.5, 0.6, 1.0, 4.0, near)},
        {"regime": ("unrelated", "lumped", "mixed")},
        {"states": (1, 2, 4)},
    )
    several = {"n": (2, 2, 2, 3), "lam": (0.25, 0.6, near, 1.0), "states": (2, 4, 5, 3)}
    yield from spec_grid(base, several, {"regime": Sigmoid.regimes})


@st.composite
def draw_sigmoid_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """A sigmoid or tanh network of up to three units and a unitary one, of the same activation but
    in one regime."""
    regime = draw(pick((*Sigmoid.regimes, "unrelated", "lumped")))
    choices = draw_choices(
        draw, activation=Sigmoid.activations,
        # The output of one unit alone does not cancel.
        n=(2, 3) if regime == "cancelling" else (1, 1, 2, 1, 1, 3, 1, 2),
        lam=MIXED_WEIGHTS if regime == "mixed" else WEIGHTS, start=(0.0, 1.0),
        states=(2, 1, 3, 4, 5, 8, 2, 3),
    )  # fmt: skip
    return Sigmoid(regime=regime, seed=draw(seeds()), batch=wanted.batch, **choices)


KINDS = (
    Kind(
        Sigmoid, draw_sigmoid_spec, partial(exact_networks, sigmoid_pair_member), vanilla_cell,
        worst_scalars, family="exact",
    ),
)  # fmt: skip
