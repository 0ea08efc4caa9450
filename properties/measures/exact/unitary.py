"""Unitary equivalents: gaps of outputs, defects and ranks of dilations, derivatives of states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import fmpq, fmpq_mat

from impl.numbers.rationals import defect_rank, identity
from properties.measures.exact.derivatives import (
    dh_dh_at_most,
    dh_dh_ball,
    dh_dh_ends,
    dh_dh_square,
)
from properties.measures.exact.rooted import counted, each_pair, rooted
from properties.measures.measure import Measure
from properties.measures.readings.needs import Needs
from properties.systems.unitary import gaps
from properties.systems.unitary.blocks import Block, multiplicity
from properties.systems.unitary.exact import square
from properties.systems.unitary.networks import Network


def size(A: fmpq_mat) -> fmpq:
    """‖A‖_F²."""
    return square(A.entries())


def of_network(square: Callable[[Network], fmpq]) -> Callable[[Any, int, int], fmpq | None]:
    """What only a network with a dilation has."""
    return lambda member, s, k: square(member) if isinstance(member, Network) else None


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
    rooted("unitary_defect", of_network(defect)).needing(MANY),
    rooted("unitary_defect_transposed", of_network(defect_transposed)),
    rooted("unitary_defect_short", of_network(defect_short)),
    counted("defect_rank", lambda member: defect_rank(recurrent(member))).needing(MANY),
    counted("W_rank", lambda member: int(recurrent(member).rank())),
    counted("multiplicity", eigenvalues(units=False)).needing(MANY),
    counted("multiplicity_any", eigenvalues(units=True)),
    Measure(
        "dh_dh",
        enclosure=lambda batch: each_pair(batch, dh_dh_ends, windows=True),
        balls=dh_dh_ball,
        square=dh_dh_square,
        at_most=dh_dh_at_most,
        needs=Needs(most=(16, 2)),
    ),
)
