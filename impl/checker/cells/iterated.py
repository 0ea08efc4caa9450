"""Iterated maps of vanilla cells in ball arithmetic: `impl.norms.iterated` proved anew, without
torch.

With V = DWD⁻¹, slopes in [l, L], c and ρ their centre and radius, M = max(|l|, L), κ ≥ 0 what units
keep (0 but for echo states), G = diag(κ) + cV, λ_0 = 1 and

    w_m = min( ‖VG^m‖ + Σ_{i<m} ‖VG^i‖ ρ w_{m−1−i},  min_j w_{m−j} λ_j ),
    λ_{m+1} = min( max κ λ_m + M w_m,  ‖G^{m+1}‖ + Σ_{i≤m} ‖G^i‖ ρ w_{m−i} ),

or w_m the largest norm over the vertices where these are few. Source: `impl.norms.iterated`.
"""

import math
from itertools import product

import numpy as np
from flint import arb, arb_mat, fmpq

from rnnbounds.impl.checker.definite import Rows, balls, below, diagonal, larger, largest, norm

_VERTICES = 1024  # norms that are proved one by one
_FIRST = 2.0**-52  # by how much a norm may exceed its estimate, doubled until it is proved
_DOUBLINGS = 24


def norm_above(matrices: list[arb_mat]) -> arb:
    """A number that is proved to be at least the 2-norm of every matrix; infinite if none is."""
    worst = arb(0)
    left = []
    for A in matrices:
        if 1 in (A.nrows(), A.ncols()) or all(v.is_zero() for v in A.entries()):
            worst = larger(worst, norm(A.entries()))
        else:
            left.append(A)
    if not left:
        return worst
    # Entries near 1, so that floats can estimate norms of any size.
    top = largest(abs(v) for A in left for v in A.entries()).upper()
    if not top.is_finite():
        return arb("inf")
    unit = arb(2) ** (top.log() / arb(2).log()).mid().floor()
    left = [A / unit for A in left]
    middles = [[[float(v.mid()) for v in row] for row in A.tolist()] for A in left]
    estimate = float(np.linalg.norm(np.array(middles), 2, axis=(1, 2)).max())
    excess = _FIRST
    for _ in range(_DOUBLINGS):
        s = arb(estimate) * (1 + arb(excess))
        while left and below(left[-1], s):
            left.pop()
        if not left:
            return larger(worst, s * unit)
        excess *= 2
    return arb("inf")


def step_factors(
    rows: Rows, least: arb, most: arb, steps: int, claimed: arb, kept: list[fmpq] | None = None
) -> list[arb]:
    """λ_0, …, λ_r of the exact V; the vertices are looked at if λ_r ≤ `claimed` fails without."""
    V = balls(rows)
    c, radius = (least + most) / 2, (most - least) / 2
    still = diagonal(list(map(arb, kept or [fmpq(0)] * len(rows))))
    G = still + c * V
    fed, free = _powers(V, G, steps), _powers(G, G, steps) if kept else []
    most_kept = arb(max(kept)) if kept else arb(0)
    M = larger(abs(least), abs(most))
    found = _factors(fed, free, radius, M, most_kept, {})
    depth = min(steps - 1, int(math.log2(_VERTICES)) // V.nrows())
    if found[-1] <= claimed or depth == 0:
        return found
    known = _vertices(V, still, least, most, depth)
    return _factors(fed, free, radius, M, most_kept, known)


def _powers(A: arb_mat, G: arb_mat, steps: int) -> list[arb]:
    """‖A‖, ‖AG‖, …, so many."""
    found = []
    for _ in range(steps):
        found.append(norm_above([A]))
        A = A * G
    return found


def _factors(
    fed: list[arb], free: list[arb], radius: arb, M: arb, kept: arb, known: dict[int, arb]
) -> list[arb]:
    w: list[arb] = []
    lam = [arb(1)]
    for m, first in enumerate(fed):
        bounds = [first + sum((fed[i] * radius * w[m - 1 - i] for i in range(m)), arb(0))]
        bounds += [w[m - j] * lam[j] for j in range(1, m + 1)]
        bounds += [known[m]] if m in known else []
        w.append(_least(bounds))
        steps = [kept * lam[m] + M * w[m]]
        if free:
            before = [arb(1), *free[:m]]
            steps.append(
                free[m] + sum((before[i] * radius * w[m - i] for i in range(m + 1)), arb(0))
            )
        lam.append(_least(steps))
    return lam


def _least(bounds: list[arb]) -> arb:
    return min(bounds, key=lambda bound: float(bound.upper()))


def _vertices(V: arb_mat, still: arb_mat, least: arb, most: arb, depth: int) -> dict[int, arb]:
    """w_1, …, w_depth over all slopes at the ends."""
    n = V.nrows()
    rows = V.tolist()
    ends = [
        still + arb_mat([[e * v for v in row] for e, row in zip(choice, rows, strict=True)])
        for choice in product((least, most), repeat=n)
    ]
    products, found = [V], {}
    for m in range(1, depth + 1):
        products = [A * J for A in products for J in ends]
        found[m] = norm_above(list(products))
    return found


def scaled(rows: Rows, d: list[fmpq]) -> Rows:
    """DAD⁻¹ for D = diag(d)."""
    return [
        [a * v / b for v, b in zip(row, d, strict=True)] for a, row in zip(d, rows, strict=True)
    ]
