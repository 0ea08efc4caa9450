"""Candidates that match a network nearly, or where a readout can be solved for, or not at all.

Source: Emami et al., Theorem 3.2.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from flint import fmpq, fmpq_mat

from rnnbounds.impl.convert.rational_unitary import RationalRNN
from rnnbounds.impl.numbers.rationals import cayley, random_contraction
from rnnbounds.properties.systems.limits.candidates import Candidate, Settled, settled
from rnnbounds.properties.systems.limits.exact_candidates import (
    can_dilate,
    dilated,
    extended,
    finished,
    network,
    rescaled,
    rotated,
    scalar,
    similar,
    small,
    table,
)
from rnnbounds.properties.systems.spec import Candidate as Written
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.exact import Vector, rationals, stream
from rnnbounds.properties.systems.unitary.linear import (
    beside,
    cayley_of,
    column,
    corner,
    entries,
    least_squares,
    rational,
)

ZERO, ONE = fmpq(0), fmpq(1)


def unrelated(spec: SystemSpec, draw: random.Random) -> Candidate:
    """V, G, d, E and the initial state drawn without regard to the network."""
    W = random_contraction(spec.n, draw).W if spec.lam != 0 else fmpq_mat(spec.n, spec.n)
    rnn, centre = network(spec, W, draw)
    m = spec.states
    urnn = RationalRNN(
        cayley(m, draw), table(draw, m, spec.n), tuple(small(draw) for _ in range(m)),
        tuple(small(draw) for _ in range(m)),
    )  # fmt: skip
    return finished(rnn, urnn, table(draw, spec.n, m), [small(draw) for _ in range(spec.n)], centre)


def solved(spec: SystemSpec, draw: random.Random) -> Candidate:
    """V and G drawn, half the time with one state in eight off at a time, and the best readout."""
    W = random_contraction(spec.n, draw).W if spec.lam != 0 else fmpq_mat(spec.n, spec.n)
    first = second = [fmpq(2)] * spec.states
    if draw.random() < 0.5:
        first, second = ([fmpq(draw.choice((2,) * 7 + (-2,))) for _ in first] for _ in range(2))
    V, G = cayley(spec.states, draw), table(draw, spec.states, spec.n)
    return with_readout(spec, W, V, G, (first, second), draw)


def with_readout(
    spec: SystemSpec, W: fmpq_mat, V: fmpq_mat, G: fmpq_mat, levels: Sequence[Sequence[fmpq]],
    draw: random.Random,
) -> Candidate:  # fmt: skip
    """The candidate of V and G with the given pre-activations at the first two times and a readout
    that matches, if it has one at all; else the one nearest in the squares of the derivatives.

    Any v₀ and v₁ can be had: d = v₁ − V D₀v₀ − G x₁ and s₋₁ = Vᵀ(v₀ − d − G x₀).
    """
    rnn, centre = network(spec, W, draw)
    first, second = (column(v) for v in levels)
    x = [column(c) for c in (centre[0], centre[min(1, spec.T - 1)])]
    d = second - V * column([max(v, ZERO) for v in levels[0]]) - G * x[1]
    initial = V.transpose() * (first - d - G * x[0])
    urnn = RationalRNN(V, G, tuple(entries(d)), tuple(entries(initial)))
    at = settled(rnn, urnn, centre)
    E, e = best_readout(at)
    return Candidate(rnn, urnn, E, e, at)


def best_readout(at: Settled) -> tuple[fmpq_mat, Vector]:
    """E and e with E ∂s_t = ∂h_t and E s_t + e = h_t at all times, as nearly as squares tell."""
    wanted, given = (
        beside(*(p for step in steps for p in (step.tangents, column(step.states))))
        for steps in (at.network, at.candidate)
    )
    n, m = wanted.nrows(), given.nrows()
    width = given.ncols() // len(at.centre)
    ones = fmpq_mat(1, given.ncols(), [fmpq((j + 1) % width == 0) for j in range(given.ncols())])
    found = least_squares(fmpq_mat(given.tolist() + ones.tolist()), wanted)
    return corner(found, range(n), range(m)), tuple(found[i, m] for i in range(n))


def approximate(spec: SystemSpec, draw: random.Random) -> Candidate:
    """2n − 1 states for W = 0 and n ≥ 2: e₁ → e₃ → e₂ → e₁ with the second unit written δ times and
    read 1/δ times. E G = I, and what E V G leaves of one step is δ; the other units are swapped."""
    n, delta = spec.n, rational(spec.distance)
    base, rest = 2 * n - 1, n - 2
    V = fmpq_mat(base, base)
    for i, j in ((2, 0), (1, 2), (0, 1), *((3 + i, 3 + rest + i) for i in range(rest)),
                 *((3 + rest + i, 3 + i) for i in range(rest))):  # fmt: skip
        V[i, j] = ONE
    G, E = fmpq_mat(base, n), fmpq_mat(n, base)
    for unit, at, weight in ((0, 0, ONE), (1, 1, delta), *((2 + i, 3 + i, ONE)
                             for i in range(rest))):  # fmt: skip
        G[at, unit], E[unit, at] = weight, 1 / weight
    rnn, centre = network(spec, fmpq_mat(n, n), draw)
    # At rest every state of the candidate is 1, but the swapped ones' partners are off.
    rest_state = [ONE] * (3 + rest) + [ZERO] * rest
    d = entries(column(rest_state) - V * column(rest_state))
    d[3 + rest :] = [fmpq(-4)] * rest
    d[3 : 3 + rest] = [ONE] * rest
    urnn = RationalRNN(V, G, tuple(d), tuple(rest_state))
    e = entries(column(rnn.b) - E * column(rest_state))
    urnn, E = extended(urnn, E, spec.states - base, draw)
    return finished(rnn, urnn, E, e, centre)


def written(spec: SystemSpec, found: Written, draw: random.Random) -> Candidate:
    """The candidate of W = 0 that a spec writes out; ``s`` and ``d`` hold its pre-activations at
    the first two times."""
    V, G = cayley_of(found.skew, found.signs), fmpq_mat([rationals(row) for row in found.G])
    levels = (rationals(found.s), rationals(found.d))
    return with_readout(spec, fmpq_mat(spec.n, spec.n), V, G, levels, draw)


Builder = Callable[[SystemSpec, random.Random], Candidate]
# Each with the least number of states that it can have.
BUILDERS: dict[str, tuple[Builder, Callable[[int], int]]] = {
    "dilated": (dilated, lambda n: 2 * n),
    "unrelated": (unrelated, lambda n: 1),
    "rotated": (rotated, lambda n: 2 * n),
    "solved": (solved, lambda n: 1),
    "rescaled": (rescaled, lambda n: n + 1),
    "similar": (similar, lambda n: n + 1),
    "approximate": (approximate, lambda n: max(2 * n - 1, 3)),
    "scalar": (scalar, lambda n: 2 * n),
}


def candidate(spec: SystemSpec, member: int) -> Candidate:
    """One member of a batch of kind ``candidate``; an unrelated one where the regime needs more
    states or units, or a weight of which √(1 − ρ²) is rational."""
    n = spec.n
    draw = stream(spec, member, "candidate")
    if spec.found is not None:
        return written(spec, spec.found, draw)
    build, least = BUILDERS[spec.regime]
    fits = spec.states >= least(n) and (
        spec.regime != "approximate" or (n > 1 and spec.distance > 0)
    )
    fits = fits and (spec.regime != "scalar" or can_dilate(rational(spec.lam)))
    return (build if fits else unrelated)(spec, draw)
