"""Unitary equivalents: gaps of outputs, what their dilations are not, derivatives of states."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from flint import arb, fmpq, fmpq_mat

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.numbers.rationals import identity, rational_matrix
from rnnbounds.properties.measures.exact.paths import (
    for_members,
    only_member,
    root_ends,
    root_path,
)
from rnnbounds.properties.measures.measure import FastPath
from rnnbounds.properties.measures.readings.balls import BallPair
from rnnbounds.properties.read import quantity
from rnnbounds.properties.read.entry_carriers import BALLS, RATIONALS
from rnnbounds.properties.read.ground_terms import Term
from rnnbounds.properties.read.reader import read
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.certified.fields import CertifiedRelu
from rnnbounds.properties.systems.certified.models import unitary_network
from rnnbounds.properties.systems.unitary import gaps
from rnnbounds.properties.systems.unitary.exact import rational, square_norm
from rnnbounds.properties.systems.unitary.networks import ReluNetwork
from rnnbounds.properties.systems.unitary.orthogonal import OrthogonalNetwork
from rnnbounds.theory.numbers.interval import Interval

BatchSquare = Callable[[Batch, int, int], fmpq | None]


def input_term(t: int) -> Term:
    """x_t."""
    return ("entry", ("x",), t)


def has_orthogonal_matrix(batch: Batch) -> bool:
    """True if derivatives are of networks with an orthogonal matrix."""
    return bool(batch.exact) and isinstance(batch.exact[0], OrthogonalNetwork | ReluNetwork)


def gap_path(name: str, square: gaps.Square) -> FastPath:
    """The gap between a network and another one, run in whole numbers over one denominator."""
    return root_path(name, for_members(ReluNetwork, square))


def transposed_defect_square(member: ReluNetwork) -> fmpq:
    """‖WᵀW + W_3ᵀW_3 − I‖_F² where W_3ᵀW_3 = I − WWᵀ."""
    W = member.rnn.W
    return square_norm((W.transpose() * W - W * W.transpose()).entries())


def is_state_derivative_at_most(batch: Batch, bound: fmpq, k: int) -> bool | None:
    """True if ‖∂s_T/∂s_{T−k}‖ is at most a rational; None if the derivatives leave it open.

    If some slopes are 1 and others irrational, no ball decides that a product of norm 1 has this
    norm. Its factors do: ‖D_t V‖ ≤ 1 if V is orthogonal in rationals and all slopes are at most 1,
    as balls or as the activation's certified L_ρ.
    """
    decided = quantity.is_at_most("dh_dh", batch, bound, k)
    member = only_member(batch)
    if decided is not None or not isinstance(member, OrthogonalNetwork) or bound < 1:
        return decided
    is_orthogonal = member.V.transpose() * member.V == identity(member.V.nrows())
    if not is_orthogonal or activation(member.spec.activation).slope <= 1:
        return True if is_orthogonal else None
    world, T = quantity.cached_world(batch, BALLS), batch.spec.T
    for t in range(T - k, T):
        s, x = (read(term, world) for term in (("state", ("x",), 0, t), input_term(t + 1)))
        from_input = world.plain.affine("weight_ih", "bias_ih", x)
        slopes = world.plain.slope(
            world.activation, from_input + world.plain.affine("weight_hh", None, s)
        )
        if not all(abs(d) <= 1 for (d,) in slopes.units):
            return None
    return True


def shipped_path(square: BatchSquare, name: str) -> FastPath:
    """The root of a rational of each pair of a model that ships with its unitary network."""

    def enclosure(batch: Batch) -> Interval:
        ends = np.full((2, batch.cell.batch, batch.x.shape[3], 1), np.nan)
        for i, s in np.ndindex(*ends.shape[1:3]):
            ends[:, i, s, 0] = root_ends(square(batch, i, s))
        return Interval(ends[0], ends[1])

    def ball(pair: BallPair, k: int) -> arb:
        pair_square = square(pair.batch, 0, 0)
        return arb("nan") if pair_square is None else arb(pair_square).sqrt()

    is_shipped: Callable[[Batch], bool] = lambda batch: batch.spec.kind == CertifiedRelu.kind  # noqa: E731
    return FastPath(name, is_shipped, None, enclosure, ball, lambda batch, k: square(batch, 0, 0))


def shipped_gap_square(batch: Batch, i: int, s: int) -> fmpq | None:
    """The largest ‖s_t − (h_t, 0)‖₂² of all steps."""
    unitary = unitary_network(batch.spec, batch.spec.members[i])
    if unitary is None:
        return None
    pair = batch.pair(i, s)
    world = quantity.cached_world(pair, RATIONALS)
    V, U = (rational_matrix(unitary.weights[f"weight_{name}_l0"]) for name in ("hh", "ih"))
    biases = (unitary.weights[f"bias_{name}_l0"].tolist() for name in ("ih", "hh"))
    b = [rational(p) + rational(q) for p, q in zip(*biases, strict=True)]
    state, largest = [rational(value) for value in unitary.initial.tolist()], fmpq(0)
    for t in range(1, pair.spec.T + 1):
        x = read(input_term(t), world).matrix
        driven = (V * fmpq_mat(len(state), 1, state) + U * x).entries()
        state = [max(a + c, fmpq(0)) for a, c in zip(driven, b, strict=True)]
        h = read(("state", ("x",), 0, t), world).matrix.entries()
        padded = [*h, *[fmpq(0)] * (unitary.states - unitary.n)]
        largest = max(largest, square_norm([p - q for p, q in zip(state, padded, strict=True)]))
    return largest


def shipped_defect_square(batch: Batch, i: int, s: int) -> fmpq | None:
    """‖VᵀV − I‖_F² of the shipped V."""
    unitary = unitary_network(batch.spec, batch.spec.members[i])
    if unitary is None:
        return None
    V = rational_matrix(unitary.weights["weight_hh_l0"])
    return square_norm((V.transpose() * V - identity(unitary.states)).entries())


FAST = (
    shipped_path(shipped_gap_square, "unitary_gap"),
    shipped_path(shipped_defect_square, "unitary_defect"),
    gap_path("unitary_gap", gaps.equivalent_gap(lambda m: m.state_bound)),
    gap_path("unitary_gap_unbiased", gaps.equivalent_gap(lambda m: fmpq(0))),
    gap_path("unitary_gap_undamped", gaps.equivalent_gap(gaps.undamped_bound)),
    gap_path("unitary_gap_unstarted", gaps.equivalent_gap(gaps.unstarted_bound)),
    gap_path("unitary_gap_scant", gaps.equivalent_gap(lambda m: m.state_bound * fmpq(99, 100))),
    gap_path("unitary_gap_beyond", gaps.beyond_bound_gap),
    gap_path("similar_gap", gaps.similar_gap(relu=False)),
    root_path(
        "similar_gap_relu", for_members(ReluNetwork, gaps.similar_gap(relu=True)),
        "its outputs are two symbols: no law is stated of them",
    ),
    root_path(
        "unitary_defect_transposed", for_members(ReluNetwork, lambda member,
        s: transposed_defect_square(member)),
        "W_3 is irrational, of a product that is known",
    ),
    FastPath("dh_dh", has_orthogonal_matrix, is_at_most=is_state_derivative_at_most),
)  # fmt: skip
