"""A cascade of contractions is one: the norm of a stack, and its factor.

Let layer l contract by λ_l in ‖·‖_l, and let its inputs move it by μ_l in it, as much as the states
of the layer below move in theirs:

    ‖Δs^l⁺‖_l ≤ λ_l ‖Δs^l‖_l + μ_l ‖Δs^{l−1}⁺‖_{l−1}.

Then the stack contracts by Λ = max Λ_l in max ‖s^l‖_l/t_l for all t > 0, with Λ_1 = λ_1 and

    Λ_l = λ_l + μ_l Λ_{l−1} t_{l−1}/t_l,

and Λ is as close to max λ_l as the lower t are small; but what lower layers start from is large in
such a norm. Of many t, each made for one Λ, that with the shortest window is taken. What is found
is checked, rounded up. Sources: Miller & Hardt, Lemma 1; Michel & Miller, Qualitative Analysis of
Large Scale Dynamical Systems, for comparison by layers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from rnnbounds.impl.norms.norm_data import StateNorm
from rnnbounds.impl.numbers.outward import add_up, div_up, mul_up, subtract_down

_REFERENCE_EPSILON = 1e-6  # the ε at which the weights are compared
_MOST_RATIO = 2.0**64  # between the weights of neighbours, at most
_LARGEST = 2.0**500


@dataclass(frozen=True)
class Cascade:
    """The weights t of the layers, the factor Λ, and sup ‖φ(0, x)‖ and a bound on the states."""

    weights: tuple[float, ...]
    lam: float
    drive: float
    radius: float


def cascade_norm(norms: Sequence[StateNorm], couplings: Sequence[float]) -> Cascade:
    """The cascade of layers that contract in those norms, with μ_1, μ_2, …; μ_1 is not asked.

    The factor is at least 1 unless all layers contract, and infinite where μ is.
    """
    lams = [norm.lam for norm in norms]
    radii = [state_radius(norm) for norm in norms]
    targets = _candidate_factors(max(lams))
    t = _largest_weights(targets, lams, couplings)
    lam = largest = torch.full_like(targets, lams[0])
    drive, bound = div_up(norms[0].drive, t[0]), div_up(radii[0], t[0])
    for l in range(1, len(norms)):
        coupled = mul_up(mul_up(couplings[l], div_up(t[l - 1], t[l])), lam)
        lam = add_up(lams[l], torch.where(lam == 0, 0.0, coupled))
        largest = torch.maximum(largest, lam)
        drive = torch.maximum(drive, div_up(norms[l].drive, t[l]))
        bound = torch.maximum(bound, div_up(radii[l], t[l]))
    best = _shortest_window(
        largest, torch.minimum(drive / (1 - largest), bound) * norms[-1].equivalence
    )
    weights = tuple(float(weights_l[best]) for weights_l in t)
    return Cascade(weights, *(float(values[best]) for values in (largest, drive, bound)))


def state_radius(norm: StateNorm) -> float:
    """At least ‖s_t‖ for all t: the least of S/(1 − λ) and what needs no contraction."""
    margin = subtract_down(1.0, norm.lam).clamp(min=0.0)
    return min(float(div_up(norm.drive, margin)) if margin > 0 else math.inf, norm.radius)


def _candidate_factors(largest: float) -> Tensor:
    """Factors Λ worth trying, from the largest of the layers' to 1."""
    if not largest < 1:
        return torch.tensor([largest * (1 + 2.0**-20)], dtype=torch.float64)
    steps = [0.0, *(2.0**-i for i in range(30, 5, -1)), *(i / 64 for i in range(1, 64))]
    return largest + (1 - largest) * torch.tensor(steps, dtype=torch.float64)


def _largest_weights(
    targets: Tensor, lams: Sequence[float], couplings: Sequence[float]
) -> list[Tensor]:
    """The largest t for each Λ, that of the last layer being 1, within the spread."""
    t = [torch.ones_like(targets)]
    for l in range(len(lams) - 1, 0, -1):
        coupling = couplings[l] * (targets if l > 1 else lams[0])
        below = t[0] * (targets - lams[l]) / coupling * (1 - 2.0**-40)
        below = torch.minimum(below.nan_to_num(math.inf), t[0] * _MOST_RATIO)
        t.insert(0, below.clamp(0.0, _LARGEST))
    return t


def _shortest_window(lam: Tensor, scale: Tensor) -> int:
    """Index of the Λ with the shortest window; of the least Λ if none has one."""
    steps = (scale / _REFERENCE_EPSILON).log().clamp(min=0.0) / -lam.log()
    usable = (lam < 1) & torch.isfinite(scale) & ~torch.isnan(steps)
    if not bool(usable.any()):
        return int(lam.nan_to_num(math.inf).argmin())
    return int(torch.where(usable, steps, math.inf).argmin())
