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

from impl.numbers.ball_functions import float_above
from impl.numbers.outward import TINY, UNIT, gamma, norm_up
from impl.numbers.spectral_norm import certified_norm

VERTICES = 1024  # norms that are certified one by one
STEPS = 16  # r up to which the expansion is tried
_LEAST_RATE = 2.0**-60  # so that its powers are numbers
_PRECISION = 128


@dataclass(frozen=True, eq=False)
class Steps:
    """J = diag(kept) + EW with least ≤ E ≤ most: W (n, n), kept (n,) ≥ 0, in float64.

    Each entry of W may be off by one rounding, and of kept by two, upwards.
    """

    W: Tensor
    least: float
    most: float
    kept: Tensor

    @property
    def size(self) -> float:
        """M."""
        return max(abs(self.least), abs(self.most))

    def scaled(self, d: Tensor) -> "Steps":
        """The same with DWD⁻¹ for W, rounded."""
        return replace(self, W=d[:, None] * self.W / d[None, :])

    def at(self, E: Tensor) -> Tensor:
        """J for slopes E (…, n): (…, n, n)."""
        return torch.diag(self.kept) + E[..., None] * self.W


@dataclass(frozen=True)
class Iterated:
    """λ_1, …, λ_r in ‖D·‖₂ (`factors`), the rate μ ≥ λ_r^{1/r} and K ≥ max_{m<r} μ^{−m}λ_m."""

    d: Tensor
    factors: tuple[float, ...]
    rate: float
    condition: float


def iterated(steps: Steps, d: Tensor) -> list[Iterated]:
    """The maps of r = 2, 3, …, STEPS steps in ‖D·‖₂, d (n,) positive."""
    factors = step_factors(steps, d)
    return [_adapted(d, factors[:r]) for r in range(2, STEPS + 1)]


def step_factors(steps: Steps, d: Tensor) -> tuple[float, ...]:
    """λ_1, …, λ_STEPS in ‖D·‖₂, rounded up."""
    at, eye = steps.scaled(d), torch.eye(len(d), dtype=d.dtype)
    few = 0 if at.least == at.most else int(math.log2(VERTICES)) // len(d)
    centre = (at.least + at.most) / 2
    w: list[float] = []
    lam = [1.0]
    with ctx.workprec(_PRECISION):
        drift = _Drift.of(at)
        fed, free = _powers(at, drift, centre, torch.stack([at.W, eye]))
        vertices = _vertices(at, drift, few)
        kept, M = arb(float(at.kept.amax())), arb(at.size)
        radius = max(arb(at.most) - arb(centre), arb(centre) - arb(at.least))
        for m in range(STEPS):
            bounds = [_expanded(fed[: m + 1], radius, w)]
            bounds += [float_above(arb(w[m - j]) * arb(lam[j])) for j in range(1, m + 1)]
            bounds += vertices[m : m + 1]
            w.append(min(bounds))
            step = float_above(kept * arb(lam[m]) + M * arb(w[m]))
            lam.append(min(step, _expanded(free[: m + 2], radius, w)))
    return tuple(lam[1:])


def _expanded(powers: list[float], radius: arb, w: list[float]) -> float:
    """The last power's norm, and the sum of all others' with ρ w."""
    *before, last = map(arb, powers)
    terms = (norm * radius * arb(w[-1 - i]) for i, norm in enumerate(before))
    return float_above(sum(terms, last))


def _adapted(d: Tensor, factors: tuple[float, ...]) -> Iterated:
    """The norm N of so many steps."""
    r = len(factors)
    with ctx.workprec(_PRECISION):
        rate = max(float_above(arb(factors[-1]) ** (arb(1) / r)), _LEAST_RATE)
        sizes = [float_above(arb(f) / arb(rate) ** m) for m, f in enumerate(factors[:-1], 1)]
    return Iterated(d, factors, rate, max(1.0, *sizes))


@dataclass(frozen=True)
class _Drift:
    """How far computed products A J_m ⋯ J_1 are from the exact ones in the 2-norm, A = V or I.

    V = DWD⁻¹ is off by `start`. A step multiplies by J = diag(κ) + EV with |E| ≤ M: by ‖J‖₂ at most
    `step`, and with terms of the Frobenius norm `size`, all n² of which are rounded.
    Source: Higham, section 3.5.
    """

    n: int
    start: arb
    step: arb
    size: arb

    @classmethod
    def of(cls, steps: Steps) -> "_Drift":
        """That of V, which is off by three roundings an entry."""
        n, frobenius, M = len(steps.W), float(norm_up(steps.W.flatten())), arb(steps.size)
        start = arb(4 * UNIT) * frobenius + _underflow(n, frobenius)
        step = float(steps.kept.amax()) + M * (float(certified_norm(steps.W[None])) + start)
        size = float(norm_up(steps.kept)) + M * (frobenius + start)
        return cls(n, start, step, size)

    def bounds(self, levels: list[tuple[float, float]]) -> list[float]:
        """At least the largest 2-norm of the exact products of 0, 1, 2, … steps, by the largest
        2-norm and Frobenius norm of the computed ones."""
        error, found = self.start, []
        for norm, frobenius in levels:
            found.append(float_above(norm + error))
            lost = arb(gamma(self.n + 10)) * frobenius * self.size
            lost += _underflow(self.n, frobenius) * (1 + arb(frobenius))
            error = error * self.step + lost
        return found


def _underflow(n: int, size: float) -> arb:
    """What n² terms lose below the least number: nothing where all are 0."""
    return arb(n * n * TINY if size else 0.0)


def _powers(steps: Steps, drift: _Drift, centre: float, A: Tensor) -> list[list[float]]:
    """‖AG^m‖ for m ≤ STEPS, rounded up, for each of a few A (count, n, n)."""
    G = steps.at(torch.full_like(steps.kept, centre))
    products = [A]
    for _ in range(STEPS):
        products.append(products[-1] @ G)
    norms, sizes = (found.reshape(-1, len(A)).T.tolist() for found in _sizes(torch.cat(products)))
    return [drift.bounds(list(zip(*one, strict=True))) for one in zip(norms, sizes, strict=True)]


def _vertices(steps: Steps, drift: _Drift, few: int) -> list[float]:
    """w_0, …, w_few, each the largest of the norms at the slopes that are all `least` or `most`."""
    if not few:
        return []
    n, ends = len(steps.W), torch.tensor([steps.least, steps.most], dtype=torch.float64)
    J = steps.at(ends[torch.arange(2**n)[:, None] >> torch.arange(n) & 1])
    products = [steps.W[None]]
    for _ in range(few):
        products.append((products[-1][:, None] @ J).flatten(0, 1))
    counts = [len(level) for level in products]
    norms, sizes = (torch.split(found, counts) for found in _sizes(torch.cat(products)))
    levels = zip(norms, sizes, strict=True)
    return drift.bounds([(float(norm.max()), float(size.max())) for norm, size in levels])


def _sizes(matrices: Tensor) -> tuple[Tensor, Tensor]:
    """At least the 2-norms and the Frobenius norms, infinite where they are not numbers."""
    return certified_norm(matrices), norm_up(matrices.flatten(1))
