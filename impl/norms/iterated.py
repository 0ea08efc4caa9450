"""Iterated maps: cells that contract after several steps, though in no single one.

Between two runs under the same inputs Δ⁺ = JΔ with J = diag(κ) + EW, where E is a diagonal of
secant slopes of ρ, all in [l, L], and κ what the units keep: 0 for a vanilla cell, 1 − a for an
echo-state network with leaks a, W being its diag(a)W. With |E| ≤ M = max(|l|, L) and a norm
‖·‖ = ‖D·‖₂ by diagonal weights let

    w_m ≥ sup ‖W J_m ⋯ J_1‖,    λ_m ≥ sup ‖J_m ⋯ J_1‖,    λ_0 = 1,

over all slopes at each step. The supremum is convex in every slope, so it is attained where all
are l or L: w_m is the largest of 2^{nm} norms, certified one by one where they are few. In any case
write E = cI + S with c near (l + L)/2 and |S| ≤ ρ near (L − l)/2, so that J = G + SW with
G = diag(κ) + cW, and expand a product by the first factor that contributes its S:

    w_m = ‖WG^m‖ + Σ_{i<m} ‖WG^i‖ ρ w_{m−1−i},    λ_m = ‖G^m‖ + Σ_{i<m} ‖G^i‖ ρ w_{m−1−i},

which is exact for linear cells, where ρ = 0. The least of these is taken, of w_{m−j} λ_j for w_m,
and of max κ λ_{m−1} + M w_{m−1} for λ_m.

One norm for all steps. If λ_r < 1, let μ^r ≥ λ_r, 0 < μ < 1, and

    N(Δ) = max_{0≤m<r} μ^{−m} sup ‖J_m ⋯ J_1 Δ‖,    K = max_{0≤m<r} μ^{−m} λ_m.

N is a norm with ‖Δ‖ ≤ N(Δ) ≤ K‖Δ‖, in which every single step contracts by μ:

    N(JΔ) ≤ max_{0≤m<r} μ^{−m} sup ‖J_{m+1} ⋯ J_1 Δ‖
          = μ max_{1≤m≤r} μ^{−m} sup ‖J_m ⋯ J_1 Δ‖ ≤ μ N(Δ),

as μ^{−r} sup ‖J_r ⋯ J_1 Δ‖ ≤ μ^{−r}λ_r ‖Δ‖ ≤ ‖Δ‖. So a run of k = qr + m steps, which contracts by
λ_r^q λ_m ≤ Kμ^k in ‖·‖, is covered by Lemma 1 in the norm N, with the drive KS for S in ‖·‖.
Sources: Miller & Hardt, Lemma 1; Jungers, The Joint Spectral Radius; Desoer & Vidyasagar, Feedback
Systems, for the centre c.
"""

import math
from dataclasses import dataclass, replace

import torch
from flint import arb, ctx
from torch import Tensor

from rnnbounds.impl.numbers.ball_functions import float_above
from rnnbounds.impl.numbers.outward import TINY, UNIT, add_up, gamma, mul_up, norm_up, underflow
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm

VERTICES = 1024  # norms that are certified one by one
STEPS = 16  # r up to which the expansion is tried
_LEAST_RATE = 2.0**-60  # so that its powers are numbers
_PRECISION = 128


@dataclass(frozen=True, eq=False)
class StepFamily:
    """J = diag(kept) + EW with least ≤ E ≤ most: W (n, n), kept (n,) ≥ 0, in float64.

    Each entry of W may be off by one rounding, and of kept by two, upwards.
    """

    W: Tensor
    least: float
    most: float
    retention: Tensor

    @property
    def size(self) -> float:
        """M = max(|least|, |most|), the largest absolute slope."""
        return max(abs(self.least), abs(self.most))

    def scaled(self, d: Tensor) -> "StepFamily":
        """Replace W by DWD⁻¹, rounded, with D = diag(d)."""
        return replace(self, W=d[:, None] * self.W / d[None, :])

    def jacobian(self, E: Tensor) -> Tensor:
        """J for slopes E (…, n): (…, n, n)."""
        return torch.diag(self.retention) + E[..., None] * self.W


@dataclass(frozen=True)
class IteratedNorm:
    """λ_1, …, λ_r in ‖D·‖₂ (`factors`), the rate μ ≥ λ_r^{1/r} and K ≥ max_{m<r} μ^{−m}λ_m."""

    d: Tensor
    factors: tuple[float, ...]
    rate: float
    condition: float


def iterated_norms(steps: StepFamily, d: Tensor) -> list[IteratedNorm]:
    """The maps of r = 2, 3, …, STEPS steps in ‖D·‖₂, d (n,) positive."""
    factors = step_factors(steps, d)
    return [_iterated_norm(d, factors[:r]) for r in range(2, STEPS + 1)]


def step_factors(steps: StepFamily, d: Tensor) -> tuple[float, ...]:
    """λ_1, …, λ_STEPS in ‖D·‖₂, rounded up."""
    scaled = steps.scaled(d)
    corner_steps = 0 if scaled.least == scaled.most else int(math.log2(VERTICES)) // len(d)
    centre = (scaled.least + scaled.most) / 2
    input_powers, free_powers = _power_norms(scaled, centre)
    corners = _vertex_norms(scaled, corner_steps) if corner_steps else []
    w: list[float] = []
    lam = [1.0]
    with ctx.workprec(_PRECISION):
        retention, M = arb(float(scaled.retention.amax())), arb(scaled.size)
        radius = max(arb(scaled.most) - arb(centre), arb(centre) - arb(scaled.least))
        for m in range(STEPS):
            bounds = [_expansion_norm(input_powers[: m + 1], radius, w)]
            bounds += [float_above(arb(w[m - j]) * arb(lam[j])) for j in range(1, m + 1)]
            if 0 < m <= corner_steps:
                bounds.append(corners[m - 1])
            w.append(min(bounds))
            step = float_above(retention * arb(lam[m]) + M * arb(w[m]))
            lam.append(min(step, _expansion_norm(free_powers[: m + 2], radius, w)))
    return tuple(lam[1:])


