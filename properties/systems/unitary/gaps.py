"""A network's outputs against those of its unitary equivalent, and of tempting ones, exactly.

Source: Emami et al., Theorem 3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flint import fmpq, fmpq_mat

from rnnbounds.impl.convert.rational_unitary import RationalRNN, equivalent, norm_above
from rnnbounds.impl.numbers.rationals import RationalContraction, identity
from rnnbounds.impl.numbers.unreduced import Unreduced
from rnnbounds.properties.systems.unitary.exact import matrix_vector, rational
from rnnbounds.properties.systems.unitary.networks import ReluNetwork
from rnnbounds.properties.systems.unitary.orthogonal import ZERO

Square = Callable[[ReluNetwork, int], fmpq | None]


def largest_gap_square(C: fmpq_mat, one: Sequence[Unreduced], other: Sequence[Unreduced]) -> fmpq:
    """max_t ‖C (h_t − p_t)‖², p_t the leading entries of the other states."""
    gaps = [h - p.first_rows(C.ncols()) for h, p in zip(one, other, strict=True)]
    seen = (Unreduced.of(C) @ gap for gap in gaps if not gap.zero)
    return max((gap.square for gap in seen), default=ZERO)


def equivalent_gap(bound: Callable[[ReluNetwork], fmpq | None]) -> Square:
    """The largest gap with the added biases that a bound on the states gives."""

    def reading(member: ReluNetwork, s: int) -> fmpq | None:
        limit = bound(member)
        if limit is None:
            return None
        return largest_gap_square(
            member.C, member.states[s], member.unitary_network(limit).run(member.x[s])
        )

    return reading


def undamped_bound(member: ReluNetwork) -> fmpq:
    """max(‖h_{−1}‖, S_0): the 1/(1 − λ) is forgotten."""
    return max(norm_above(member.rnn.initial), member.drive_bound)


def unstarted_bound(member: ReluNetwork) -> fmpq | None:
    """S_0/(1 − λ): the initial state is forgotten."""
    return None if member.lam == 1 else member.drive_bound / (1 - member.lam)


def beyond_bound_gap(member: ReluNetwork, s: int) -> fmpq | None:
    """The scalar network W = λ, U = 1, b = 0 and its URNN for inputs up to B, on the inputs
    2B/(1 − λ), 0, 0, …"""
    if member.lam == 1:
        return None
    C, B = member.contraction, rational(member.spec.scale)
    place = C.sigma.index(member.lam)
    scalar = RationalContraction(identity(1), (C.sigma[place],), (C.kappa[place],), identity(1))
    network, other = equivalent(scalar, identity(1), (ZERO,), (ZERO,), B)
    x = [(2 * B / (1 - member.lam),), *[(ZERO,)] * (member.spec.T - 1)]
    return largest_gap_square(identity(1), network.run(x), other.run(x))


def similar_gap(relu: bool) -> Square:
    """‖C h_T − C T⁻¹ g_T‖² of the network and the one of T W T⁻¹, T unit lower triangular."""

    def reading(member: ReluNetwork, s: int) -> fmpq:
        n, network = len(member.rnn.b), member.rnn
        T = fmpq_mat([[fmpq(int(i >= j)) for j in range(n)] for i in range(n)])
        back = T.inv()
        other = RationalRNN(
            T * network.W * back,
            T * network.U,
            matrix_vector(T, network.b),
            matrix_vector(T, network.initial),
        )
        h, g = (one.run(member.x[s], relu)[-1] for one in (network, other))
        return largest_gap_square(member.C, [h], [Unreduced.of(back) @ g])

    return reading
