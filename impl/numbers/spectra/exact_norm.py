"""The spectral norm ‖W‖₂ in ball arithmetic, and compared with a number exactly in rationals."""

import math
from fractions import Fraction

from flint import acb_mat, arb, arb_mat, ctx, fmpq, fmpz_mat
from torch import Tensor

from rnnbounds.impl.errors import ShapeError
from rnnbounds.impl.numbers.rationals import common_denominator

_GUARD_BITS = 32


def ball_norm(W: Tensor | arb_mat) -> arb:
    """A ball around ‖W‖₂ of one matrix (m, n), of floats or of balls, at flint's precision.

    From certified enclosures of all eigenvalues of MᵀM, M the midpoints, and the Frobenius norm of
    the radii: its own radius is about n³ 2^−precision of the norm, multiple eigenvalues included,
    plus that of the balls. NaN where W is not finite. Raises ShapeError.
    """
    matrix = W if isinstance(W, arb_mat) else arb_mat(_rows(W))
    if matrix.nrows() < matrix.ncols():
        matrix = matrix.transpose()
    entries = matrix.entries()
    if not all(entry.is_finite() for entry in entries):
        return arb.nan()
    if len(entries) == 1:
        return abs(entries[0])
    with ctx.extraprec(_GUARD_BITS):
        midpoint = matrix.mid()
        low, high = _largest_eigenvalue(midpoint)
        spread = sum((entry.rad() * entry.rad() for entry in entries), arb(0)).upper().sqrt()
        least = (low.max(arb(0)).sqrt() - spread).lower()
        norm = least.max(arb(0)).union((high.max(arb(0)).sqrt() + spread).upper())
    return +norm


def rational_norm_at_most(W: Tensor, s: fmpq | float) -> bool:
    """True if ‖W‖₂ ≤ s, exactly and at any scale: s²I − WᵀW ⪰ 0.

    W (m, n) is taken as the exact rationals that its floats are. False where W or s is not finite.
    """
    rows = _rows(W)
    if not all(math.isfinite(w) for row in rows for w in row):
        return False
    if isinstance(s, float) and not math.isfinite(s):
        return False
    bound = Fraction(s) if isinstance(s, float | int) else Fraction(int(s.p), int(s.q))
    if bound < 0:
        return False
    integers, scale = common_denominator(rows)
    M = fmpz_mat(integers)
    gram = M.transpose() * M if M.ncols() <= M.nrows() else M * M.transpose()
    n, top, bottom = gram.nrows(), (bound.numerator * scale) ** 2, bound.denominator**2
    largest = fmpz_mat([[top * (i == j) for j in range(n)] for i in range(n)])
    return positive_semidefinite(largest - bottom * gram)


def positive_semidefinite(S: fmpz_mat) -> bool:
    """True if a symmetric integer matrix is positive semidefinite: all its eigenvalues, the real
    roots of its characteristic polynomial, are at least 0 just where the signs of the coefficients
    alternate, zeros apart (Descartes)."""
    coefficients = S.charpoly().coeffs()[::-1]
    return all(c >= 0 for c in coefficients[::2]) and all(c <= 0 for c in coefficients[1::2])


def _largest_eigenvalue(midpoint: arb_mat) -> tuple[arb, arb]:
    """Bounds on the largest eigenvalue of MᵀM for an exact M."""
    gram = midpoint.transpose() * midpoint
    if gram.nrows() == 1:
        return gram[0, 0].lower(), gram[0, 0].upper()
    try:
        eigenvalues = [value.real for value in acb_mat(gram).eig(multiple=True)]
    except ValueError:  # clusters that are not isolated, at any precision
        return _by_squaring(midpoint)
    low, high = eigenvalues[0].lower(), eigenvalues[0].upper()
    for value in eigenvalues[1:]:
        low, high = low.max(value.lower()), high.max(value.upper())
    return low, high


def _by_squaring(midpoint: arb_mat) -> tuple[arb, arb]:
    """(tr Gᴺ / n)^(1/N) ≤ λ_max ≤ (tr Gᴺ)^(1/N), G = MᵀM, N = 2^precision: slow, never at a loss.

    Each squaring doubles the relative radius, so it takes twice the precision.
    """
    squarings = ctx.prec
    with ctx.extraprec(ctx.prec + _GUARD_BITS):
        power = midpoint.transpose() * midpoint
        for _ in range(squarings):
            power = power * power
        trace = power.trace()
        if not trace > 0:
            return arb(0), (midpoint.transpose() * midpoint).trace().upper()
        low, high = trace / power.nrows(), trace
        root = arb(2) ** -squarings
        return (low.log() * root).exp().lower(), (high.log() * root).exp().upper()


def _rows(W: Tensor) -> list[list[float]]:
    if W.ndim != 2 or not W.numel():
        raise ShapeError("W", "(m, n)", W)
    rows: list[list[float]] = W.detach().cpu().double().tolist()
    return rows


def positive_definite(S: arb_mat) -> bool:
    """True if every symmetric matrix in the balls of S (n, n) is proved positive definite.

    The pivots of Gaussian elimination without exchange are positive if and only if the matrix is
    definite; NaN is never positive. S is symmetric as stated: its lower triangle is read.
    """
    rows = S.tolist()
    for k, row in enumerate(rows):
        pivot = row[k]
        if not pivot > 0:
            return False
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] / pivot
            for j in range(k + 1, i + 1):
                rows[i][j] -= factor * rows[j][k]
    return True
