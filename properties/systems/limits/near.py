"""Candidates that match a network nearly, or where a readout can be solved for, or not at all.

Source: Emami et al., Theorem 3.2.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from flint import fmpq, fmpq_mat

from rnnbounds.impl.convert.rational_unitary import RationalRNN
from rnnbounds.impl.numbers.rationals import cayley, random_contraction
from rnnbounds.properties.systems.limits.candidates import (
    SmoothCentre,
    UnitaryCandidate,
    find_smooth_centre,
)
from rnnbounds.properties.systems.limits.exact_candidates import (
    add_idle_states,
    can_dilate,
    dilated_candidate,
    finish_candidate,
    relu_network,
    rescaled_candidate,
    rotated_candidate,
    scalar_candidate,
    similar_candidate,
    small_rational,
    small_rational_matrix,
)
from rnnbounds.properties.systems.spec import Candidate as Written
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.exact import Vector, member_random, to_rationals
from rnnbounds.properties.systems.unitary.linear import (
    cayley_from_entries,
    column_matrix,
    join_columns,
    least_squares,
    matrix_entries,
    short_rational,
    submatrix,
)

ZERO, ONE = fmpq(0), fmpq(1)


def unrelated_candidate(spec: SystemSpec, draw: random.Random) -> UnitaryCandidate:
    """V, G, d, E and the initial state drawn without regard to the network."""
    W = random_contraction(spec.n, draw).W if spec.lam != 0 else fmpq_mat(spec.n, spec.n)
    rnn, centre = relu_network(spec, W, draw)
    m = spec.states
    urnn = RationalRNN(
        cayley(m, draw), small_rational_matrix(draw, m, spec.n),
        tuple(small_rational(draw) for _ in range(m)),
        tuple(small_rational(draw) for _ in range(m)),
    )  # fmt: skip
    return finish_candidate(
        rnn,
        urnn,
        small_rational_matrix(draw, spec.n, m),
        [small_rational(draw) for _ in range(spec.n)],
        centre,
    )


def solved_candidate(spec: SystemSpec, draw: random.Random) -> UnitaryCandidate:
    """V and G drawn, half the time with one state in eight off at a time, and the best readout."""
    W = random_contraction(spec.n, draw).W if spec.lam != 0 else fmpq_mat(spec.n, spec.n)
    first = second = [fmpq(2)] * spec.states
    if draw.random() < 0.5:
        first, second = ([fmpq(draw.choice((2,) * 7 + (-2,))) for _ in first] for _ in range(2))
    V, G = cayley(spec.states, draw), small_rational_matrix(draw, spec.states, spec.n)
    return candidate_with_readout(spec, W, V, G, (first, second), draw)


def candidate_with_readout(
    spec: SystemSpec, W: fmpq_mat, V: fmpq_mat, G: fmpq_mat, levels: Sequence[Sequence[fmpq]],
    draw: random.Random,
) -> UnitaryCandidate:  # fmt: skip
    """The candidate of V and G with the given pre-activations at the first two times and a readout
    that matches, if it has one at all; else the one nearest in the squares of the derivatives.

    Any v₀ and v₁ can be had: d = v₁ − V D₀v₀ − G x₁ and s₋₁ = Vᵀ(v₀ − d − G x₀).
    """
    rnn, centre = relu_network(spec, W, draw)
    first, second = (column_matrix(v) for v in levels)
    x = [column_matrix(c) for c in (centre[0], centre[min(1, spec.T - 1)])]
    d = second - V * column_matrix([max(v, ZERO) for v in levels[0]]) - G * x[1]
    initial = V.transpose() * (first - d - G * x[0])
    urnn = RationalRNN(V, G, tuple(matrix_entries(d)), tuple(matrix_entries(initial)))
    centre_runs = find_smooth_centre(rnn, urnn, centre)
    E, e = best_readout(centre_runs)
    return UnitaryCandidate(rnn, urnn, E, e, centre_runs)


def best_readout(at: SmoothCentre) -> tuple[fmpq_mat, Vector]:
    """E and e with E ∂s_t = ∂h_t and E s_t + e = h_t at all times, as nearly as squares tell."""
    target_matrix, state_matrix = (
        join_columns(*(p for step in steps for p in (step.tangents, column_matrix(step.states))))
        for steps in (at.network, at.candidate)
    )
    n, m = target_matrix.nrows(), state_matrix.nrows()
    width = state_matrix.ncols() // len(at.centre)
    ones = fmpq_mat(
        1, state_matrix.ncols(), [fmpq((j + 1) % width == 0) for j in range(state_matrix.ncols())]
    )
    solution = least_squares(fmpq_mat(state_matrix.tolist() + ones.tolist()), target_matrix)
    return submatrix(solution, range(n), range(m)), tuple(solution[i, m] for i in range(n))


def approximate_candidate(spec: SystemSpec, draw: random.Random) -> UnitaryCandidate:
    """2n − 1 states for W = 0 and n ≥ 2: e₁ → e₃ → e₂ → e₁ with the second unit written δ times and
    read 1/δ times. E G = I, and what E V G leaves of one step is δ; the other units are swapped."""
    n, delta = spec.n, short_rational(spec.distance)
    base, rest = 2 * n - 1, n - 2
    V = fmpq_mat(base, base)
    for i, j in ((2, 0), (1, 2), (0, 1), *((3 + i, 3 + rest + i) for i in range(rest)),
                 *((3 + rest + i, 3 + i) for i in range(rest))):  # fmt: skip
        V[i, j] = ONE
    G, E = fmpq_mat(base, n), fmpq_mat(n, base)
    for unit, at, weight in ((0, 0, ONE), (1, 1, delta), *((2 + i, 3 + i, ONE)
                             for i in range(rest))):  # fmt: skip
        G[at, unit], E[unit, at] = weight, 1 / weight
    rnn, centre = relu_network(spec, fmpq_mat(n, n), draw)
    # At rest every state of the candidate is 1, but the swapped ones' partners are off.
    rest_state = [ONE] * (3 + rest) + [ZERO] * rest
    d = matrix_entries(column_matrix(rest_state) - V * column_matrix(rest_state))
    d[3 + rest :] = [fmpq(-4)] * rest
    d[3 : 3 + rest] = [ONE] * rest
    urnn = RationalRNN(V, G, tuple(d), tuple(rest_state))
    e = matrix_entries(column_matrix(rnn.b) - E * column_matrix(rest_state))
    urnn, E = add_idle_states(urnn, E, spec.states - base, draw)
    return finish_candidate(rnn, urnn, E, e, centre)


def explicit_candidate(spec: SystemSpec, found: Written, draw: random.Random) -> UnitaryCandidate:
    """The candidate of W = 0 that a spec writes out; ``s`` and ``d`` hold its pre-activations at
    the first two times."""
    V, G = (
        cayley_from_entries(found.skew, found.signs),
        fmpq_mat([to_rationals(row) for row in found.G]),
    )
    levels = (to_rationals(found.s), to_rationals(found.d))
    return candidate_with_readout(spec, fmpq_mat(spec.n, spec.n), V, G, levels, draw)


Builder = Callable[[SystemSpec, random.Random], UnitaryCandidate]
# Each with the least number of states that it can have.
BUILDERS: dict[str, tuple[Builder, Callable[[int], int]]] = {
    "dilated": (dilated_candidate, lambda n: 2 * n),
    "unrelated": (unrelated_candidate, lambda n: 1),
    "rotated": (rotated_candidate, lambda n: 2 * n),
    "solved": (solved_candidate, lambda n: 1),
    "rescaled": (rescaled_candidate, lambda n: n + 1),
    "similar": (similar_candidate, lambda n: n + 1),
    "approximate": (approximate_candidate, lambda n: max(2 * n - 1, 3)),
    "scalar": (scalar_candidate, lambda n: 2 * n),
}


def candidate_member(spec: SystemSpec, member: int) -> UnitaryCandidate:
    """One member of a batch of kind ``candidate``; an unrelated one where the regime needs more
    states or units, or a weight of which √(1 − ρ²) is rational."""
    n = spec.n
    draw = member_random(spec, member, "candidate")
    if spec.found is not None:
        return explicit_candidate(spec, spec.found, draw)
    build, least_states = BUILDERS[spec.regime]
    is_buildable = spec.states >= least_states(n) and (
        spec.regime != "approximate" or (n > 1 and spec.distance > 0)
    )
    is_buildable = is_buildable and (
        spec.regime != "scalar" or can_dilate(short_rational(spec.lam))
    )
    return (build if is_buildable else unrelated_candidate)(spec, draw)
