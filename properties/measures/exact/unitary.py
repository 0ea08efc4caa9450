"""Unitary equivalents: gaps of outputs, what their dilations are not, derivatives of states."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from flint import arb, fmpq, fmpq_mat

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.numbers.rationals import identity, rational_matrix
from rnnbounds.properties.measures.exact.rooted import alone, counted, of, root_ends, rooted
from rnnbounds.properties.measures.measure import FastPath
from rnnbounds.properties.measures.readings.balls import BallPair
from rnnbounds.properties.read import quantity
from rnnbounds.properties.read.entries import BALLS, RATIONALS
from rnnbounds.properties.read.ground import Term
from rnnbounds.properties.read.reader import read
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.certified.fields import CertifiedRelu
from rnnbounds.properties.systems.certified.models import equivalent
from rnnbounds.properties.systems.unitary import gaps
from rnnbounds.properties.systems.unitary.blocks import Block, multiplicity
from rnnbounds.properties.systems.unitary.exact import rational, square
from rnnbounds.properties.systems.unitary.networks import Network
from rnnbounds.properties.systems.unitary.orthogonal import Recurrent
from rnnbounds.theory.numbers.interval import Interval

Of = Callable[[Batch, int, int], fmpq | None]


def entry(t: int) -> Term:
    """x_t."""
    return ("entry", ("x",), t)


def of_orthogonal(batch: Batch) -> bool:
    """True if derivatives are of networks with an orthogonal matrix."""
    return bool(batch.exact) and isinstance(batch.exact[0], Recurrent | Network)


def gap(name: str, square: gaps.Square) -> FastPath:
    """The gap between a network and another one, run in whole numbers over one denominator."""
    return rooted(name, of(Network, square))


def defect_transposed(member: Network) -> fmpq:
    """‖WᵀW + W_3ᵀW_3 − I‖_F² where W_3ᵀW_3 = I − WWᵀ."""
    W = member.rnn.W
    return square((W.transpose() * W - W * W.transpose()).entries())


def nonexpansive(batch: Batch, bound: fmpq, k: int) -> bool | None:
    """True if ‖∂s_T/∂s_{T−k}‖ is at most a rational; None if the derivatives leave it open.

    If some slopes are 1 and others irrational, no ball decides that a product of norm 1 has this
    norm. Its factors do: ‖D_t V‖ ≤ 1 if V is orthogonal in rationals and all slopes are at most 1,
    as balls or as the activation's certified L_ρ.
    """
    known = quantity.at_most("dh_dh", batch, bound, k)
    member = alone(batch)
    if known is not None or not isinstance(member, Recurrent) or bound < 1:
        return known
    orthogonal = member.V.transpose() * member.V == identity(member.V.nrows())
    if not orthogonal or activation(member.spec.activation).slope <= 1:
        return True if orthogonal else None
    here, T = quantity.world(batch, BALLS), batch.spec.T
    for t in range(T - k, T):
        s, x = (read(term, here) for term in (("state", ("x",), 0, t), entry(t + 1)))
        fed = here.plain.affine("weight_ih", "bias_ih", x)
        slopes = here.plain.slope(here.activation, fed + here.plain.affine("weight_hh", None, s))
        if not all(abs(d) <= 1 for (d,) in slopes.units):
            return None
    return True


def shipped(square: Of, name: str) -> FastPath:
    """The root of a rational of each pair of a model that ships with its unitary network."""

    def enclosure(batch: Batch) -> Interval:
        ends = np.full((2, batch.cell.batch, batch.x.shape[3], 1), np.nan)
        for i, s in np.ndindex(*ends.shape[1:3]):
            ends[:, i, s, 0] = root_ends(square(batch, i, s))
        return Interval(ends[0], ends[1])

    def ball(pair: BallPair, k: int) -> arb:
        found = square(pair.batch, 0, 0)
        return arb("nan") if found is None else arb(found).sqrt()

    where: Callable[[Batch], bool] = lambda batch: batch.spec.kind == CertifiedRelu.kind  # noqa: E731
    return FastPath(name, where, None, enclosure, ball, lambda batch, k: square(batch, 0, 0))


def shipped_gap(batch: Batch, i: int, s: int) -> fmpq | None:
    """The largest ‖s_t − (D h_t, 0)‖₂² of all steps."""
    made = equivalent(batch.spec, batch.spec.members[i])
    if made is None:
        return None
    pair = batch.pair(i, s)
    here = quantity.world(pair, RATIONALS)
    V, U = (rational_matrix(made.weights[f"weight_{name}_l0"]) for name in ("hh", "ih"))
    biases = (made.weights[f"bias_{name}_l0"].tolist() for name in ("ih", "hh"))
    b = [rational(p) + rational(q) for p, q in zip(*biases, strict=True)]
    D = [rational(d) for d in made.scaling.tolist()]
    state, worst = [rational(value) for value in made.initial.tolist()], fmpq(0)
    for t in range(1, pair.spec.T + 1):
        x = read(entry(t), here).matrix
        moved = (V * fmpq_mat(len(state), 1, state) + U * x).entries()
        state = [max(a + c, fmpq(0)) for a, c in zip(moved, b, strict=True)]
        h = read(("state", ("x",), 0, t), here).matrix.entries()
        scaled = [d * a for d, a in zip(D, h, strict=True)] + [fmpq(0)] * (made.states - made.n)
        worst = max(worst, square([p - q for p, q in zip(state, scaled, strict=True)]))
    return worst


def shipped_defect(batch: Batch, i: int, s: int) -> fmpq | None:
    """‖VᵀV − I‖_F² of the shipped V."""
    made = equivalent(batch.spec, batch.spec.members[i])
    if made is None:
        return None
    V = rational_matrix(made.weights["weight_hh_l0"])
    return square((V.transpose() * V - identity(made.states)).entries())


EIGENVALUES = "it counts eigenvalues, by the factors of a characteristic polynomial"
FAST = (
    shipped(shipped_gap, "unitary_gap"),
    shipped(shipped_defect, "unitary_defect"),
    gap("unitary_gap", gaps.gap(lambda m: m.bound)),
    gap("unitary_gap_unbiased", gaps.gap(lambda m: fmpq(0))),
    gap("unitary_gap_undamped", gaps.gap(gaps.undamped)),
    gap("unitary_gap_unstarted", gaps.gap(gaps.unstarted)),
    gap("unitary_gap_scant", gaps.gap(lambda m: m.bound * fmpq(99, 100))),
    gap("unitary_gap_beyond", gaps.beyond),
    gap("unitary_gap_rescaled", gaps.rescaled),
    gap("similar_gap", gaps.similar(relu=False)),
    rooted(
        "similar_gap_relu", of(Network, gaps.similar(relu=True)),
        "its outputs are two symbols: no law is stated of them",
    ),
    rooted(
        "unitary_defect_transposed", of(Network, lambda member, s: defect_transposed(member)),
        "W_3 is irrational, of a product that is known",
    ),
    counted("multiplicity", Block, lambda m: multiplicity(m.W, False), EIGENVALUES),
    counted("multiplicity_any", Block, lambda m: multiplicity(m.W, True), EIGENVALUES),
    FastPath("dh_dh", of_orthogonal, at_most=nonexpansive),
)  # fmt: skip
