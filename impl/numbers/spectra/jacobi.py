"""Singular value decompositions to any precision by one-sided Jacobi rotations.

The result is approximate: what is concluded from it has to be certified by its residuals.
Source: Demmel & Veselić, Jacobi's method is more accurate than QR (1992).
"""

from collections.abc import Sequence
from typing import TypeVar

import torch
from flint import arb, arb_mat, ctx, fmpq

N = TypeVar("N", arb, fmpq)
_SWEEPS = 60


def singular_value_decomposition(A: arb_mat) -> tuple[list[list[arb]], list[arb], list[list[arb]]]:
    """Vectors u_i, numbers σ_i ≥ 0 and vectors v_i with A ≈ Σ_i σ_i u_i v_iᵀ, all exact midpoints.

    A (m, n) gives min(m, n) of each, orthonormal up to flint's precision; u_i = 0 where σ_i = 0.
    """
    if A.nrows() < A.ncols():
        V, sigma, U = singular_value_decomposition(A.transpose())
        return U, sigma, V
    floats = torch.tensor([[float(v) for v in row] for row in A.tolist()], dtype=torch.float64)
    V = _orthonormal(torch.linalg.svd(floats).Vh.tolist())
    columns = arb_mat(V) * A.transpose()
    G = [[v.mid() for v in row] for row in columns.tolist()]
    small = arb(2) ** (8 - ctx.prec)
    for _ in range(_SWEEPS):
        rotations = sum(_rotate(G, V, i, j, small) for j in range(len(G)) for i in range(j))
        if not rotations:
            break
    sigma = [dot(g, g).sqrt().mid() for g in G]
    U = [[(v / s).mid() if s > 0 else arb(0) for v in g] for g, s in zip(G, sigma, strict=True)]
    return U, sigma, V


def dot(a: Sequence[N], b: Sequence[N]) -> N:
    """a·b of balls or of rationals."""
    return sum((x * y for x, y in zip(a, b, strict=True)), type(b[0])(0))


def _rotate(G: list[list[arb]], V: list[list[arb]], i: int, j: int, small: arb) -> bool:
    """Make two vectors orthogonal by a rotation; True if that was needed."""
    a, b, c = (dot(G[p], G[q]).mid() for p, q in ((i, i), (j, j), (i, j)))
    if not abs(c) > small * (a * b).sqrt():
        return False
    zeta = (b - a) / (2 * c)
    sign = -1 if zeta < 0 else 1
    tangent = (sign / (abs(zeta) + (1 + zeta * zeta).sqrt())).mid()
    cosine = (1 / (1 + tangent * tangent).sqrt()).mid()
    sine = (cosine * tangent).mid()
    for M in (G, V):
        pairs = list(zip(M[i], M[j], strict=True))
        M[i] = [(cosine * p - sine * q).mid() for p, q in pairs]
        M[j] = [(sine * p + cosine * q).mid() for p, q in pairs]
    return True


def _orthonormal(rows: list[list[float]]) -> list[list[arb]]:
    """Rows that are nearly orthonormal, made so at flint's precision (Gram & Schmidt, twice)."""
    basis: list[list[arb]] = []
    for row in rows:
        vector = [arb(v) for v in row]
        for _ in range(2):
            for unit in basis:
                component = dot(unit, vector).mid()
                vector = [(v - component * k).mid() for v, k in zip(vector, unit, strict=True)]
        length = dot(vector, vector).sqrt()
        basis.append([(v / length).mid() for v in vector])
    return basis
