"""Contractive ReLU networks with rational dilations and their unitary equivalents, and networks
that an orthogonal matrix drives.

Source: Emami et al., section 2 and Theorem 3.1.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from flint import fmpq, fmpq_mat
from hypothesis import strategies as st
from msgspec.structs import replace

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS, activation
from rnnbounds.impl.convert.rational_unitary import RationalRNN, norm_above, state_bound, to_unitary
from rnnbounds.impl.numbers.rationals import (
    RationalContraction,
    Unreduced,
    cayley,
    identity,
    pythagorean,
)
from rnnbounds.properties.systems.exact.members import (
    EXACT_LIMITS,
    ExactMember,
    Table,
    Vector,
    check_exact,
    matrix_vector,
    member_random,
    rational,
    recurrence_tables,
    upper_float,
)
from rnnbounds.properties.systems.exact.networks import exact_networks
from rnnbounds.properties.systems.exact.rational_draws import (
    ONE,
    ZERO,
    draw_biases,
    draw_input_sequences,
    orthogonal_matrix,
    random_isometry,
    scale_vector,
    unit_vector,
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
from rnnbounds.properties.systems.spec import INPUTS, SystemSpec, spec_of

NEAR = (4, 16, 100, 1000)
BEYOND = 64  # inputs beyond their bound B are as large as this many bounds on states for S_0 = B


@dataclass(frozen=True, eq=False)
class ReluNetwork(ExactMember):
    """h_t = ReLU(W h_{t−1} + U x_t + b) from h_{−1} with y = C h, and V ⊃ W for ‖x_t‖ ≤ B, which an
    ``impulse`` exceeds.

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

    @property
    def parts(self) -> dict[str, fmpq_mat]:
        """W and V, by their names in theory."""
        return {"W": self.rnn.W, "V": self.V}

    @cached_property
    def equivalent(self) -> RationalRNN:
        """The unitary equivalent for inputs up to B."""
        return to_unitary(self.rnn, self.V, self.state_bound)

    def gap_square(self, s: int) -> fmpq:
        """The largest ‖C (h_t − p_t)‖² of a sequence, p_t the leading entries of the equivalent's
        states."""
        return largest_gap_square(self.C, self.rnn.run(self.x[s]), self.equivalent.run(self.x[s]))

    def similar_gap_square(self, s: int) -> fmpq:
        """‖C h_T − C T⁻¹ g_T‖² without the activation, g the states of the network of T W T⁻¹, T
        unit lower triangular."""
        n, network = len(self.rnn.b), self.rnn
        T = fmpq_mat([[fmpq(int(i >= j)) for j in range(n)] for i in range(n)])
        back = T.inv()
        b, initial = (matrix_vector(T, v) for v in (network.b, network.initial))
        similar = RationalRNN(T * network.W * back, T * network.U, b, initial)
        h, g = (one.run(self.x[s], False)[-1] for one in (network, similar))
        return largest_gap_square(self.C, [h], [Unreduced.of(back) @ g])

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
        """The rows of V, and 1 if the inputs are within their bound."""
        within = self.spec.inputs != "impulse"
        return {"states": float(self.V.nrows()), "within": float(within)}


def largest_gap_square(C: fmpq_mat, one: Sequence[Unreduced], other: Sequence[Unreduced]) -> fmpq:
    """max_t ‖C (h_t − p_t)‖², p_t the leading entries of the other states."""
    gaps = [h - p.first_rows(C.ncols()) for h, p in zip(one, other, strict=True)]
    seen = (Unreduced.of(C) @ gap for gap in gaps if not gap.zero)
    return max((gap.square for gap in seen), default=ZERO)


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
    x = draw_input_sequences(spec, member)
    if spec.inputs == "impulse":
        factor = BEYOND / (1 - W.norm) if W.norm < 1 else fmpq(BEYOND)
        x = [[scale_vector(factor, v) for v in sequence] for sequence in x]
    return ReluNetwork(spec, W, RationalRNN(W.W, U, b, initial), C, drive, x)


def draw_contraction(regime: str, n: int, units: int, draw: random.Random) -> RationalContraction:
    """W = Q_1 Σ Q_2 with ``units`` singular values 1 and Pythagorean others.

    zero: W = 0 up to the units; diagonal: Q_1 = Q_2 = I, the largest σ first; near: σ near 1.
    """
    pairs = [(ONE, ZERO)] * units + [singular_pair(regime, draw) for _ in range(n - units)]
    if regime == "diagonal":
        pairs.sort(key=lambda pair: -pair[0])
        Q1 = Q2 = identity(n)
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


@dataclass(frozen=True, eq=False)
class OrthogonalNetwork(ExactMember):
    """s_t = ρ(V s_{t−1} + U x_t + b) from s_{−1}, V orthogonal: the kind ``urnn``."""

    spec: SystemSpec
    V: fmpq_mat
    U: fmpq_mat
    b: Vector
    initial: Vector
    x: list[list[Vector]]

    def tables(self) -> dict[str, Table]:
        """The network, its inputs and where it starts."""
        start = [self.initial] * len(self.x)
        return recurrence_tables(self.V.tolist(), self.U.tolist(), self.b, self.x, start)

    def constants(self) -> dict[str, float]:
        """‖V‖ = 1 exactly, so that λ is the activation's slope."""
        slope = activation(self.spec.activation).slope
        return {"L_rho": slope, "lam": slope, "W_norm": 1.0, "B_x": self.spec.scale}

    def parameters(self) -> dict[str, float]:
        """The rows of V."""
        return {"states": float(self.V.nrows())}


