"""Norms that are printed of readouts, beside the norms of derivatives that they bound."""

from __future__ import annotations

import torch
from flint import arb, arb_mat, fmpq
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.models.normalisation import RMS, Normalisation
from rnnbounds.impl.models.reached import Reached
from rnnbounds.impl.models.readout import Linear, Readout
from rnnbounds.impl.numbers.outward import norm_up
from rnnbounds.properties.measures.certified.matrix_norms import MatrixNorm, ScaledNorm
from rnnbounds.properties.measures.certified.point import ModelPoint, RecomputedValue


def recomputed_readout(p: ModelPoint) -> dict[str, tuple[RecomputedValue, float]]:
    """The norm and the size that are printed of a readout C, and the norms of the chains Cᵀ tanh C
    and Cᵀ ν C, for ν(v) = v/√(‖v‖₂²/p + 1): their derivatives at 0 are CᵀC; that on a ball of
    Cᵀ tanh(C h + c), which is as steep at an h of the ball."""
    C = p.C
    first, back = Linear("C", C), Linear("D", C.mT)
    between = ACTIVATIONS["tanh"], Normalisation(RMS, 1.0, len(C))
    printed, chain, normalised = (
        Readout(stages).to_json()
        for stages in ((first,), *((first, stage, back) for stage in between))
    )
    at_zero = arb_mat(C.mT.tolist()) * arb_mat(C.tolist())
    pairs: dict[str, tuple[RecomputedValue, float]] = {
        "readout": (MatrixNorm(C), printed["norm"]),
        "outputs": (fmpq(len(C)), printed["outputs"]),
        "first stage": (MatrixNorm(C), chain["norms"][0]),
        "last stage": (MatrixNorm(C.mT), chain["norms"][2]),
        "chain": (ScaledNorm(at_zero), chain["norm"]),
        "normalised chain": (ScaledNorm(at_zero), normalised["norm"]),
    }
    return pairs | steepest_on_ball(C)


def steepest_on_ball(C: Tensor) -> dict[str, tuple[RecomputedValue, float]]:
    """Cᵀ diag(tanh′(C h + c)) C at h = (2, …, 2) and c ≈ −C h, and what bounds it on ‖h‖₂ ≤ 2√n:
    with the slopes, and the segments through one C and through all."""
    h = torch.full((C.shape[1],), 2.0, dtype=torch.float64)
    c = -(C.double() @ h)
    f = Readout((Linear("C", C, ("c", c)), ACTIVATIONS["tanh"], Linear("D", C.mT)))
    reached = Reached.within(f, float(norm_up(h)))
    exact, back = (arb_mat(one.tolist()) for one in (C, C.mT))
    at = exact * arb_mat([[2]] * len(h)) + arb_mat(c[:, None].tolist())
    slopes = arb_mat(len(C), len(C))
    for i in range(len(C)):
        slopes[i, i] = at[i, 0].sech() ** 2
    if reached is None:
        return {"chain on a ball": (ScaledNorm(back * slopes * exact), f.norm)}
    (low, high), segments = reached.bound.ranges[0], reached.bound.segments
    means, roots = arb_mat(len(C), len(C)), arb_mat(len(C), len(C))
    for i, (a, b) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        means[i, i], roots[i, i] = (arb(a) + arb(b)) / 2, ((arb(b) - arb(a)) / 2).sqrt()
    return {
        "chain on a ball": (ScaledNorm(back * slopes * exact), reached.bound.norm),
        "segment through all": (ScaledNorm(back * means * exact), segments[0][1]),
        "segment through one": (ScaledNorm(roots * exact), segments[0][0]),
        **{f"slope {i}": (slopes[i, i], one) for i, one in enumerate(high.tolist())},
    }
