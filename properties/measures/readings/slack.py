"""How far a float64 reading can be from the truth; every bound here is rigorous and absolute.

u = 2⁻⁵³ and γ_m = m u/(1 − m u) (Higham, *Accuracy and Stability of Numerical Algorithms*,
Section 3.1).
Factors (1 + 2⁻⁵⁰) absorb the few roundings of the slack's own evaluation.
"""

from __future__ import annotations

import torch

from rnnbounds.impl.gradients.rounding import HEADROOM, local_error
from rnnbounds.impl.numbers.outward import add_up, mul_up, norm_up, underflow
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm
from rnnbounds.properties.systems.batch import Batch

Tensor = torch.Tensor
U = 2.0**-53
UP = 1 + 2.0**-50
# A sum of squares below 2⁻¹⁰²² has lost bits; its root is then below 2⁻⁵¹¹ √n: added to every norm.
NORM_FLOOR = 2.0**-505


def gamma(m: int) -> float:
    """γ_m, rounded up."""
    return m * U / (1 - m * U) * UP


def norms(vectors: Tensor, axis: int = 1) -> Tensor:
    """‖·‖₂ along an axis; 0 for the zero vector alone, even where squares underflow."""
    size = torch.linalg.vector_norm(vectors, dim=axis)
    return torch.where(size == 0, vectors.abs().amax(dim=axis), size)


def norm_slack(n: int, value: Tensor) -> Tensor:
    """Error of a computed ‖v‖₂ of n entries that are each within one rounding of the truth.

    `norms` gives 0 for the zero vector alone.
    """
    return gamma(n + 4) * value * UP + torch.where(value == 0, torch.zeros_like(value), NORM_FLOOR)


def state_slack(batch: Batch) -> Tensor:
    """A bound on ‖fl(h_t) − h_t‖ for every t ≤ T and every truncation, (B, 1, 1)."""
    if "state slack" not in batch.cache:
        batch.cache["state slack"] = run_slack(batch, 0.0, 0.0)
    found: Tensor = batch.cache["state slack"]
    return found


def run_slack(batch: Batch, start: Tensor | float, beyond: Tensor | float) -> Tensor:
    """The same of runs from ‖h_0‖ ≤ ``start``, and under inputs that exceed B_x by at most
    ``beyond``, (B,) each.

    ε(R) g with g ≥ 1 + λ + … + λ^{T−1} as in claim rounding-state, where ε(R) is the error of a
    step from states of norm ≤ R. The true states are within B = min(B_h, S_0 g), and what starts
    and inputs add to that, so the computed ones stay within R if B + ε(R) g ≤ R; R = 1.01 B mostly
    does, and twice the first attempt where S_0 is no larger than the rounding. With S_0 = 0 every
    state is 0, computed without rounding.
    """
    known, T = batch.constants, float(batch.spec.T)
    lam, drive = known["lam"], known["S_0"]
    steps = torch.clamp(torch.where(lam < 1, UP / (1 - lam), torch.inf), max=T)
    # λ^(T−1) by the library's pow, which is right to far better than 2⁻³⁰.
    steps = torch.where(lam <= 1, steps, T * lam ** (T - 1) * (1 + 2.0**-30))
    size = torch.minimum(known["B_h"], drive * steps * UP)
    grown = start * torch.clamp(lam, min=1.0) ** T * (1 + 2.0**-30)
    fed = known["L_x"] * beyond * steps
    # NaN is 0 · ∞, where nothing is added.
    added = grown.nan_to_num(0.0, torch.inf) + fed.nan_to_num(0.0, torch.inf)
    size = torch.where(added == 0, size, (size + added * UP) * UP)

    def error(radius: Tensor) -> Tensor:
        fed = add_up(batch.B_x, beyond)
        return local_error(batch.cell, radius, fed, known.absolute) * steps * UP

    narrow = HEADROOM * size
    found = error(narrow)
    fits = (size + found) * UP <= narrow
    if not bool(fits.all()):
        wide = 2 * (size + found)
        slack = error(wide)
        slack = torch.where((size + slack) * UP <= wide, slack, torch.inf)
        found = torch.where(fits, found, slack)
    return torch.where((drive == 0) & (added == 0), 0.0, found)[:, None, None]


def local_slack(batch: Batch) -> Tensor:
    """A bound on the error of φ(h, x_1) − φ(h', x_1) before its norm is taken, (B, S, 1)."""
    sizes = torch.maximum(*(torch.linalg.vector_norm(h, dim=1) for h in (batch.h, batch.h_other)))
    one = local_error(batch.cell, sizes * UP + NORM_FLOOR, batch.B_x[:, None].expand_as(sizes))
    return 2 * one[:, :, None] * UP


def map_slack(Q: Tensor, size: Tensor, inner: Tensor, value: Tensor) -> Tensor:
    """Error of a computed ‖Q v‖ with ‖v‖ = ``size``, where v itself is off by at most ``inner``.

    ‖Q‖_F ≥ ‖|Q|‖₂ ≥ ‖Q‖₂, so ‖Q‖_F (inner + γ_{n+2} ‖v‖) bounds the product's error, but for what
    underflows: the product may be 0 where neither factor is.
    """
    weight = norm_up(Q.flatten(1))[:, None, None]
    rows, n = Q.shape[-2:]
    longest = size * UP + underflow(size, NORM_FLOOR)
    product = mul_up(weight, (inner + gamma(n + 2) * longest) * UP)
    lost = underflow(mul_up(weight, inner + size))
    return (product + lost) * UP + norm_slack(max(n, rows) + 1, value)


def spectral_ends(J: Tensor) -> tuple[Tensor, Tensor]:
    """Ends of ‖J‖₂ of matrices (…, n, d) of finite floats: the certified norm above, ‖J v‖/‖v‖ for
    the leading singular vector v below."""
    matrices, (n, d) = torch.nan_to_num(J).flatten(0, -3), J.shape[-2:]
    v = torch.linalg.svd(matrices, full_matrices=False).Vh[:, 0, :, None]
    image, size = (torch.linalg.vector_norm(a, dim=(1, 2)) for a in (matrices @ v, v))
    loss = gamma(2 * d + n + 8) * torch.linalg.matrix_norm(matrices) * UP + NORM_FLOOR
    ends = (image - loss) / (size * UP), certified_norm(matrices)
    low, high = (end.reshape(J.shape[:-2]) for end in ends)
    return low, high
