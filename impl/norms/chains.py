"""Lipschitz constants of matrices with averaged operators between them, M_g ρ_g ⋯ ρ_1 M_0.

Two values of a ρ_l whose Jacobian is symmetric with a_l I ⪯ ρ_l′ ⪯ b_l I, as that of an activation
with such slopes, differ by

    ρ_l(u) − ρ_l(v) = (m_l I + r_l E)(u − v),  ‖E‖₂ ≤ 1,  m_l = (a_l + b_l)/2,  r_l = (b_l − a_l)/2,

since so does the mean of ρ_l′ between u and v. The difference of two outputs is that of h times a
product of such sums, a sum over all choices of m_l I or r_l E for each l; and of each choice ‖E‖₂ ≤
1 leaves a product of norms of *segments* M_j ⋯ M_i. With L_{−1} r_0 = 1 their sum is L_g of

    L_j = Σ_{i ≤ j} L_{i−1} r_i m_{i+1} ⋯ m_j ‖M_j ⋯ M_i‖₂.

For ReLU and tanh, whose m = r = 1/2, one layer of them between two matrices gives (‖M_1 M_0‖₂ +
‖M_1‖₂‖M_0‖₂)/2. It is never more than the product of all norms and b_l if a_l ≥ 0.
Source: Combettes & Pesquet (2020), Lipschitz Certificates for Layered Network Structures Driven by
Averaged Activation Operators.
"""

from collections.abc import Sequence
from itertools import chain

from torch import Tensor

from rnnbounds.impl.numbers.outward import TINY, add_up, gamma, mul_up, norm_up
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm

MOST = 2**22  # multiplications of all segments, each of which the checker does in balls


def segment_norms(blocks: Sequence[Sequence[Tensor]]) -> list[list[float]] | None:
    """At least ‖M_j ⋯ M_i‖₂ at [i][j − i], where M_l is the product of a block of matrices (p, q),
    the first of which is applied first, and I of none; None if that is too much work to check."""
    count = len(blocks)
    segments = [[[*chain(*blocks[i : j + 1])] for j in range(i, count)] for i in range(count)]
    work = (M.numel() * one[0].shape[1] for row in segments for one in row for M in one[1:])
    return None if sum(work) > MOST else [[*map(product_norm, row)] for row in segments]


def product_norm(matrices: Sequence[Tensor]) -> float:
    """At least ‖M_j ⋯ M_1‖₂, and 1 of none: fl(M P) is off by at most γ_n |M||P| (Higham), and what
    P was off by grows by ‖M‖₂."""
    if not matrices:
        return 1.0
    P, off = matrices[0].double()[None], 0.0
    for matrix in matrices[1:]:
        M = matrix.double()[None]
        size = norm_up((M.abs() @ P.abs()).flatten(1))
        own = add_up(mul_up(gamma(2 * M.shape[2] + 4), size), TINY)
        off, P = float(add_up(mul_up(certified_norm(M), off), own)), M @ P
    return float(add_up(certified_norm(P), off))


def chain_lipschitz(
    norms: Sequence[Sequence[float]], averages: Sequence[tuple[float, float]]
) -> float:
    """At least L_g of such norms of segments, where averages[l] are m and r of what stands between
    the blocks l and l + 1."""
    found: list[float] = []
    for j in range(len(norms)):
        total = 0.0
        for i in range(j + 1):
            factors = [m for m, _ in averages[i:j]]
            factors += [found[i - 1], averages[i - 1][1]] if i else []
            term = norms[i][j - i]
            for factor in factors:
                term = float(mul_up(term, factor))
            total = float(add_up(total, term))
        found.append(total)
    return found[-1]
