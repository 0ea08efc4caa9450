"""A candidate for the unitary equivalent of a ReLU network, judged on an open set of inputs.

h_t = ReLU(W h_{t−1} + x_t + b), y_t = h_t, against s_t = ReLU(V s_{t−1} + G x_t + d),
ŷ_t = E s_t + e. Around a centre at which no pre-activation is zero, unless identically so, both
activity patterns are constant, so that both maps are affine there: they agree on that open set if
and only if they agree at the centre and at one more point in each direction of the input space.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from flint import fmpq, fmpq_mat

from rnnbounds.impl.convert.rational_unitary import RationalRNN
from rnnbounds.impl.numbers.rationals import Unreduced
from rnnbounds.properties.errors import SpecError
from rnnbounds.properties.systems.unitary.exact import ExactMember, Table, Vector, recurrence_tables
from rnnbounds.properties.systems.unitary.linear import column_matrix, join_columns, matrix_entries

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
