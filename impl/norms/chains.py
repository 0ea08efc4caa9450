"""Lipschitz constants of matrices with averaged operators between them, M_g ρ_g ⋯ ρ_1 M_0.

Let each unit of ρ_l have slopes a ≤ ρ_l′ ≤ b, or ρ_l a symmetric Jacobian a I ⪯ ρ_l′ ⪯ b I. With
the diagonal matrices m_l = (a + b)/2 and d_l = √((b − a)/2) two values differ by

    ρ_l(u) − ρ_l(v) = (m_l + d_l E d_l)(u − v),  ‖E‖₂ ≤ 1,

since so does the mean of ρ_l′ between u and v. The difference of two outputs is that of h times a
product of such sums, a sum over all choices of m_l or d_l E d_l for each l; and of each choice ‖E‖₂
≤ 1 leaves a product of norms of *segments*. With d_0 = d_{g+1} = I and L_{−1} = 1 their sum is

    L_g,   L_j = Σ_{i ≤ j} L_{i−1} ‖d_{j+1} M_j m_j M_{j−1} ⋯ m_{i+1} M_i d_i‖₂.

For ReLU and tanh, whose m = r = 1/2, one layer of them between two matrices gives (‖M_1 M_0‖₂ +
‖M_1‖₂‖M_0‖₂)/2. If one m_l and d_l is for all units, it is never more than the product of all norms
and b_l for a_l ≥ 0.
Source: Combettes & Pesquet (2020), Lipschitz Certificates for Layered Network Structures Driven by
Averaged Activation Operators.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from rnnbounds.impl.numbers.outward import TINY, add_up, gamma, mul_up, norm_up, sqrt_up
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm

MOST = 2**22  # multiplications of all segments, each of which the checker does in balls
_ROOM = 1 + 2.0**-40  # for the checker's m and d, which are not these floats

Range = tuple[Tensor, Tensor]  # a and b, (n,), or (1,) for all units


@dataclass(frozen=True, eq=False)
class Averaged:
    """A Lipschitz constant L_g, with the ranges of slopes and the bounds on norms of segments, for
    i ≤ j at [i][j − i], that it follows from."""

    ranges: Sequence[Range]
    segments: Sequence[Sequence[float]]

    @property
    def norm(self) -> float:
        """At least L_g."""
        found = [1.0]
        for j in range(len(self.segments)):
            total = 0.0
            for i in range(j + 1):
                total = float(add_up(total, mul_up(found[i], self.segments[i][j - i])))
            found.append(total)
        return found[-1]

    def to_json(self) -> dict[str, Any]:
        """As plain JSON data."""
        ranges = [[a.tolist(), b.tolist()] for a, b in self.ranges]
        return {"ranges": ranges, "segments": self.segments, "norm": self.norm}


def averaged(blocks: Sequence[Sequence[Tensor]], ranges: Sequence[Range]) -> Averaged | None:
    """L_g of M_0, …, M_g, each the product of a block of matrices (p, q) and of diagonals (p,), the
    first of which is applied first, and I of none, for such slopes between one and the next; None
    if that is too much work to check."""
    between = [_split(a, b) for a, b in ranges]
    rows = []
    for i in range(len(blocks)):
        begun, row = [between[i - 1][1]] if i else [], []
        for j in range(i, len(blocks)):
            begun = [*begun, *blocks[j]]
            row.append([*begun, between[j][1]] if j < len(between) else begun)
            begun = [*begun, between[j][0]] if j < len(between) else begun
        rows.append(row)
    if sum(_work(factors) for row in rows for factors in row) > MOST:
        return None
    norms = [[product_norm(factors) * _ROOM + TINY for factors in row] for row in rows]
    return Averaged(ranges, norms)


def product_norm(factors: Sequence[Tensor]) -> float:
    """At least ‖M_j ⋯ M_1‖₂ of matrices, diagonals and numbers (1,), and 1 of none: fl(M P) is off
    by at most γ_n |M||P| (Higham), and what P was off by grows by ‖M‖₂."""
    scale, P, off = 1.0, None, 0.0
    for factor in factors:
        if factor.shape == (1,):
            scale = float(mul_up(scale, factor.double().abs())[0])
            continue
        M = _matrix(factor).double()[None]
        if P is None:
            P = M
            continue
        size = norm_up((M.abs() @ P.abs()).flatten(1))
        own = add_up(mul_up(gamma(2 * M.shape[2] + 4), size), TINY)
        off, P = float(add_up(mul_up(certified_norm(M), off), own)), M @ P
    return scale if P is None else float(mul_up(scale, add_up(certified_norm(P), off)))


def _split(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """m and d, so that every number of [a, b] is m + d e d for an |e| ≤ 1."""
    m = (a + b) / 2
    return m, sqrt_up(torch.maximum(add_up(b, -m), add_up(m, -a)))


def _matrix(factor: Tensor) -> Tensor:
    return factor if factor.ndim == 2 else torch.diag(factor)


def _work(factors: Sequence[Tensor]) -> int:
    """How many multiplications the product takes."""
    matrices = [_matrix(one) for one in factors if one.shape != (1,)]
    return sum(M.numel() * matrices[0].shape[1] for _, M in pairwise(matrices))
