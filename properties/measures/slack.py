"""How far a float64 reading can be from the truth; every bound here is rigorous and absolute.

u = 2⁻⁵³ and γ_m = m u/(1 − m u) (Higham, *Accuracy and Stability of Numerical Algorithms*,
Section 3.1).
Factors (1 + 2⁻⁵⁰) absorb the few roundings of the slack's own evaluation.
"""

from __future__ import annotations

import torch

from rnnbounds.impl.gradients.rounding import HEADROOM, local_error
from rnnbounds.impl.numbers.outward import mul_up, norm_up, underflow
from rnnbounds.properties.read.numbers.norms import gamma
from rnnbounds.properties.read.numbers.rounded import NORM_FLOOR
from rnnbounds.properties.systems.batch import Batch

Tensor = torch.Tensor
ROUND_UP = 1 + 2.0**-50


def vector_norms(vectors: Tensor, axis: int = 1) -> Tensor:
    """‖·‖₂ along an axis; 0 for the zero vector alone, even where squares underflow."""
    size = torch.linalg.vector_norm(vectors, dim=axis)
    return torch.where(size == 0, vectors.abs().amax(dim=axis), size)


def norm_rounding(n: int, value: Tensor) -> Tensor:
    """Error of a computed ‖v‖₂ of n entries that are each within one rounding of the truth.

    `vector_norms` gives 0 for the zero vector alone.
    """
    return gamma(n + 4) * value * ROUND_UP + torch.where(
        value == 0, torch.zeros_like(value), NORM_FLOOR
    )


def state_rounding(batch: Batch) -> Tensor:
    """A bound on ‖fl(h_t) − h_t‖ for every t ≤ T and every truncation, (B, 1, 1).

    ε(R) g with g ≥ 1 + λ + … + λ^{T−1} (Higham, section 3.5), where ε(R) is the error of a
    step from states of norm ≤ R. The true states are within B = min(B_h, S_0 g), so the computed
    ones stay within R if B + ε(R) g ≤ R; R = 1.01 B mostly does, and twice the first attempt where
    S_0 is no larger than the rounding. With S_0 = 0 every state is 0, computed without rounding.
    """
    if "state slack" in batch.cache:
        known_slack: Tensor = batch.cache["state slack"]
        return known_slack
    known, T = batch.constants, float(batch.spec.T)
    lam, drive = known["lam"], known["S_0"]
    steps = torch.clamp(torch.where(lam < 1, ROUND_UP / (1 - lam), torch.inf), max=T)
    # λ^(T−1) by the library's pow, which is right to far better than 2⁻³⁰.
    steps = torch.where(lam <= 1, steps, T * lam ** (T - 1) * (1 + 2.0**-30))
    size = torch.minimum(known["B_h"], drive * steps * ROUND_UP)

    def error(radius: Tensor) -> Tensor:
        return local_error(batch.cell, radius, batch.B_x, known.absolute) * steps * ROUND_UP

    small_radius = HEADROOM * size
    found = error(small_radius)
    fits = (size + found) * ROUND_UP <= small_radius
    if not bool(fits.all()):
        large_radius = 2 * (size + found)
        slack = error(large_radius)
        slack = torch.where((size + slack) * ROUND_UP <= large_radius, slack, torch.inf)
        found = torch.where(fits, found, slack)
    found = torch.where(drive == 0, 0.0, found)[:, None, None]
    batch.cache["state slack"] = found
    return found


def product_rounding(Q: Tensor, size: Tensor, value: Tensor) -> Tensor:
    """Error of a computed ‖Q v‖ with ‖v‖ = ``size``, for a v of floats.

    ‖Q‖_F ≥ ‖|Q|‖₂, so ‖Q‖_F γ_{n+2} ‖v‖ bounds the product's error, but for what underflows: the
    product may be 0 where neither factor is.
    """
    weight = norm_up(Q.flatten(1))[:, None, None]
    rows, n = Q.shape[-2:]
    length = size * ROUND_UP + underflow(size, NORM_FLOOR)
    product = mul_up(weight, gamma(n + 2) * length * ROUND_UP)
    underflow_loss = underflow(mul_up(weight, size))
    return (product + underflow_loss) * ROUND_UP + norm_rounding(max(n, rows) + 1, value)


def zero_full_window(batch: Batch, value: Tensor) -> Tensor:
    """A gap or its error where k < T; at k = T the truncated model is the full one: both are 0."""
    k = torch.arange(batch.K + 1, device=batch.x.device)
    return torch.where(k < batch.spec.T, value, 0.0)
