"""Norms of states with their constants, and the data of a system that they are computed from.

The least window k of a truncated model, decided without rounding.

Source: Miller & Hardt, Lemma 1.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import torch
from flint import arb, ctx
from torch import Tensor

from rnnbounds.impl.format.fields import Bound, Stated
from rnnbounds.impl.norms.differences import DifferenceBounds
from rnnbounds.impl.norms.weighted import WeightedNorm, diagonal_scaling
from rnnbounds.impl.numbers.json_values import as_json
from rnnbounds.impl.numbers.outward import add_up, div_up, mul_up, norm_up, subtract_down

# scale·λᵏ = ε(1 − λ) for floats needs (odd part of λ)ᵏ ≤ 2¹⁰⁶, so balls of this size are exact at
# every tie.
_PRECISION = 320


@lru_cache(maxsize=1024)
def least_window(scale: float, lam: float, epsilon: float, radius: float = math.inf) -> int | None:
    """The least k ≥ 0 with min(scale/(1 − λ), radius)·λᵏ ≤ ε, for the floats as they are.

    scale ≥ 0 is the bound on ‖h‖₂ for λ = 0 (equivalence constant times drive), and radius ≥ 0 one
    for every λ; 0 ≤ λ < 1 and ε > 0. None if these are no such numbers, so that nothing is known.
    """
    if not (0 <= lam < 1 and 0 <= min(scale, radius) < math.inf):
        return None
    if math.isnan(scale) or math.isnan(radius):
        return None
    if lam == 0 or scale == 0:
        return 0 if min(scale, radius) <= epsilon else 1
    with ctx.workprec(_PRECISION):
        rate, target = arb(lam), arb(epsilon)
        starts = (arb(scale), target * (1 - rate)), (arb(radius), target)
        return min(_steps(*pair, rate) for pair in starts if pair[0] < math.inf)


def _steps(start: arb, target: arb, rate: arb) -> int:
    """The least k ≥ 0 with start·rateᵏ ≤ target."""
    if start.is_zero():
        return 0
    k = max(0, math.ceil(float((start / target).log() / -rate.log())))
    while k > 0 and start * rate ** (k - 1) <= target:
        k -= 1
    while not start * rate**k <= target:
        k += 1
    return k


@dataclass(frozen=True)
class StateNorm:
    """One norm ‖·‖_* on the state, with rigorous upper bounds (infinite where none is known).

    lam: the contraction factor in it. drive: sup ‖φ(0, x)‖_* over ‖x‖₂ ≤ B. equivalence: C with
    ‖h‖₂ ≤ C‖s‖_* for the output h of a state s. reach: c with ‖s‖_* ≤ c‖s‖₂. weights: v of
    max |s_i|/v_i, d of ‖(d_i s_i)‖₂, the rows of Q of ‖Qs‖₂, or w of max ‖s_b‖₂/w_b over the blocks
    of a gated cell's state; None for the plain norms. radius: a bound on ‖s_t‖_* for all t that
    needs no contraction. input_lipschitz: L with ‖φ(s, x) − φ(s, x′)‖_* ≤ L‖x − x′‖₂. remaining:
    the comparison from which λ is, if it is from one, and a start that holds all states.
    """

    name: str
    lam: float
    drive: float
    equivalence: float
    reach: float
    weights: tuple[float, ...] | tuple[tuple[float, ...], ...] | None = None
    radius: float = math.inf
    input_lipschitz: float = math.inf
    remaining: DifferenceBounds | None = field(default=None, repr=False, compare=False)

    @property
    def gain(self) -> float:
        """G with ‖h_T − h′_T‖₂ ≤ G δ for every T, for two runs from one state whose inputs are
        within δ of one another: C L/(1 − λ)."""
        margin = subtract_down(1.0, self.lam)
        product = mul_up(self.equivalence, self.input_lipschitz)
        return float(div_up(product, margin)) if margin > 0 else math.inf

    @cached_property
    def euclidean_bounds(self) -> tuple[float, float]:
        """(C S, C radius): the drive and the radius as bounds in the Euclidean norm."""
        sizes = torch.tensor([self.drive, self.radius], dtype=torch.float64)
        drive, radius = mul_up(self.equivalence, sizes).tolist()
        return drive, radius

    @cached_property
    def states(self) -> float:
        """At least ‖h_t‖₂ for all t: C times the least of S/(1 − λ) and the radius."""
        margin, (drive, radius) = subtract_down(1.0, self.lam), self.euclidean_bounds
        return min(float(div_up(drive, margin)) if margin > 0 else math.inf, radius)

    def constants(self, states: float) -> dict[str, float]:
        """The bound on ‖h_t‖₂ and the constants of the norm, by name."""
        return {
            "B_h": states,
            "drive": self.drive,
            "radius": self.radius,
            "equivalence": self.equivalence,
            "reach": self.reach,
        }

    @property
    def stated(self) -> Stated:
        """The norm with its constants, as a record states it."""
        weights = as_json(self.weights)
        ends = self.drive, self.equivalence, Bound(self.reach), Bound(self.radius)
        return Stated(self.name, self.lam, weights, *ends)

    def window(self, epsilon: float) -> int | None:
        """The least k with a bound on ‖h_T − h_T^k‖₂ of at most ε: C λᵏ times the bound on states,
        or the smaller one of `impl.norms.differences`; None if there is none."""
        k = self.geometric_window(epsilon)
        if k is not None and self.remaining is not None:
            return self.remaining.window(epsilon, k)
        return k

    def geometric_window(self, epsilon: float) -> int | None:
        """Find the least k with C λᵏ times the bound on states at most ε, or None."""
        drive, radius = self.euclidean_bounds
        return least_window(drive, self.lam, epsilon, radius)


@dataclass(frozen=True, eq=False)
class NormData:
    """Data of all norms: W (1, n, n), U (n, d), offset (n,) ≥ |ρ(b)|, B ≥ ‖x‖₂.

    slope: L_ρ. least: a lower bound on ρ′. retention: that of the units (n,), rounded up; 0 for
    vanilla cells. Other cells have W and U rounded once, and only the norms by diagonal weights,
    ‖D·‖₂. box: |h_i| ≤ box_i for all t by the range of the activations, (n,); None if unknown.
    first_states: |φ(0, x)_i| ≤ first_states_i over a set of inputs smaller than the ball,
    (n,); None for a ball.
    """

    W: Tensor
    U: Tensor
    offset: Tensor
    slope: float
    B: float
    least: float = -math.inf
    retention: Tensor | None = None
    box: Tensor | None = None
    first_states: Tensor | None = None

    @cached_property
    def input_lipschitz(self) -> Tensor:
        """L_ρ‖U_i‖₂, how far an input moves each unit, (n,)."""
        return mul_up(self.slope, norm_up(self.U))

    @cached_property
    def unit_drive(self) -> Tensor:
        """sup |φ(0, x)_i|, (n,)."""
        bound = add_up(mul_up(self.input_lipschitz, self.B), self.offset)
        return bound if self.first_states is None else torch.minimum(bound, self.first_states)

    @cached_property
    def scaling(self) -> WeightedNorm:
        """The diagonal weights, from which the dense norm starts too."""
        return diagonal_scaling(self.W)

    def drive_bound(self, ball: Tensor, size: Callable[[Tensor], Tensor]) -> float:
        """sup ‖φ(0, x)‖_* over the inputs: the bound for the ball, or for the smaller set in it."""
        return float(ball if self.first_states is None else ball.minimum(size(self.unit_drive)))

    def box_radius(self, size: Callable[[Tensor], Tensor]) -> float:
        """The largest norm in the box, at its corner: a bound on all states without contraction."""
        return math.inf if self.box is None else float(size(self.box))
