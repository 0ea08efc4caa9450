"""Positive definiteness of a symmetric matrix of balls, proved by its pivots."""

from flint import arb_mat


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
