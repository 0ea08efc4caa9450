"""A linear network and a linear unitary candidate, by their answers to a unit impulse.

The network answers C W^t f, the candidate E V^t g with an orthogonal V of m states, in rationals.
One candidate is the network itself, whose matrix is orthogonal for λ = 1 alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import reduce
from math import inf
from typing import Any

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat
from hypothesis import strategies as st

from rnnbounds.impl.convert.rational_unitary import norm_above
from rnnbounds.impl.numbers.ball_functions import float_above
from rnnbounds.impl.numbers.rationals import cayley, identity
from rnnbounds.properties.systems.drawing.choices import pick, seeds, spec_grid
from rnnbounds.properties.systems.kind import DrawRequest, Instances, Kind, cell_named
from rnnbounds.properties.systems.limits.exact_candidates import small_rational_matrix
from rnnbounds.properties.systems.limits.pairs import sheared_matrix
from rnnbounds.properties.systems.limits.sigmoid_pairs import PRECISION, spectral_radius_bound
from rnnbounds.properties.systems.spec import SystemSpec, spec_of
from rnnbounds.properties.systems.unitary.exact import (
    EXACT_LIMITS,
    ExactMember,
    Table,
    check_exact,
    member_random,
    recurrence_tables,
    upper_float,
)
from rnnbounds.properties.systems.unitary.linear import (
    join_columns,
    least_squares,
    matrix_entries,
    short_rational,
)
from rnnbounds.properties.systems.unitary.orthogonal import ONE, ZERO
from rnnbounds.properties.systems.unitary.route import ExactRoute

LATE = 64  # errors from this time on have one bound
SHEARED = fmpq(3, 5)  # the largest eigenvalue of a sheared W, so that it fades before LATE

Impulse = spec_of(
    "impulse", "n T K regime lam states", activation="identity", inputs="impulse",
    limits=EXACT_LIMITS | {"n": 4, "d": 1, "T": 32, "states": 33}, check=check_exact,
    regimes=("halfway", "cycle", "itself", "unrelated", "fitted"),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class LinearResponse:
    """C A^t v: A of its states, a column v that reads the input, a row C that is read."""

    A: fmpq_mat
    v: fmpq_mat
    C: fmpq_mat

    @property
    def is_orthogonal(self) -> bool:
        """True if AᵀA = I."""
        return bool(self.A.transpose() * self.A == identity(self.A.ncols()))

    def states(self, steps: int, made: Any = fmpq_mat) -> list[Any]:
        """A^t v for t < steps, in rationals, or in balls of the current precision."""
        A, found = made(self.A), [made(self.v)]
        while len(found) < steps:
            found.append(A * found[-1])
        return found

    def outputs(self, steps: int) -> list[fmpq]:
        """C A^t v for t < steps."""
        return [(self.C * v)[0, 0] for v in self.states(steps)]


@dataclass(frozen=True, eq=False)
class Responses(ExactMember):
    """A network and its candidate."""

    spec: SystemSpec
    network: LinearResponse
    candidate: LinearResponse
    parts: dict[str, fmpq_mat] = field(init=False)

    def __post_init__(self) -> None:
        one, two = self.network, self.candidate
        parts = {"W": one.A, "f_in": one.v, "C_out": one.C}
        object.__setattr__(self, "parts", parts | {"V": two.A, "g_in": two.v, "E_out": two.C})

    @property
    def error_bound(self) -> float:
        """At least |C W^t f − E V^t g| at all times; infinite where nothing is known.

        The difference obeys a recurrence of order n + m, and is 0 if its first values are. At times
        t ≥ LATE, ‖W^t f‖ is at most its largest value of LATE times if ‖W^LATE‖ ≤ 1, and |E V^t g|
        at most its largest of a period, or ‖E‖‖g‖.
        """
        network, candidate = self.network, self.candidate
        order = network.A.nrows() + candidate.A.nrows()
        if network.outputs(order) == candidate.outputs(order):
            return 0.0
        with ctx.workprec(PRECISION):
            is_fading = network.is_orthogonal or frobenius_ball(arb_mat(network.A) ** LATE) <= 1
            if not (is_fading and candidate.is_orthogonal):
                return inf
            h, u = (each.states(2 * LATE, arb_mat) for each in (network, candidate))
            C, E = arb_mat(network.C), arb_mat(candidate.C)
            gaps = [abs((C * a - E * b)[0, 0]) for a, b in zip(h[:LATE], u, strict=False)]
            candidate_bound = frobenius_ball(E) * frobenius_ball(u[0])
            period_states = candidate.states(candidate.A.nrows() + 1)
            if period_states[0] in period_states[1:]:
                candidate_bound = reduce(
                    arb.max, [abs((E * b)[0, 0]) for b in u[: len(period_states)]]
                )
            late_bound = (
                frobenius_ball(C) * reduce(arb.max, map(frobenius_ball, h[LATE:])) + candidate_bound
            )
            return float_above(reduce(arb.max, [*gaps, late_bound]))

    def tables(self) -> dict[str, Table]:
        """Both networks; the input is a unit impulse."""
        impulse = [[fmpq(t == 0)] for t in range(self.spec.T)]
        parts = {name: part.tolist() for name, part in self.parts.items()}
        W, U, C, W2, U2, C2 = (parts[name] for name in ("W", "f_in", "C_out", "V", "g_in", "E_out"))
        first = recurrence_tables(
            W, U, [ZERO] * len(W), [impulse] * len(self.spec.sequence_range), C=C
        )
        return first | {"W2": W2, "U2": U2, "b2": [ZERO] * len(W2), "C2": C2}

    def constants(self) -> dict[str, float]:
        """Bounds on the spectral radius of W, on ‖E‖ and on the error at all times."""
        return {
            "W_radius": spectral_radius_bound(self.network.A),
            "E_norm": upper_float(norm_above(matrix_entries(self.candidate.C))),
            "impulse_error": self.error_bound,
        }

    def parameters(self) -> dict[str, float]:
        """The candidate's states."""
        return {"states": float(self.candidate.A.nrows())}


