"""Candidates for the unitary equivalent of a ReLU network: equivalents of 2n states, one of n + 1
for a weighted shift, those whose readout is solved for, and unrelated ones.

With V orthogonal, A its leading n × n block and W = T A T⁻¹ for a diagonal T > 0, with which ReLU
commutes, the first n units of the candidate are T⁻¹h, and biases hold the others at zero.
Source: Emami et al., Theorems 3.1 and 3.2.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from flint import fmpq, fmpq_mat

from rnnbounds.impl.convert.rational_unitary import RationalRNN
from rnnbounds.impl.numbers.rationals import cayley, diagonal, identity, random_contraction
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.candidates import (
    SmoothCentre,
    UnitaryCandidate,
    find_smooth_centre,
)
from rnnbounds.properties.systems.unitary.exact import Vector, member_random
from rnnbounds.properties.systems.unitary.linear import (
    block_diagonal,
    column_matrix,
    join_columns,
    least_squares,
    matrix_entries,
    permutation_matrix,
    short_rational,
    small_rational,
    small_rational_matrix,
    submatrix,
)

ZERO, ONE = fmpq(0), fmpq(1)


def relu_network(
    spec: SystemSpec, W: fmpq_mat, draw: random.Random
) -> tuple[RationalRNN, list[Vector]]:
    """h = ReLU(W h + x + β1) and inputs that keep it at h = β1, where all its units are active."""
    beta = fmpq(draw.randint(1, 4), 2)
    level = [beta] * spec.n
    initial = [fmpq(draw.randint(0, 4), 4) * short_rational(spec.start) for _ in range(spec.n)]
    first, later = (
        tuple(-v for v in matrix_entries(W * column_matrix(h))) for h in (initial, level)
    )
    rnn = RationalRNN(W, identity(spec.n), tuple(level), tuple(initial))
    return rnn, [first, *[later] * (spec.T - 1)]


def draw_contraction(spec: SystemSpec, draw: random.Random) -> fmpq_mat:
    """W = 0 for λ = 0, else a random contraction."""
    return random_contraction(spec.n, draw).W if spec.lam != 0 else fmpq_mat(spec.n, spec.n)


def matching_candidate(
    spec: SystemSpec, V: fmpq_mat, scale: Sequence[fmpq], draw: random.Random
) -> UnitaryCandidate:
    """The network of W = T A T⁻¹, T = diag(scale) > 0, and the candidate V that matches it, with as
    many idle states as are left."""
    n, m = spec.n, spec.states
    V = block_diagonal(V, identity(m - V.nrows())) if m > V.nrows() else V
    T, leading, added = diagonal([*scale]), range(n), range(n, m)
    back = T.inv()
    rnn, centre = relu_network(spec, T * submatrix(V, leading, leading) * back, draw)
    inside = [back * column_matrix(h) for h in (rnn.initial, *rnn.states(centre))]
    lower = submatrix(V, added, leading)
    held = [-ONE - max(v) for v in zip(*(matrix_entries(lower * s) for s in inside), strict=True)]
    urnn = RationalRNN(
        V,
        fmpq_mat(back.tolist() + [[ZERO] * n for _ in added]),
        (*matrix_entries(back * column_matrix(rnn.b)), *held),
        (*matrix_entries(inside[0]), *[ZERO] * len(added)),
    )
    E = join_columns(T, fmpq_mat(n, len(added)))
    return UnitaryCandidate(rnn, urnn, E, (ZERO,) * n, find_smooth_centre(rnn, urnn, centre))


def dilated_candidate(spec: SystemSpec, draw: random.Random) -> UnitaryCandidate:
    """The unitary equivalent of 2n states, its added rows and columns each turned half the time."""
    n = spec.n
    swap = permutation_matrix([(i + n) % (2 * n) for i in range(2 * n)])  # the dilation of W = 0
    V = swap if spec.lam == 0 else random_contraction(n, draw).dilation()
    if draw.random() < 0.5:
        left, right = (block_diagonal(identity(n), cayley(n, draw)) for _ in range(2))
        V = left * V * right
    return matching_candidate(spec, V, [ONE] * n, draw)


def rescaled_candidate(spec: SystemSpec, draw: random.Random) -> UnitaryCandidate:
    """W moves unit i to i + 1 with a weight below 1; scaled to weights 1 it needs n + 1 states."""
    n = spec.n
    scale = [ONE]
    for _ in range(n - 1):
        scale.append(scale[-1] / draw.randint(2, 4))
    return matching_candidate(
        spec, permutation_matrix([(i - 1) % (n + 1) for i in range(n + 1)]), scale, draw
    )


def unrelated_candidate(spec: SystemSpec, draw: random.Random) -> UnitaryCandidate:
    """V, G, d, E and the initial state drawn without regard to the network."""
    n, m = spec.n, spec.states
    rnn, centre = relu_network(spec, draw_contraction(spec, draw), draw)
    d, initial = (tuple(small_rational(draw) for _ in range(m)) for _ in range(2))
    urnn = RationalRNN(cayley(m, draw), small_rational_matrix(draw, m, n), d, initial)
    E, e = small_rational_matrix(draw, n, m), tuple(small_rational(draw) for _ in range(n))
    return UnitaryCandidate(rnn, urnn, E, e, find_smooth_centre(rnn, urnn, centre))


def solved_candidate(spec: SystemSpec, draw: random.Random) -> UnitaryCandidate:
    """V and G drawn, half the time with one state in eight off at a time, and the readout that
    matches, if there is one; else the nearest in the squares of the derivatives.

    Any pre-activations v₀ and v₁ can be had: d = v₁ − V D₀v₀ − G x₁ and s₋₁ = Vᵀ(v₀ − d − G x₀).
    """
    m = spec.states
    rnn, centre = relu_network(spec, draw_contraction(spec, draw), draw)
    choices = (2,) * 7 + (-2,) if draw.random() < 0.5 else (2,)
    levels = [[fmpq(draw.choice(choices)) for _ in range(m)] for _ in range(2)]
    V, G = cayley(m, draw), small_rational_matrix(draw, m, spec.n)
    first, second = map(column_matrix, levels)
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


Builder = Callable[[SystemSpec, random.Random], UnitaryCandidate]
# Each with the least number of states that it can have.
BUILDERS: dict[str, tuple[Builder, Callable[[int], int]]] = {
    "dilated": (dilated_candidate, lambda n: 2 * n),
    "unrelated": (unrelated_candidate, lambda n: 1),
    "solved": (solved_candidate, lambda n: 1),
    "rescaled": (rescaled_candidate, lambda n: n + 1),
}


def candidate_member(spec: SystemSpec, member: int) -> UnitaryCandidate:
    """One member of a batch of kind ``candidate``; an unrelated one where the regime needs more
    states."""
    build, least_states = BUILDERS[spec.regime]
    build = build if spec.states >= least_states(spec.n) else unrelated_candidate
    return build(spec, member_random(spec, member, "candidate"))
