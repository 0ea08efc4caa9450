"""Bound on the rounding error of a whole run in a dtype, from that of a step and a comparison.

With ρ ≥ |φ̂(ŝ, x̂) − φ(ŝ, x̂)|, unit by unit, |φ(s, x) − φ(s′, x′)| ≤ max_r M_r |s − s′| +
N |x − x′| and block by block ‖φ(s, x) − φ(s′, x)‖₂ ≤ E ‖s − s′‖₂ for the states and inputs of both
runs, one step carries gaps with |e_i| ≤ v_i and ‖e_b‖₂ ≤ r_b to gaps within F(v, r):

    v′_i = ρ_i + (N |Δx|)_i + min(max_r (M_r v)_i, Σ_b ‖M_ib‖₂ r_b),
    r′_b = min(‖v′_b‖₂, ‖ρ_b + (N |Δx|)_b‖₂ + (E r)_b).

So if F(v, r) ≤ (v, r), as is checked with outward rounding, v and r bound the gap at all times by
induction, and as F is monotone so do F(v, r), F(F(v, r)) and the least of two such pairs. Both
(I − M)⁻¹ρ and (I − E)⁻¹‖ρ_b‖₂ are such pairs, proposed in floats; each is at most δ/(1 − λ) of any
norm max |s_i|/v_i or max ‖s_b‖₂/w_b in which the step contracts by λ.

ρ and the comparison hold on a box of the states of both runs. That is proposed, larger than that of
the exact states by r times their first gap; if the gap that is bounded on it is no more, then it
holds both at all times, by induction. Failing that a box is proved that the run does not leave, as
intervals are rounded. Sources: Higham, Accuracy and Stability, section 3.5; Berman & Plemmons,
Nonnegative Matrices, chapter 6.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.inputs.sets import InputBound, InputSet
from rnnbounds.impl.gradients.rounding import HEADROOM
from rnnbounds.impl.norms.comparison import Comparison
from rnnbounds.impl.norms.differences import proposed_point
from rnnbounds.impl.numbers.outward import add_up, mul_up, norm_up, rows_up

_SWEEPS = 64
HEADROOMS = (HEADROOM, 1.1, 1.5, 2.0, 4.0, 16.0)  # and in coarse dtypes by more


@dataclass(frozen=True)
class Rounding:
    """A bound on ‖fl(h_t) − h_t‖₂ for all t, unit by unit (n,) too if known, or why none is."""

    bound: float | None = None
    reason: str | None = None
    units: Tensor | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, eq=False)
class LayerInputs:
    """The inputs of a layer, as the run below computes them.

    input_error: ‖x̂ − x‖₂, how far they are from the exact ones; `units` of it (d,), if more is
    known. inputs: the bound or set that holds both. states: the box of the exact states under the
    exact inputs (1, N).
    """

    input_error: float
    inputs: InputBound
    states: Tensor | None = None
    units: Tensor | None = None

    @classmethod
    def of_outputs(
        cls, below: Rounding, B: float, box: Tensor | None, states: Tensor | None
    ) -> "LayerInputs":
        """By outputs ‖h‖₂ ≤ B, |h_i| ≤ box_i (n,) of a layer with a known rounding error."""
        assert below.bound is not None
        bound = float(add_up(B, below.bound))
        inputs: InputBound = bound
        if box is not None:
            sides = add_up(box, below.bound if below.units is None else below.units)
            inputs = InputSet(bound, -sides, sides, "the outputs of the layer below")
        return cls(below.bound, inputs, states, below.units)

    def moved(self, slopes: Tensor) -> Tensor:
        """At least N |x̂ − x| for slopes N (B, N, d): (B, N)."""
        moved = mul_up(norm_up(slopes), self.input_error)
        if self.units is None:
            return moved
        return torch.minimum(moved, rows_up(slopes, self.units.expand(len(slopes), -1)))


@dataclass(frozen=True, eq=False)
class RunGap:
    """|e_i| ≤ units_i (N,) and ‖e_b‖₂ ≤ blocks_b for the gap e of two runs, at all times."""

    units: Tensor
    blocks: Tensor

    def meet(self, other: "RunGap") -> "RunGap":
        """The least of two pairs of bounds."""
        return RunGap(
            torch.minimum(self.units, other.units), torch.minimum(self.blocks, other.blocks)
        )

    def within(self, other: "RunGap") -> bool:
        """True if no bound is larger than the other's."""
        return bool((self.units <= other.units).all() and (self.blocks <= other.blocks).all())


