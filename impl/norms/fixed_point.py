"""Bounds at all times on the difference of two runs that is renewed in every step.

If a step carries |Δs| ≤ v to |Δs⁺| ≤ F(v) = max_r (M_r v + ρ_r), row by row, with all of it ≥ 0,
and F(v) ≤ v, then |Δs_t| ≤ v for all t from Δs_0 = 0 on, by induction, as F is monotone. Such a v
is proposed in floats, near the least, (I − M)⁻¹ρ for the worst rows M and ρ, which policies find;
the inequality is checked with outward rounding. The least is at most v′ max (ρ_i/v′_i)/(1 − λ) for
any v′ > 0 with M_r v′ ≤ λv′, so no norm max |s_i|/v′_i says less. Source: Berman & Plemmons,
Nonnegative Matrices, chapter 6.
"""

import torch
from torch import Tensor

from rnnbounds.impl.numbers.outward import rows_up

_POLICIES = 8
_ROOM, _LEAST = 1 + 2.0**-20, 2.0**-30  # of what is proposed: so it is certified in spite of floats


def proposed_point(matrices: Tensor, error: Tensor) -> Tensor:
    """About the least v with F(v) ≤ v, a little larger, for M (R, N, N) and ρ (R, N) or (N,); no
    bound is known where that has other signs."""
    rows = _affine_rows(matrices, error)
    worst, units = rows.amax(0), torch.arange(rows.shape[1], device=rows.device)
    for _ in range(_POLICIES if len(rows) > 1 else 1):
        M, rho = worst[:, :-1], worst[:, -1]
        rhs = rho * _ROOM + rho.amax() * _LEAST
        solution: Tensor = torch.linalg.solve_ex(torch.eye(len(M)).to(M) - M, rhs).result
        v = torch.where(solution >= 0, solution, torch.inf)
        previous, worst = worst, rows[(rows @ _with_one(v)).argmax(0), units]
        if torch.equal(previous, worst):
            break
    return v


def certified_point(matrices: Tensor, error: Tensor) -> Tensor:
    """A v (N,) with F(v) ≤ v near the least, as `proposed_point`; infinite if none is found. With
    room for other roundings, as a checker has."""
    rows, v = _affine_rows(matrices, error), proposed_point(matrices, error)
    image = rows_up(rows.flatten(0, 1)[None], _with_one(v)[None])[0].reshape(rows.shape[:2])
    return v if bool((image <= v).all()) else torch.full_like(v, torch.inf)


def _affine_rows(matrices: Tensor, error: Tensor) -> Tensor:
    """(M_r ρ_r), so that F(v) = max_r (M_r ρ_r)(v, 1): (R, N, N + 1)."""
    return torch.cat([matrices, error.expand(matrices.shape[:2])[..., None]], 2)


def _with_one(v: Tensor) -> Tensor:
    return torch.cat([v, torch.ones_like(v[:1])])
