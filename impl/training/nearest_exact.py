"""Nearest points of norm balls for one matrix: in ball arithmetic, and in rationals where they are.

A candidate P of the ball is the nearest point up to √η if the variational inequality holds up to η,

    ℓ ‖A − P‖_* − ⟨A − P, P⟩ ≤ η  ⇒  ‖P − ΠA‖_F² ≤ η

(take Z = ΠA in ⟨A − P, Z − P⟩ ≤ η and Z = P in ⟨A − ΠA, Z − ΠA⟩ ≤ 0, and add). ‖·‖_* is the sum of
singular values for the spectral ball, Σ_i max_j |·_ij| for row sums and ‖·‖_F for the Frobenius
ball. Candidates come from a Jacobi singular value decomposition at twice the precision and are
shrunk into the ball; how they were found is not part of the proof. Sources: Moreau (1962);
Demmel & Veselić, Jacobi's method is more accurate than QR (1992).
"""

import math

from flint import arb, arb_mat, ctx, fmpq
from torch import Tensor

from rnnbounds.impl.numbers.rationals import rational
from rnnbounds.impl.numbers.spectra.exact_norm import rational_norm_at_most
from rnnbounds.impl.numbers.spectra.jacobi import dot, singular_value_decomposition
from rnnbounds.impl.training.projection import Ball

Rational = list[list[fmpq]]
_GUARD_BITS = 32


def ball_itself(A: Tensor) -> arb_mat:
    """The floats of A (m, n), exactly."""
    return arb_mat(A.tolist())


def ball_projected(A: Tensor, ball: Ball) -> arb_mat:
    """ΠA of one matrix (m, n), entry by entry, at flint's precision."""
    known = rational_projected(A, ball)
    if known is not None:
        return arb_mat([[arb(v) for v in row] for row in known])
    with ctx.workprec(2 * ctx.prec + _GUARD_BITS):
        candidate = _clipped if ball.norm == "spectral" else _radial
        P, eta = candidate(arb_mat(A.tolist()), ball.radius)
        around = arb(0, eta.upper().max(arb(0)).sqrt().upper())
        return arb_mat([[v + around for v in row] for row in P.tolist()])


def rational_itself(A: Tensor) -> Rational:
    """The floats of A (m, n), exactly."""
    return [list(map(rational, row)) for row in A.tolist()]


def rational_projected(A: Tensor, ball: Ball) -> Rational | None:
    """ΠA where its entries are known to be rational, else None.

    That is: inside of the ball, for balls of one point, for row sums, for matrices with at most
    one entry in each row and column (these are its singular values), for rational Frobenius norms.
    """
    rows, ell = rational_itself(A), rational(ball.radius)
    if ball.norm == "infinity":
        return [_project_l1_ball(row, ell) for row in rows]
    if ball.norm == "frobenius":
        return _scaled(rows, _root(_square(rows)), ell)
    if _scattered(rows) or ell == 0:
        return [[min(max(v, -ell), ell) for v in row] for row in rows]
    return rows if rational_norm_at_most(A, ell) else None


def frobenius(A: arb_mat) -> arb:
    """‖A‖_F, never NaN for finite balls."""
    entries = A.entries()
    low = sum((v.abs_lower() * v.abs_lower() for v in entries), arb(0)).lower()
    high = sum((v.abs_upper() * v.abs_upper() for v in entries), arb(0)).upper()
    return low.max(arb(0)).sqrt().union(high.sqrt())


def _clipped(A: arb_mat, radius: float) -> tuple[arb_mat, arb]:
    """A point of the spectral ball, and η."""
    ell = arb(radius)
    U, sigma, V = singular_value_decomposition(A)
    kept = [s.min(ell) for s in sigma]
    beyond = [s - k for s, k in zip(sigma, kept, strict=True)]
    # ‖U S Vᵀ‖ ≤ ‖U‖ ‖V‖ max S, and ‖U‖² ≤ 1 + ‖UᵀU − I‖_F.
    stretch = ((1 + _defect(U)) * (1 + _defect(V))).upper().sqrt()
    weights = [(k / stretch).mid() for k in kept]
    P = _outer(U, weights, V)
    largest = arb(0)
    for weight in weights:
        largest = largest.max(weight)
    over = (largest * stretch + frobenius(P - P.mid())).upper()
    P = P.mid() * (ell / over).min(arb(1)).lower()
    rest = A - P
    left = rest - _outer(U, beyond, V)
    lengths = [dot(u, u).sqrt() * dot(v, v).sqrt() for u, v in zip(U, V, strict=True)]
    nuclear = sum((b * length for b, length in zip(beyond, lengths, strict=True)), arb(0))
    nuclear += arb(len(sigma)).sqrt() * frobenius(left)
    return P, ell * nuclear - _inner(rest, P)


def _radial(A: arb_mat, radius: float) -> tuple[arb_mat, arb]:
    """A point of the Frobenius ball, and η."""
    ell = arb(radius)
    P = A * (ell / frobenius(A)).min(arb(1)).lower()
    return P, ell * frobenius(A - P) - _inner(A - P, P)


def _project_l1_ball(row: list[fmpq], ell: fmpq) -> list[fmpq]:
    """The nearest point of the ℓ1 ball, exactly, by sorting."""
    if sum(map(abs, row), fmpq(0)) <= ell:
        return row
    ordered, total, theta = sorted(map(abs, row), reverse=True), fmpq(0), fmpq(0)
    for count, size in enumerate(ordered, start=1):
        total += size
        if size > (total - ell) / count:
            theta = (total - ell) / count
    if ell == 0:
        theta = ordered[0]
    return [v * max(1 - theta / abs(v), fmpq(0)) if v != 0 else v for v in row]


def _scaled(rows: Rational, size: fmpq | None, ell: fmpq) -> Rational | None:
    if size is None:
        return rows if _square(rows) <= ell * ell else None
    return rows if size <= ell else [[v * (ell / size) for v in row] for row in rows]


def _scattered(rows: Rational) -> bool:
    """True if each row and each column has at most one nonzero entry."""
    lines = [*rows, *zip(*rows, strict=True)]
    return all(sum(v != 0 for v in line) <= 1 for line in lines)


def _root(square: fmpq) -> fmpq | None:
    """√square if it is rational."""
    p, q = math.isqrt(int(square.p)), math.isqrt(int(square.q))
    return fmpq(p, q) if fmpq(p * p, q * q) == square else None


def _square(rows: Rational) -> fmpq:
    return sum((v * v for row in rows for v in row), fmpq(0))


def _outer(U: list[list[arb]], weights: list[arb], V: list[list[arb]]) -> arb_mat:
    """Σ_i w_i u_i v_iᵀ."""
    columns = arb_mat([[w * v for v in u] for u, w in zip(U, weights, strict=True)]).transpose()
    return columns * arb_mat(V)


def _inner(A: arb_mat, B: arb_mat) -> arb:
    return dot(A.entries(), B.entries())


def _defect(U: list[list[arb]]) -> arb:
    """At least ‖UᵀU − I‖_F, but for columns that are 0."""
    gaps = [
        dot(u, v) - (i == j and any(not x.is_zero() for x in u))
        for i, u in enumerate(U)
        for j, v in enumerate(U)
    ]
    return frobenius(arb_mat([gaps])).upper()