@dataclass(frozen=True, eq=False)
class StepBounds:
    """The bounds of a step on a box: its comparison, and local errors (N,) beside it.

    error: ρ, and what a difference of the inputs adds to it.
    """

    comparison: Comparison
    error: Tensor

    @cached_property
    def _matrices(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """M (R, N, N), the norms of the parts of its rows (N, blocks), E, and ‖ρ_b‖₂."""
        M, E = self.comparison.matrices[0].detach(), self.comparison.euclidean[0].detach()
        parts = norm_up(M.amax(0).reshape(len(self.error), len(E), -1))
        return M, parts, E, self._block_norms(self.error)

    def _block_norms(self, v: Tensor) -> Tensor:
        return norm_up(v.reshape(self.comparison.blocks, -1))

    def after(self, gap: RunGap) -> RunGap:
        """F(v, r), rounded up."""
        M, parts, E, error = self._matrices
        r = len(M)
        image = rows_up(M.reshape(1, -1, M.shape[2]), gap.units[None]).reshape(r, -1).amax(0)
        image = torch.minimum(image, rows_up(parts[None], gap.blocks[None])[0])
        units = add_up(self.error, image)
        blocks = add_up(error, rows_up(E[None], gap.blocks[None])[0])
        return RunGap(units, torch.minimum(blocks, self._block_norms(units)))

    @cached_property
    def gap(self) -> RunGap:
        """The least bounds that are found at all times; infinite where there are none."""
        gap = RunGap(*(torch.full_like(v, torch.inf) for v in (self.error, self._matrices[3])))
        for proposed in (self._by_units(), self._by_blocks()):
            if self.after(proposed).within(proposed):
                gap = gap.meet(proposed)
        for _ in range(_SWEEPS if bool(torch.isfinite(gap.units).all()) else 0):
            previous, gap = gap, gap.meet(self.after(gap))
            if bool((gap.blocks >= previous.blocks * (1 - 2.0**-10)).all()):
                break
        return gap

    def _by_units(self) -> RunGap:
        """(I − M)⁻¹ρ for the worst rows M of all matrices."""
        v = proposed_point(self._matrices[0], self.error)
        return RunGap(v, self._block_norms(v))

    def _by_blocks(self) -> RunGap:
        """(I − E)⁻¹‖ρ_b‖₂."""
        _, _, E, error = self._matrices
        r = proposed_point(E[None], error)
        return RunGap(r.repeat_interleave(self.comparison.width), r)


def run_error(
    step: Callable[[Tensor], RunGap],
    box: Tensor,
    run_box: Callable[[], Tensor],
    n: int,
) -> Rounding:
    """Bound on the rounding error of the output, the last n units, for the least box that is
    proved.

    step: bounds on the gap where both runs stay in a box. box: that of the exact states, (1, N).
    run_box: a box of both runs, whatever their gap.
    """
    gap = first = step(box)
    if not bool(torch.isfinite(first.units).all()):
        return Rounding(reason="a step may overflow, or its rounding has no known bound")
    for headroom in HEADROOMS:
        trial = torch.maximum(mul_up(first.units, headroom), mul_up(gap.units, HEADROOM))
        gap = step(add_up(box, trial))
        if bool((gap.units <= trial).all()):
            return _of_output(gap, n)
        if not bool(torch.isfinite(gap.units).all()):
            break
    gap = step(run_box())
    if not bool(torch.isfinite(gap.units).all()):
        return Rounding(reason="no contraction is certified on the states that rounding may reach")
    return _of_output(gap, n)


def _of_output(gap: RunGap, n: int) -> Rounding:
    units = gap.units[-n:]
    return Rounding(min(float(norm_up(units)), float(gap.blocks[-1])), units=units)


def dtype_of(name: str) -> torch.dtype:
    """Torch's dtype of that name."""
    dtype: torch.dtype = getattr(torch, name)
    return dtype