def recurrent_member(spec: SystemSpec, member: int) -> OrthogonalNetwork:
    """The member of a ``urnn`` spec: V, b and s_{−1} of size ``start`` have ``n`` rows."""
    draw = member_random(spec, member, "system")
    V = orthogonal_matrix(spec.regime, spec.n, draw)
    U = random_isometry(spec.n, spec.d, draw, draw.choice(("identity", "cayley")))
    initial = scale_vector(rational(spec.start), unit_vector(spec.n, draw))
    return OrthogonalNetwork(
        spec, V, U, draw_biases(spec, spec.n, draw), initial, draw_input_sequences(spec, member)
    )


Unitary = spec_of(
    "unitary", "n d T regime inputs scale bias start units", activation="relu",
    limits=EXACT_LIMITS, check=check_exact, regimes=("zero", "diagonal", "pythagorean", "near"),
)  # fmt: skip
Urnn = spec_of(
    "urnn", "activation n d T K regime inputs scale bias start", limits=EXACT_LIMITS,
    check=check_exact, regimes=("identity", "signed", "cayley"),
)  # fmt: skip
NETWORK_SPEC = Unitary(regime="diagonal", inputs="resonant", T=4)
URNN_SPEC = Urnn(activation="relu", regime="identity", inputs="zero", T=3, K=3)

NETWORKS: dict[str, SystemSpec] = {
    # A constant drive: the states come near B_h, and a bias for a hundredth less lets them through.
    "slow-drive": replace(NETWORK_SPEC, T=24, seed=2, bias=0.5, batch=4),
    "far-start": replace(NETWORK_SPEC, start=50.0, regime="pythagorean", n=2, batch=8),
    # W = 0: V swaps the states with the added ones, up to rotations.
    "swap": replace(NETWORK_SPEC, regime="zero", n=2, d=2, bias=0.5, batch=4),
    # Inputs beyond their bound turn an added unit on, which is seen two steps later.
    "beyond-the-bound": replace(NETWORK_SPEC, inputs="impulse", batch=16),
}
RECURRENT: dict[str, SystemSpec] = {
    # All units active: every product is orthogonal.
    "all-active": replace(URNN_SPEC, n=3, activation="identity", regime="cayley", batch=4),
}


def worst_unitary() -> Iterator[SystemSpec]:
    """Every constructor with small and large starts, and singular values that are 1."""
    yield from NETWORKS.values()
    yield from spec_grid(
        replace(NETWORK_SPEC, bias=0.5, batch=4),
        {"regime": Unitary.regimes},
        {"n": (1, 2, 3), "start": (0.0, 8.0, 0.0)},
        {"inputs": ("saturating", "gaussian"), "seed": (0, 1)},
    )
    base = replace(NETWORK_SPEC, regime="pythagorean", inputs="gaussian", batch=4)
    yield from spec_grid(base, {"n": (2, 3, 2), "units": (1, 2, 2)})


def worst_recurrent() -> Iterator[SystemSpec]:
    """Every activation at rest, where the slope is largest, and away from it."""
    yield from RECURRENT.values()
    for name in sorted(ACTIVATIONS):
        base = replace(URNN_SPEC, activation=name, n=2)
        away = replace(base, regime="cayley", inputs="gaussian", bias=1.0, batch=4)
        yield from spec_grid(away, {"scale": (0.0625, 2.0)})
        yield replace(base, regime="signed", batch=2)


BIASES = (0.5, 0.0, 2.0)
SCALES = (1.0, 0.25, 4.0)


@st.composite
def draw_unitary_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """A contractive ReLU network, one in eight with singular values that are 1."""
    n = draw(pick((2, 1, 3, 4, 2, 3, 6, 8)))
    choices = draw_choices(
        draw, regime=("pythagorean", *Unitary.regimes), inputs=INPUTS, d=(1, 2),
        T=(3, 5, 1, 8, 4, 16), scale=SCALES, bias=BIASES, start=(0.0, 1.0, 0.0, 50.0, 0.125),
    )  # fmt: skip
    units = min(n, draw(pick((0, 0, 0, 0, 0, 0, 0, 1))))
    return Unitary(
        n=n, units=units, seed=draw(seeds()), batch=wanted.batch, sequences=wanted.sequences,
        **choices,
    )  # fmt: skip


@st.composite
def draw_urnn_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """A network with an orthogonal recurrent matrix and any activation: few, as rationals and balls
    read them one by one."""
    T = draw(pick((3, 5, 2, 1)))
    choices = draw_choices(
        draw, activation=("relu", "identity", "tanh", *sorted(ACTIVATIONS)),
        regime=("cayley", *Urnn.regimes), inputs=INPUTS, n=(2, 3, 1, 4, 2, 3, 4, 6), d=(1, 2),
        scale=SCALES, bias=BIASES, start=(0.0, 1.0, 0.125),
    )  # fmt: skip
    return Urnn(
        T=T, K=T, seed=draw(seeds()), batch=min(wanted.batch, 8), sequences=wanted.sequences,
        **choices,
    )  # fmt: skip


KINDS = (
    Kind(
        Unitary, draw_unitary_spec, partial(exact_networks, network_member), vanilla_cell,
        worst_unitary, is_contractive=True, family="exact",
    ),
    Kind(
        Urnn, draw_urnn_spec, partial(exact_networks, recurrent_member), vanilla_cell,
        worst_recurrent, family="exact",
    ),
)  # fmt: skip