def frobenius_ball(A: arb_mat) -> arb:
    """The Frobenius norm; of a vector the Euclidean one."""
    return sum((v * v for v in A.entries()), arb(0)).sqrt()


def impulse_member(spec: SystemSpec, member: int) -> Responses:
    """The member of an ``impulse`` spec, |eigenvalues| of W equal to ``lam`` unless it is sheared.

    halfway: half of the largest value at all times, with V = I. cycle: the first m values, again
    and again. itself: the network. fitted: the readout that is nearest in T steps, of any V and g.
    """
    draw, n, m, lam = (
        member_random(spec, member, "system"),
        spec.n,
        spec.states,
        short_rational(spec.lam),
    )
    is_sheared = lam < 1 and draw.random() < 0.5
    W = sheared_matrix(n, min(lam, SHEARED), draw) if is_sheared else cayley(n, draw) * lam
    network = LinearResponse(
        W, small_rational_matrix(draw, n, 1), small_rational_matrix(draw, 1, n)
    )
    first = network.outputs(max(m, spec.T + 1))
    first_unit = [[ONE if i == 0 else ZERO] for i in range(m)]
    match spec.regime:
        case "itself":
            candidate = network
        case "halfway":
            half = fmpq_mat(first_unit).transpose() * (max(first, key=abs) / 2)
            candidate = LinearResponse(identity(m), fmpq_mat(first_unit), half)
        case "cycle":
            shift = [[fmpq(j == (i + 1) % m) for j in range(m)] for i in range(m)]
            values = fmpq_mat([[v] for v in first[:m]])
            candidate = LinearResponse(fmpq_mat(shift), values, fmpq_mat(first_unit).transpose())
        case _:
            candidate = LinearResponse(
                cayley(m, draw),
                small_rational_matrix(draw, m, 1),
                small_rational_matrix(draw, 1, m),
            )
    if spec.regime == "fitted":
        state_matrix = join_columns(*candidate.states(spec.T + 1))
        targets = fmpq_mat([first[: spec.T + 1]])
        candidate = replace(candidate, C=least_squares(state_matrix, targets))
    return Responses(spec, network, candidate)


def worst_impulses() -> Iterator[SystemSpec]:
    """Every candidate of networks that forget, at once or slowly, and of one that does not."""
    yield from spec_grid(
        Impulse(T=6, K=6, batch=2, seed=3),
        {"n": (1, 2), "states": (1, 9)},
        {"lam": (0.0, 0.5, 0.9, 1.0)},
        {"regime": Impulse.regimes},
    )


@st.composite
def draw_impulse_spec(draw: st.DrawFn, wanted: DrawRequest) -> SystemSpec:
    """A network of up to four units, and one to nine states, or more than there are steps."""
    T = draw(pick((4, 8, 2, 1, 12, 16)))
    return Impulse(
        regime=draw(pick(Impulse.regimes)),
        n=draw(pick((1, 2, 3, 4))),
        T=T,
        K=T,
        lam=draw(pick((0.5, 0.9, 0.6, 0.0, 1.0, 0.75))),
        states=draw(pick((1, 2, 3, 4, T + 2, 8))),
        seed=draw(seeds()),
        batch=wanted.batch,
    )


IMPULSE = Kind(
    Impulse, draw_impulse_spec, ExactRoute(impulse_member), cell_named("linear"),
    Instances(worst_impulses),
)  # fmt: skip
