"""Contractive ReLU networks with exactly rational dilations, and their unitary equivalents.

Source: Emami et al., Theorem 3.1.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property

from flint import fmpq, fmpq_mat

from rnnbounds.impl.convert.rational_unitary import RationalRNN, norm_above, state_bound, to_unitary
from rnnbounds.impl.numbers.rationals import RationalContraction, cayley, identity, pythagorean
from rnnbounds.impl.numbers.unreduced import Unreduced
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.exact import (
    ExactMember,
    Table,
    Vector,
    member_random,
    rational,
    recurrence_tables,
    upper_float,
)
from rnnbounds.properties.systems.unitary.linear import permutation_matrix
from rnnbounds.properties.systems.unitary.orthogonal import (
    ONE,
    ZERO,
    draw_biases,
    draw_input_sequences,
    orthogonal_matrix,
    random_isometry,
    scale_vector,
    unit_vector,
)

NEAR = (4, 16, 100, 1000)


@dataclass(frozen=True, eq=False)
class ReluNetwork(ExactMember):
    """h_t = ReLU(W h_{t−1} + U x_t + b) from h_{−1} with y = C h, inputs ‖x_t‖ ≤ B, and V ⊃ W.

    ``input_norm`` is ‖U‖ exactly.
    """

    spec: SystemSpec
    contraction: RationalContraction
    rnn: RationalRNN
    C: fmpq_mat
    input_norm: fmpq
    x: list[list[Vector]]

    @property
    def lam(self) -> fmpq:
        """λ = ‖W‖, exactly."""
        return self.contraction.norm

    @property
    def drive_bound(self) -> fmpq:
        """S_0 = ‖U‖ B + ‖b‖: rounded up where ‖b‖ is irrational."""
        return self.input_norm * rational(self.spec.scale) + norm_above(self.rnn.b)

    @property
    def state_bound(self) -> fmpq:
        """B_h = max(‖h_{−1}‖, S_0/(1 − λ)); where λ = 1, what T steps can reach."""
        network, B = self.rnn, rational(self.spec.scale)
        if self.lam == 1:
            return norm_above(network.initial) + self.spec.T * self.drive_bound
        return state_bound(self.lam, self.input_norm, network.b, network.initial, B)

    @cached_property
    def V(self) -> fmpq_mat:
        """The orthogonal V with the fewest rows and leading block W."""
        return self.contraction.dilation()

    def unitary_network(self, bound: fmpq) -> RationalRNN:
        """The URNN whose added units have the bias −bound ‖row of W_3‖."""
        return to_unitary(self.rnn, self.V, bound)

    @cached_property
    def equivalent(self) -> RationalRNN:
        """The unitary equivalent for inputs up to B."""
        return self.unitary_network(self.state_bound)

    @cached_property
    def states(self) -> list[list[Unreduced]]:
        """h_0, …, h_{T−1} of every sequence."""
        return [self.rnn.run(x) for x in self.x]

    def tables(self) -> dict[str, Table]:
        """Both networks, the inputs, h_{−1}, and the singular values of W."""
        rnn, other = self.rnn, self.equivalent
        start = [rnn.initial] * len(self.x)
        found = recurrence_tables(
            rnn.W.tolist(), rnn.U.tolist(), rnn.b, self.x, start, C=self.C.tolist()
        )
        return found | {
            "W2": other.W.tolist(), "U2": other.U.tolist(), "b2": other.b,
            "sigma": self.contraction.sigma, "bound": [self.state_bound],
        }  # fmt: skip

    def dump_tables(self) -> dict[str, Table]:
        """Add B and ‖U‖ to `tables`."""
        return self.tables() | {"scale": [rational(self.spec.scale)], "drive": [self.input_norm]}

    def constants(self) -> dict[str, float]:
        """The exact constants, rounded up."""
        lam, scale = upper_float(self.lam), self.spec.scale
        return {
            "lam": lam, "W_norm": lam, "L_rho": 1.0, "B_x": scale,
            "U_norm": upper_float(self.input_norm),
            "L_x": upper_float(self.input_norm), "L_f": upper_float(norm_above(self.C.entries())),
            "S_0": upper_float(self.drive_bound), "B_h": upper_float(self.state_bound),
        }  # fmt: skip

    def parameters(self) -> dict[str, float]:
        """The rows of V."""
        return {"states": float(self.V.nrows())}


def network_member(spec: SystemSpec, member: int) -> ReluNetwork:
    """The member of a ``unitary`` spec: W of its regime, h_{−1} of size ``start``."""
    draw = member_random(spec, member, "system")
    W = draw_contraction(spec.regime, spec.n, spec.units, draw)
    drive = fmpq(draw.choice((4, 2, 3, 8)), 4)
    plain = spec.regime == "diagonal"
    U = random_isometry(spec.n, spec.d, draw, "identity" if plain else "cayley") * drive
    b = draw_biases(spec, spec.n, draw)
    if plain:
        # One direction for the drive, the bias and the slowest state: these come near their bound.
        b = (rational(spec.bias), *[ZERO] * (spec.n - 1))
    initial = scale_vector(rational(spec.start), unit_vector(spec.n, draw))
    # Invertible: no difference of states is lost.
    C = cayley(spec.n, draw) * fmpq(draw.choice((4, 2, 3, 8)), 4)
    rnn = RationalRNN(W.W, U, b, initial)
    return ReluNetwork(spec, W, rnn, C, drive, draw_input_sequences(spec, member))


def draw_contraction(regime: str, n: int, units: int, draw: random.Random) -> RationalContraction:
    """W = Q_1 Σ Q_2 with ``units`` singular values 1 and Pythagorean others.

    zero: W = 0 up to the units; diagonal: Q_1 = Q_2 = I, the largest σ first; near: σ near 1;
    nilpotent: weighted shifts, of which a change of scale lowers the defect.
    """
    rest = [singular_pair(regime, draw) for _ in range(n - units)]
    if regime == "nilpotent" and rest:
        rest[-1] = (ZERO, ONE)
    pairs = [(ONE, ZERO)] * units + rest
    if regime == "diagonal":
        pairs.sort(key=lambda pair: -pair[0])
        Q1 = Q2 = identity(n)
    elif regime == "nilpotent":
        # Unit i reads unit i + 1.
        Q1, Q2 = identity(n), permutation_matrix([(i + 1) % n for i in range(n)])
    else:
        kinds = ("identity", "signed", "cayley") if regime == "zero" else ("cayley",)
        Q1, Q2 = (orthogonal_matrix(draw.choice(kinds), n, draw) for _ in range(2))
    sigma, kappa = zip(*pairs, strict=True)
    return RationalContraction(Q1, sigma, kappa, Q2)


def singular_pair(regime: str, draw: random.Random) -> tuple[fmpq, fmpq]:
    """(σ, κ) of one singular value below 1."""
    if regime == "zero":
        return ZERO, ONE
    if regime == "near":
        p = draw.choice(NEAR)
        return fmpq(p * p - 1, p * p + 1), fmpq(2 * p, p * p + 1)
    return pythagorean(draw)