def _expansion_norm(powers: list[float], radius: arb, w: list[float]) -> float:
    """Bound ‖G^m‖ + Σ_{i<m} ‖G^i‖ ρ w_{m−1−i} from the norms of the powers, the last one ‖G^m‖."""
    *earlier, last = map(arb, powers)
    terms = (norm * radius * arb(w[-1 - i]) for i, norm in enumerate(earlier))
    return float_above(sum(terms, last))


def _iterated_norm(d: Tensor, factors: tuple[float, ...]) -> IteratedNorm:
    """The norm N of r steps, r = len(factors), with its rate μ and its condition K."""
    r = len(factors)
    with ctx.workprec(_PRECISION):
        rate = max(float_above(arb(factors[-1]) ** (arb(1) / r)), _LEAST_RATE)
        sizes = [float_above(arb(f) / arb(rate) ** m) for m, f in enumerate(factors[:-1], 1)]
    return IteratedNorm(d, factors, rate, max(1.0, *sizes))


@dataclass(frozen=True, eq=False)
class _ProductErrors:
    """Computed products A J_m ⋯ (…, n, n), each within `error` (…) of the exact one in the 2-norm.

    A step multiplies by J = diag(κ) + EV with |E| ≤ M: by ‖J‖₂ at most `step`, and with terms of
    the Frobenius norm `size`. Source: Higham, section 3.5.
    """

    matrices: Tensor
    error: Tensor
    step: Tensor
    size: Tensor

    @classmethod
    def start(cls, matrices: Tensor, steps: StepFamily) -> "_ProductErrors":
        """V or I itself (…, n, n), of which V = DWD⁻¹ is off by three roundings an entry."""
        n = matrices.shape[-1]
        frobenius = norm_up(steps.W.flatten())
        error = add_up(mul_up(4 * UNIT, frobenius), underflow(frobenius, n * n * TINY))
        step = mul_up(steps.size, add_up(certified_norm(steps.W[None])[0], error))
        size = mul_up(steps.size, add_up(frobenius, error))
        retention_norm = norm_up(steps.retention)
        step, size = add_up(steps.retention.amax(), step), add_up(retention_norm, size)
        return cls(matrices, error.expand(matrices.shape[:-2]), step, size)

    @property
    def step_rounding(self) -> Tensor:
        """Rounding error of one further step, in the 2-norm: an upper bound (…)."""
        n = self.matrices.shape[-1]
        largest = norm_up(self.matrices.flatten(-2))
        local = mul_up(gamma(n + 10), mul_up(largest, self.size))
        return add_up(local, underflow(largest, n * n * TINY) * (1 + largest))

    def multiplied(self, J: Tensor) -> "_ProductErrors":
        """Products (K, n, n) with another step each, each of J (k, n, n): (kK, n, n)."""
        error = add_up(mul_up(self.error, self.step), self.step_rounding)
        matrices = (self.matrices @ J[:, None]).flatten(0, 1)
        return replace(self, matrices=matrices, error=error.repeat(len(J)))

    @property
    def norms(self) -> Tensor:
        """At least the 2-norms of the exact products."""
        n = self.matrices.shape[-1]
        norms = certified_norm(self.matrices.reshape(-1, n, n))
        return add_up(norms.reshape(self.error.shape), self.error)


def _power_norms(steps: StepFamily, centre: float) -> tuple[list[float], list[float]]:
    """‖VG^m‖ and ‖G^m‖ for m ≤ STEPS, rounded up."""
    G = steps.jacobian(torch.full_like(steps.retention, centre))
    powers = [torch.stack([steps.W, torch.eye(len(G), dtype=G.dtype, device=G.device)])]
    for _ in range(STEPS):
        powers.append(powers[-1] @ G)
    products = _ProductErrors.start(torch.stack(powers, dim=1), steps)
    errors = [products.error[:, 0]]
    for rounding in products.step_rounding[:, :-1].unbind(1):
        errors.append(add_up(mul_up(errors[-1], products.step), rounding))
    input_powers, free_powers = replace(products, error=torch.stack(errors, dim=1)).norms.tolist()
    return input_powers, free_powers


def _vertex_norms(steps: StepFamily, most: int) -> list[float]:
    """w_1, w_2, … up to w_most, the largest norms at the slopes that are all `least` or `most`."""
    n = len(steps.W)
    corner, unit = (torch.arange(count, device=steps.W.device) for count in (2**n, n))
    J = steps.jacobian(steps.W.new_tensor([steps.least, steps.most])[corner[:, None] >> unit & 1])
    products, levels = _ProductErrors.start(steps.W[None], steps), []
    for _ in range(most):
        products = products.multiplied(J)
        levels.append(products)
    matrices, errors = zip(*((level.matrices, level.error) for level in levels), strict=True)
    stacked = replace(products, matrices=torch.cat(matrices), error=torch.cat(errors))
    groups = torch.split(stacked.norms, [len(error) for error in errors])
    return [float(norms.max()) for norms in groups]
