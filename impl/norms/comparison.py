"""Certified bounds on gated cells, from a comparison of absolute values on an invariant box.

The state s stays in a box |s_i| ≤ box_i that contains 0, and there one step obeys

    |φ(s, x) − φ(s′, x)|_i ≤ max_r (M_r |s − s′|)_i    with non-negative matrices M_1, …, M_R,

row by row. So for every v > 0 with (M_r v)_i ≤ λ v_i for all r and i, the cell contracts by λ in
max |s_i|/v_i, and with the output h, the last n entries of s,

    ‖h_T − h_T^k‖₂ ≤ ‖v_h‖₂ λᵏ min(max box_i/v_i, S/(1 − λ)),    S = max sup |φ(0, x)_i|/v_i,

and at most the bound by the matrices themselves: `impl.norms.differences`.
The search for v need not be rigorous: the inequality is checked with outward rounding. The spectral
norm is max ‖s_b‖₂/w_b over the blocks s_b of the state, (c, h) say, for which a matrix of Euclidean
operator norms takes the place of M: it sees the signs of the weights. Sources:
Miller & Hardt, Proposition 1; Perron; Horn & Johnson, section 8.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.norms.differences import DifferenceBounds, LayerMatrices, initial_difference
from rnnbounds.impl.norms.norm_data import StateNorm
from rnnbounds.impl.norms.weighted import perron_vector
from rnnbounds.impl.numbers.outward import div_up, mul_up, norm_up, rows_up, subtract_down, sum_up
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm

_POLICIES = 8


@dataclass(frozen=True, eq=False)
class UnitNorms:
    """The norms max |s_i|/v_i of B systems, (B,) each; see `impl.norms.state_norms.StateNorm`."""

    lam: Tensor
    drive: Tensor
    equivalence: Tensor
    reach: Tensor
    radius: Tensor
    input_lipschitz: Tensor

    @property
    def states(self) -> Tensor:
        """At least ‖s_t‖ for all t: the least of S/(1 − λ) and the radius."""
        margin = subtract_down(1.0, self.lam).clamp(min=0.0)
        driven_bound = torch.where(margin > 0, div_up(self.drive, margin), math.inf)
        return torch.minimum(driven_bound, self.radius)


@dataclass(frozen=True, eq=False)
class Comparison:
    """The comparison of B systems: slopes (B, R, N, N + d), box and drive (B, N), all ≥ 0.

    |φ(s, x) − φ(s′, x′)| ≤ max_r slopes_r (|s − s′|, |x − x′|) on the box, row by row, and
    drive_i ≥ |φ(0, x)_i|. The state is made up of blocks of one size, the last of which is the
    output, or its last numbers alone, as many as `output` says unless that is 0; norms gives
    `euclidean` when it is first asked for.
    """

    slopes: Tensor
    box: Tensor
    drive: Tensor
    blocks: int
    norms: Callable[[], Tensor]
    output: int = 0

    @cached_property
    def euclidean(self) -> Tensor:
        """Comparison matrices of the blocks' Euclidean norms, (B, blocks, blocks)."""
        return self.norms()

    @property
    def matrices(self) -> Tensor:
        """How far states move a state, (B, R, N, N)."""
        return self.slopes[..., : self.box.shape[1]]

    @cached_property
    def inputs(self) -> Tensor:
        """How far inputs move a state, (B, N, d)."""
        return self.slopes[..., self.box.shape[1] :].amax(1)

    @property
    def width(self) -> int:
        """The size of a block."""
        return self.box.shape[1] // self.blocks

    @property
    def n(self) -> int:
        """The size of the output."""
        return self.output or self.width

    def image(self, v: Tensor) -> Tensor:
        """At least max_r M_r v: (B, N) -> (B, N)."""
        B, R, N, _ = self.matrices.shape
        return rows_up(self.matrices.reshape(B, R * N, N), v).reshape(B, R, N).amax(1)

    def factor(self, v: Tensor) -> Tensor:
        """At least the contraction factor in max |s_i|/v_i, for v > 0: (B, N) -> (B,)."""
        return div_up(self.image(v), v).amax(1)

    def implied_box(self) -> Tensor:
        """The box, with infinite sides replaced by v S/(1 − λ), below which every state stays that
        contracts by λ in max |s_i|/v_i: (B, N)."""
        is_bounded = torch.isfinite(self.box).all(1, keepdim=True)
        v = self.perron()
        gap = subtract_down(1.0, self.factor(v)).clamp(min=0.0)
        radius = div_up(div_up(self.drive, v).amax(1), gap)
        contracting = torch.minimum(self.box, mul_up(v, radius[:, None]))
        return torch.where(is_bounded, self.box, contracting)

    def infinity(self) -> Tensor:
        """Weights of the plain maximum norm, v = 1: (B, N)."""
        return torch.ones_like(self.box)

    def comparison(self) -> Tensor:
        """The v that is constant on each block, from the matrix of the blocks' largest row sums."""
        B, _, N, _ = self.matrices.shape
        rows = sum_up(self.matrices.amax(1).reshape(B, N, self.blocks, self.width))
        small = rows.reshape(B, self.blocks, self.width, self.blocks).amax(2)
        return perron_vector(small).weights.repeat_interleave(self.width, dim=1)

    def perron(self) -> Tensor:
        """v near the Perron vector of the matrix whose rows are the worst for it (by policies)."""
        M = self.matrices.amax(1)
        best = self.infinity()
        least_factor = self.factor(best)
        for _ in range(_POLICIES if self.matrices.shape[1] > 1 else 1):
            v = perron_vector(M).weights
            factor = self.factor(v)
            better = factor < least_factor
            best = torch.where(better[:, None], v, best)
            least_factor = torch.where(better, factor, least_factor)
            worst_rows = (self.matrices @ v[:, None, :, None]).argmax(1, keepdim=True)
            previous, M = M, self.matrices.take_along_dim(worst_rows, 1)[:, 0]
            if torch.equal(previous, M):  # the same rows once more
                break
        return best

    def norm(self, name: str) -> StateNorm:
        """The norm of that name with its constants, for a batch of one system."""
        if name == "spectral":
            return self._spectral(perron_vector(self.euclidean).weights[0])
        return self._weighted_norm(name, getattr(self, name)())

    def unit_norms(self, v: Tensor) -> "UnitNorms":
        """Bound λ and the constants of the norm max |s_i|/v_i of each system, v > 0: (B, N)."""
        return UnitNorms(
            lam=self.factor(v),
            drive=div_up(self.drive, v).amax(1),
            equivalence=norm_up(v[:, -self.n :]),
            reach=div_up(1.0, v.amin(1)),
            radius=div_up(self.box, v).amax(1),
            input_lipschitz=div_up(norm_up(self.inputs), v).amax(1),
        )

    def _weighted_norm(self, name: str, v: Tensor) -> StateNorm:
        norms = self.unit_norms(v)
        constants: dict[str, Any] = {
            constant.name: float(getattr(norms, constant.name)) for constant in fields(norms)
        }
        start = initial_difference(
            self.box[0], v[0], constants["drive"], constants["lam"], constants["radius"]
        )
        return StateNorm(
            name,
            **constants,
            weights=None if name == "infinity" else tuple(v[0].tolist()),
            remaining=DifferenceBounds((LayerMatrices(self.matrices[0].detach(), start),), self.n),
        )

    def _spectral(self, w: Tensor) -> StateNorm:
        drives, boxes = (norm_up(bounds[0].reshape(self.blocks, self.width))
                     for bounds in (self.drive, self.box))  # fmt: skip
        drive, radius = (float(div_up(bounds, w).amax()) for bounds in (drives, boxes))
        lam = float(div_up(rows_up(self.euclidean, w[None]), w).amax())
        reach, weights = float(div_up(1.0, w.amin())), tuple(w.tolist())
        input_norms = certified_norm(self.inputs.reshape(self.blocks, self.width, -1))
        input_lipschitz = float(div_up(input_norms, w).amax())
        layer = LayerMatrices(
            self.euclidean.detach(), initial_difference(boxes, w, drive, lam, radius)
        )
        return StateNorm(
            "spectral", lam, drive, weights[-1], reach, weights, radius,
            input_lipschitz=input_lipschitz, remaining=DifferenceBounds((layer,), 1),
        )  # fmt: skip
