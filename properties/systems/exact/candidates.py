"""Candidates for the unitary equivalent of a ReLU network, judged on an open set of inputs.

h_t = ReLU(W h_{t−1} + x_t + b), y_t = h_t, against s_t = ReLU(V s_{t−1} + G x_t + d),
ŷ_t = E s_t + e. Around a centre at which no pre-activation is zero, unless identically so, both
activity patterns are constant, so that both maps are affine there: they agree on that open set if
and only if they agree at the centre and at one more point in each direction of the input space.

Drawn are equivalents of 2n states, one of n + 1 for a weighted shift, those whose readout is solved
for, and unrelated ones. With V orthogonal, A its leading n × n block and W = T A T⁻¹ for a diagonal
T > 0, with which ReLU commutes, the first n units of the candidate are T⁻¹h, and biases hold the
others at zero. Source: Emami et al., Theorems 3.1 and 3.2.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

from flint import fmpq, fmpq_mat
from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.impl.convert.rational_unitary import RationalRNN
from rnnbounds.impl.numbers.rationals import (
    Unreduced,
    cayley,
    diagonal,
    identity,
    random_contraction,
)
from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.systems.exact.members import (
    EXACT_LIMITS,
    ExactMember,
    Table,
    Vector,
    check_exact,
    member_random,
    recurrence_tables,
)
from rnnbounds.properties.systems.exact.networks import exact_networks
from rnnbounds.properties.systems.exact.rational_draws import (
    ONE,
    ZERO,
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

# Centres that are tried; the first one mostly will do, and kinks are finitely many hyperplanes.
ATTEMPTS = 64


@dataclass(frozen=True, eq=False)
class LinearizedStep:
    """A ReLU network at one time: pre-activations (m,), and how they change with all inputs."""

    preactivations: Vector
    slopes: Sequence[Sequence[fmpq]]
    states: Vector
    tangents: fmpq_mat

    @property
    def is_kinked(self) -> bool:
        """True if a unit that depends on the inputs lies exactly on its kink."""
        return any(
            z == 0 and any(row) for z, row in zip(self.preactivations, self.slopes, strict=True)
        )

    @property
    def pattern(self) -> tuple[bool, ...]:
        """The active units; one that is zero all around counts as inactive."""
        return tuple(z > 0 for z in self.preactivations)


def linearize_run(network: RationalRNN, inputs: Sequence[Vector]) -> list[LinearizedStep]:
    """The network along the inputs, with exact derivatives in all T·d of them."""
    m, d, T = network.W.nrows(), network.U.ncols(), len(inputs)
    state, tangent, zero_row = (
        column_matrix(network.initial),
        fmpq_mat(m, d * T),
        [fmpq(0)] * (d * T),
    )
    input_rows, bias = network.U.tolist(), column_matrix(network.b)
    steps = []
    for t, x in enumerate(inputs):
        preactivations = matrix_entries(network.W * state + network.U * column_matrix(x) + bias)
        slopes = (network.W * tangent).tolist()
        for row, input_row in zip(slopes, input_rows, strict=True):
            row[t * d : (t + 1) * d] = input_row  # nothing before depended on x_t
        is_active = [z > 0 for z in preactivations]
        states = [z if s else zero_row[0] for z, s in zip(preactivations, is_active, strict=True)]
        state = column_matrix(states)
        tangent = fmpq_mat(
            [row if s else zero_row for row, s in zip(slopes, is_active, strict=True)]
        )
        steps.append(LinearizedStep(tuple(preactivations), slopes, tuple(states), tangent))
    return steps


class SmoothCentre(NamedTuple):
    """Inputs at which no unit of two networks is on its kink, and both along them."""

    centre: tuple[Vector, ...]
    network: list[LinearizedStep]
    candidate: list[LinearizedStep]


@dataclass(frozen=True, eq=False)
class UnitaryCandidate(ExactMember):
    """A network (n units, all read), a unitary one (m units), its readout E (n, m) and e (n,), and
    both along the inputs around which they are compared."""

    rnn: RationalRNN
    urnn: RationalRNN
    E: fmpq_mat
    e: Vector
    centre_runs: SmoothCentre

    @property
    def parts(self) -> dict[str, fmpq_mat]:
        """W, by its name in theory."""
        return {"W": self.rnn.W}

    @property
    def n(self) -> int:
        """The network's units."""
        return int(self.rnn.W.nrows())

    @property
    def states(self) -> int:
        """The candidate's units."""
        return int(self.urnn.W.nrows())

    @cached_property
    def radius(self) -> fmpq:
        """A power of two δ ≤ 1: both patterns are constant where each input is within δ of the
        centre's. Every pre-activation changes there by at most half of itself."""
        radius = fmpq(1)
        for step in (*self.centre_runs.network, *self.centre_runs.candidate):
            for z, row in zip(step.preactivations, step.slopes, strict=True):
                sensitivity = 2 * sum((abs(v) for v in row), fmpq(0))
                while sensitivity * radius > abs(z):
                    radius /= 2
        return radius

    @cached_property
    def separation_square(self) -> fmpq:
        """max ‖y_t − ŷ_t‖₂² over all times and the centre and centre ± δ e_j, exactly."""
        n, T = self.n, len(self.centre_runs.centre)
        count = 2 * n * T + 1
        inputs = []
        for t, x in enumerate(self.centre_runs.centre):
            points = join_columns(*[column_matrix(x)] * count)
            for j in range(n):
                points[j, 1 + 2 * (t * n + j)] += self.radius
                points[j, 2 + 2 * (t * n + j)] -= self.radius
            inputs.append(Unreduced.of(points))
        E, e = Unreduced.of(self.E), Unreduced.columns(self.e, count)
        pairs = zip(self.rnn.runs(inputs), self.urnn.runs(inputs), strict=True)
        return max(((h - (E @ s + e)).square for h, s in pairs), default=fmpq(0))

    def tables(self) -> dict[str, Table]:
        """Both networks, the inputs around which they are compared and how far around."""
        rnn, urnn = self.rnn, self.urnn
        x, start = [[list(x) for x in self.centre_runs.centre]], [list(rnn.initial)]
        return recurrence_tables(rnn.W.tolist(), rnn.U.tolist(), list(rnn.b), x, start, start) | {
            "W2": urnn.W.tolist(), "U2": urnn.U.tolist(), "b2": list(urnn.b),
            "C2": self.E.tolist(), "e0": list(self.e), "start2": list(urnn.initial),
            "radius": [self.radius],
        }  # fmt: skip

    def parameters(self) -> dict[str, float]:
        """The number of states m of the candidate."""
        return {"states": float(self.states)}


