"""Unitary equivalents: gaps of outputs, defects and ranks of dilations, derivatives of states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from flint import fmpq, fmpq_mat

from rnnbounds.impl.numbers.rationals import defect_rank, identity
from rnnbounds.properties.measures.exact.derivatives import dh_dh_at_most, jacobian, matrix_norm
from rnnbounds.properties.measures.exact.rooted import counted, of, rooted
from rnnbounds.properties.measures.measure import Measure
from rnnbounds.properties.measures.readings.needs import Needs
from rnnbounds.properties.systems.limits.candidates import Candidate
from rnnbounds.properties.systems.unitary import gaps
from rnnbounds.properties.systems.unitary.blocks import Block, multiplicity
from rnnbounds.properties.systems.unitary.exact import square
from rnnbounds.properties.systems.unitary.networks import Network


def size(A: fmpq_mat) -> fmpq:
    """‖A‖_F²."""
    return square(A.entries())


def defined(name: str, square: Callable[[Network], fmpq]) -> Measure:
    """What only a network with a dilation has."""
    return rooted(name, of(Network, lambda member, s, k: square(member)))


def defect(member: Network) -> fmpq:
    """‖VᵀV − I‖_F² of the minimal dilation."""
    V = member.V
    return size(V.transpose() * V - identity(V.nrows()))


def defect_transposed(member: Network) -> fmpq:
    """‖WᵀW + W_3ᵀW_3 − I‖_F² where W_3ᵀW_3 = I − WWᵀ."""
    W = member.rnn.W
    return size(W.transpose() * W - W * W.transpose())


def defect_short(member: Network) -> fmpq:
    """‖WᵀW + W_3ᵀW_3 − I‖_F² with the last added row left out; 0 where none was added."""
    n = member.rnn.W.nrows()
    kept = [row[:n] for row in member.V.tolist()]
    columns = fmpq_mat(kept[:-1] if len(kept) > n else kept)
    return size(columns.transpose() * columns - identity(n))


def recurrent(member: Any) -> fmpq_mat:
    """W of any exact member."""
    if isinstance(member, Block):
        return member.W
    if isinstance(member, Network | Candidate):
        return member.rnn.W
    return fmpq_mat([list(row) for row in member.tables()["W"]])


def eigenvalues(units: bool) -> Callable[[Any], int | None]:
    """The multiplicity of what a block has as eigenvalues."""
    return lambda member: multiplicity(member.W, units) if isinstance(member, Block) else None


FEW, MANY = Needs(most=(24, 2)), Needs(room=(48, 1))

MEASURES = (
    rooted("unitary_gap", gaps.gap(lambda m: m.bound)).needing(FEW),
    rooted("unitary_gap_unbiased", gaps.gap(lambda m: fmpq(0))).needing(FEW),
    rooted("unitary_gap_undamped", gaps.gap(gaps.undamped)).needing(FEW),
    rooted("unitary_gap_unstarted", gaps.gap(gaps.unstarted)).needing(FEW),
    rooted("unitary_gap_scant", gaps.gap(lambda m: m.bound * fmpq(99, 100))).needing(FEW),
    rooted("unitary_gap_beyond", gaps.beyond).needing(MANY),
    rooted("unitary_gap_rescaled", gaps.rescaled).needing(FEW),
    rooted("similar_gap", gaps.similar(relu=False)).needing(FEW),
    rooted("similar_gap_relu", gaps.similar(relu=True)).needing(FEW),
    defined("unitary_defect", defect).needing(MANY),
    defined("unitary_defect_transposed", defect_transposed),
    defined("unitary_defect_short", defect_short),
    counted("defect_rank", lambda member: defect_rank(recurrent(member))).needing(MANY),
    counted("W_rank", lambda member: int(recurrent(member).rank())),
    counted("multiplicity", eigenvalues(units=False)).needing(MANY),
    counted("multiplicity_any", eigenvalues(units=True)),
    replace(matrix_norm("dh_dh", jacobian), at_most=dh_dh_at_most, needs=Needs(most=(16, 2))),
)
