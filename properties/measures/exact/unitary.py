"""Unitary equivalents: gaps of outputs, what their dilations are not, derivatives of states."""

from __future__ import annotations

from flint import fmpq

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.numbers.rationals import identity
from rnnbounds.properties.measures.exact.paths import (
    for_members,
    only_member,
    root_path,
)
from rnnbounds.properties.measures.measure import FastPath
from rnnbounds.properties.read import quantity
from rnnbounds.properties.read.entry_carriers import BALLS
from rnnbounds.properties.read.ground_terms import Term
from rnnbounds.properties.read.reader import read
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.unitary import gaps
from rnnbounds.properties.systems.unitary.exact import square_norm
from rnnbounds.properties.systems.unitary.networks import ReluNetwork
from rnnbounds.properties.systems.unitary.orthogonal import OrthogonalNetwork


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


FAST = (
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
