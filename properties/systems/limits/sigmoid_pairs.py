"""A sigmoid network with a unitary candidate: how far apart they are, and what is known of both."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from flint import arb, arb_mat, ctx, fmpq_mat

from rnnbounds.properties.systems.limits.gap_bounds import is_relu_equivalent, tanh_gap_bound
from rnnbounds.properties.systems.limits.lumping import is_same_map
from rnnbounds.properties.systems.limits.sigmoid import SigmoidNetwork, probe_inputs
from rnnbounds.properties.systems.unitary.exact import (
    ExactMember,
    Table,
    nearest_float,
    recurrence_tables,
    upper_float,
)

# Balls at these precisions, until the gap is told from 0.
PRECISIONS = (64, 128, 256, 512, 1024)
# The spectral radius is bounded by the powers W^(2^p) up to this p, in balls.
SQUARINGS, PRECISION = 9, 256


@dataclass(frozen=True, eq=False)
class SigmoidPair(ExactMember):
    """A network of n units and a unitary one of ``states`` units."""

    network: SigmoidNetwork
    candidate: SigmoidNetwork

    @cached_property
    def is_same_map(self) -> bool:
        """True if lumping proves equal outputs of both networks for all inputs at all times."""
        one, other = self.network.as_tanh, self.candidate.as_tanh
        return {one.activation, other.activation} == {"tanh"} and is_same_map(one, other)

    @cached_property
    def is_equal(self) -> bool:
        """True if both outputs are proved equal at all times, for all inputs |x| ≤ BOUND."""
        return self.is_same_map or is_relu_equivalent(self.network, self.candidate)

    def ball_gap(self) -> arb:
        """max |y − ŷ| over the probes in balls of the current precision."""
        if self.is_equal:
            return arb(0)
        both = zip(self.network.as_tanh.outputs(), self.candidate.as_tanh.outputs(), strict=True)
        gaps = [gap for y, z in both for gap in (y - z).entries()]
        return reduce(arb.max, map(arb.abs_lower, gaps)).union(
            reduce(arb.max, map(arb.abs_upper, gaps))
        )

    def gap_bound(self) -> arb:
        """At least |y − ŷ| at all times for all inputs |x| ≤ BOUND; NaN where nothing is known."""
        if self.is_equal:
            return arb(0)
        one, other = self.network.as_tanh, self.candidate.as_tanh
        known = {one.activation, other.activation} == {"tanh"}
        return tanh_gap_bound(one, other) if known else arb("nan")

    @cached_property
    def probe_gap(self) -> arb:
        """Output gap at the probes, at the first precision that separates it from 0, if any."""
        ball = arb(0)
        for precision in PRECISIONS:
            with ctx.workprec(precision):
                ball = self.ball_gap()
            if ball > 0 or ball.is_exact():
                break
        return ball

    def tables(self) -> dict[str, Table]:
        """Both networks; x holds the first probe."""
        one, other = self.network, self.candidate
        U, x, start = [[v] for v in one.g], [[[v] for v in probe_inputs()[0]]], [list(one.start)]
        found = recurrence_tables(one.V.tolist(), U, list(one.d), x, start, start, [list(one.e)])
        return found | {
            "W2": other.V.tolist(), "U2": [[v] for v in other.g], "b2": list(other.d),
            "C2": [list(other.e)], "e0": [other.e0], "start2": list(other.start),
            "probes": [list(x) for x in probe_inputs()],
        }  # fmt: skip

    def dump_tables(self) -> dict[str, Table]:
        """Add the names of both activations to `tables`."""
        both = [self.network.activation, self.candidate.activation]
        return self.tables() | {"activations": both}

    def constants(self) -> dict[str, float]:
        """A bound on the spectral radius of W."""
        return {"W_radius": spectral_radius_bound(self.network.V)}

    def parameters(self) -> dict[str, float]:
        """m, |w| of a scalar network, whether the activations are the same and sigmoids, and
        whether the output is bound to depend on the latest input."""
        one, other = self.network, self.candidate
        sigmoidal = {one.activation, other.activation} <= {"tanh", "sigmoid"}
        parts = [c * f for c, f in zip(one.e, one.g, strict=True)]
        scalar = {"w_abs": nearest_float(abs(one.V[0, 0]))} if len(one.d) == 1 else {}
        return scalar | {
            "states": float(len(other.d)),
            "same_activation": float(one.activation == other.activation),
            "sigmoidal": float(sigmoidal),
            "driven": float((min(parts) < 0) != (max(parts) > 0)),
        }


def spectral_radius_bound(W: fmpq_mat) -> float:
    """An upper bound on max |eigenvalue|: the least ‖W^k‖₂^(1/k) for powers of two k, where ‖A‖₂²
    is at most the largest absolute row sum of AᵀA. Source: Gelfand."""
    if W.nrows() == 1:
        return upper_float(abs(W[0, 0]))
    found = np.inf
    with ctx.workprec(PRECISION):
        A = arb_mat(W)
        for p in range(SQUARINGS + 1):
            sums = [sum((abs(v) for v in row), arb(0)) for row in (A.transpose() * A).tolist()]
            largest = max(v.upper() for v in sums)
            bound = largest.root(2 ** (p + 1)).upper()
            found = min(found, float(np.nextafter(float(bound), np.inf)))
            A = A * A
    return found