def find_smooth_centre(
    rnn: RationalRNN, urnn: RationalRNN, centre: Sequence[Vector]
) -> SmoothCentre:
    """The centre, moved where a unit of either network lies on its kink.

    The network's units stay active. Moves are small, and the same for the same networks.
    Raises SpecError where a unit stays on its kink, or one of the network's does not stay active.
    """
    for attempt in range(ATTEMPTS):
        inputs = tuple(
            tuple(v + fmpq(attempt, 1024 + 7 * (t * len(x) + j)) for j, v in enumerate(x))
            for t, x in enumerate(centre)
        )
        network_run, candidate_run = linearize_run(rnn, inputs), linearize_run(urnn, inputs)
        is_kinked = any(step.is_kinked for step in (*network_run, *candidate_run))
        if not is_kinked and all(all(step.pattern) for step in network_run):
            return SmoothCentre(inputs, network_run, candidate_run)
    raise SpecError(f"a unit of the candidate lies on its kink at each of {ATTEMPTS} centres")


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


CandidateSpec = spec_of(
    "candidate", "n d T regime lam states start", activation="relu", inputs="zero",
    limits=EXACT_LIMITS | {"n": 8, "d": 8, "T": 32, "states": 24}, check=check_exact,
    regimes=tuple(BUILDERS),
)  # fmt: skip
CANDIDATE = CandidateSpec(n=2, d=2, T=2, lam=0.0, states=4, batch=8)
CANDIDATES: dict[str, SystemSpec] = {
    # V = (0 I; I 0) matches y = ReLU(x + β1): with 2n states it can be done.
    "swap-of-states": CANDIDATE,
    # A weighted shift of two units, which three states match.
    "rescaled-nilpotent": replace(CANDIDATE, regime="rescaled", states=3),
    # One step has nothing to forget, and n states match it.
    "one-step": replace(CANDIDATE, regime="solved", states=2, T=1, seed=1),
}


def worst_candidates() -> Iterator[SystemSpec]:
    """Every construction around the least numbers of states."""
    yield from CANDIDATES.values()
    for n in (1, 2, 3):
        for m in range(n, 2 * n + 2):
            base = replace(CANDIDATE, n=n, d=n, states=m, batch=2, seed=m)
            yield from spec_grid(base, {"regime": CandidateSpec.regimes}, {"lam": (0.0, 0.6)})


@st.composite
def draw_candidate_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """W = 0 half the time; states around 2n, and two steps or more."""
    n = draw(pick((2, 1, 2, 3)))
    choices = draw_choices(
        draw, regime=(*CandidateSpec.regimes, "solved"), T=(2, 2, 3, 2, 4), lam=(0.0, 0.6, 0.0),
        start=(0.0, 1.0),
    )  # fmt: skip
    states = max(1, 2 * n + draw(pick((0, -1, 1, -2, 0, -1, 2, -3))))
    return CandidateSpec(
        n=n, d=n, states=states, seed=draw(seeds()), batch=wanted.batch, **choices
    )  # fmt: skip


KINDS = (
    Kind(
        CandidateSpec, draw_candidate_spec, partial(exact_networks, candidate_member),
        vanilla_cell, worst_candidates, family="exact",
    ),
)  # fmt: skip
