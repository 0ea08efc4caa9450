"""Nearest points of norm balls: in floats, within their errors, in balls and in rationals."""

import math
from fractions import Fraction

import mpmath
import pytest
import torch
from draws import normal
from flint import arb, arb_mat, ctx, fmpq
from torch import Tensor

from rnnbounds.impl.numbers.spectra.jacobi import dot, singular_value_decomposition
from rnnbounds.impl.training.nearest import distance, itself, projected, projection_error
from rnnbounds.impl.training.nearest_exact import (
    ball_itself,
    ball_projected,
    frobenius,
    rational_itself,
    rational_projected,
)
from rnnbounds.impl.training.projection import Ball, nearest_rows, stable

NORMS = ("spectral", "infinity", "frobenius")


def test_ends():
    """Squares that would overflow do not turn the projection into zero; a matrix that is certified
    as it stands comes back unchanged, without a batch too."""
    W = torch.full((2, 2), 1e200, dtype=torch.float64)
    assert torch.allclose(Ball("frobenius", 1.0).project(W), torch.full_like(W, 0.5), rtol=1e-15)
    W = torch.eye(3, dtype=torch.float64) / 2
    assert torch.equal(stable(W, 0.5, "infinity"), W)
    assert torch.equal(stable(W, 0.75), W)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("ell", [0.5, 1e-30, 3e37])
@pytest.mark.parametrize("top", [1.0, 1e8, 1e17, 3e38])
def test_row_sums_of_large_entries(top, ell, dtype):
    """The nearest point, to rounding of ℓ however large the entries are."""
    below = top - ell / 2
    rows = [[top, 0, 0, 0], [-top, top, 0, top], [top, below, 0, -top], [0, -top, top / 2, 1e-9]]
    W = torch.tensor(rows, dtype=dtype)
    near = Ball("infinity", ell).project(W)
    assert near.dtype == dtype
    exact = rational_projected(W.double(), Ball("infinity", ell))
    assert exact is not None
    for row, expected, entries in zip(near.tolist(), exact, W.tolist(), strict=True):
        for value, point, entry in zip(row, expected, entries, strict=True):
            off = abs(Fraction(value) - Fraction(int(point.p), int(point.q)))
            assert off <= 4 * torch.finfo(dtype).eps * Fraction(ell)
            assert abs(value) <= abs(entry)
    radii = torch.full((4,), ell, dtype=torch.float64)
    certain = nearest_rows(W, radii, certify=True)
    assert bool((certain.double().abs().sum(1) <= radii).all())
    assert bool(((certain - near).abs() <= 64 * torch.finfo(dtype).eps * ell).all())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("norm", NORMS)
def test_stable_is_certified(norm, dtype):
    """What `stable` returns is certified to lie in the ball, in the matrix's own dtype."""
    W = normal(40, 6, 6).to(dtype)
    nearest = stable(W, 0.95, norm)
    ball = Ball(norm, 0.95)
    assert nearest.dtype == dtype
    assert bool(ball.contains(nearest).all())
    away = torch.linalg.matrix_norm(nearest - ball.project(W))
    assert float(away.max()) <= 200 * torch.finfo(dtype).eps


def matrices(m: int, n: int) -> Tensor:
    """Random ones, and zero, tiny, orthogonal, huge and rank-one ones."""
    A = normal(8, m, n, seed=m * n)
    A[0] = 0
    A[1] *= 1e-3
    A[2] = 3 * torch.eye(m, n)
    A[3] *= 1e100
    A[4] = A[4, :, :1] @ A[4, :1, :]
    A[5] *= 1e-200
    return A


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 5), (5, 3), (6, 6)])
def test_points_are_within_their_errors(norm: str, shape: tuple[int, int]) -> None:
    """Exact points are within the bounds of the float64 ones, and these are near rounding."""
    A, ball = matrices(*shape), Ball(norm, 0.9)
    found = projected(A, ball)
    assert (found.error <= 1e-12 * (1 + A.flatten(1).norm(dim=1))).all()
    with ctx.workprec(500):
        for i, error in enumerate(found.error.tolist()):
            gap = frobenius(ball_projected(A[i], ball) - arb_mat(found.value[i].tolist()))
            assert gap <= error * (1 + 1e-15)


@pytest.mark.parametrize("norm", NORMS)
def test_inside_is_exact(norm: str) -> None:
    """A matrix that certainly lies in the ball is its own nearest point, without error."""
    A = matrices(3, 3)[:2]
    found = projected(A, Ball(norm, 0.9))
    assert torch.equal(found.value, A)
    assert (found.error == 0).all()
    low, high = distance(itself(A), itself(A))
    assert (low == 0).all()
    assert (high == 0).all()


@pytest.mark.parametrize("norm", NORMS)
def test_wrong_points_are_seen(norm: str) -> None:
    """The bound covers any distance: of a moved point, of a shorter one, of NaN."""
    A, ball = matrices(4, 4)[6:], Ball(norm, 0.5)
    ell = torch.full((2,), 0.5, dtype=torch.float64)
    P = ball.project(A)
    moved = P.clone()
    moved[:, 0, 0] += 1e-6
    assert (projection_error(A, moved, norm, ell) >= 1e-6 * (1 - 1e-6)).all()
    assert (projection_error(A, moved, norm, ell) <= 4e-6).all()
    shrunk = P / 2
    away = torch.linalg.matrix_norm(shrunk - P)
    assert (projection_error(A, shrunk, norm, ell) >= away * (1 - 1e-9)).all()
    for bad in ((A * math.nan, P), (A, P * math.nan)):
        assert (projection_error(*bad, norm, ell) == math.inf).all()


PRECISION = 150


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 5), (5, 2)])
def test_decomposition(shape: tuple[int, int]) -> None:
    """The factors reproduce the matrix and are orthonormal, to the precision asked for."""
    A = arb_mat(normal(*shape).tolist())
    with ctx.workprec(PRECISION):
        U, sigma, V = singular_value_decomposition(A)
        rows = [[s * v for v in u] for u, s in zip(U, sigma, strict=True)]
        assert frobenius(A - arb_mat(rows).transpose() * arb_mat(V)) < arb(2) ** (20 - PRECISION)
        for vectors in (U, V):
            for i, u in enumerate(vectors):
                for j, v in enumerate(vectors):
                    assert abs(dot(u, v) - (i == j)) < arb(2) ** (20 - PRECISION)


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2)])
def test_spectral_projection(shape: tuple[int, int]) -> None:
    """The enclosure holds U min(Σ, ℓ) Vᵀ of another library, and is narrow."""
    A = normal(*shape, seed=1)
    with ctx.workprec(PRECISION), mpmath.workprec(2 * PRECISION):
        found = ball_projected(A, Ball("spectral", 0.75))
        U, sigma, V = mpmath.svd_r(mpmath.matrix(A.tolist()), full_matrices=False)
        kept = mpmath.diag([min(s, mpmath.mpf(0.75)) for s in sigma])
        expected = U * kept * V
        for i in range(A.shape[0]):
            for j in range(A.shape[1]):
                entry = arb(mpmath.nstr(expected[i, j], 80))
                assert found[i, j].overlaps(entry)
                assert found[i, j].rad() < arb(2) ** (10 - PRECISION)


def test_non_expansive_at_a_cluster() -> None:
    """Near multiples of the identity, whose singular vectors are ill-defined, points are sharp."""
    A = 2 * torch.eye(4, dtype=torch.float64)
    B = A + 1e-9 * normal(4, 4)
    ball = Ball("spectral", 1.0)
    with ctx.workprec(100):
        gap = frobenius(ball_projected(A, ball) - ball_projected(B, ball))
        before = frobenius(ball_itself(A) - ball_itself(B))
    assert gap < before
    assert gap.rad() < 1e-20


@pytest.mark.parametrize("norm", NORMS)
def test_candidates_prove_themselves(norm: str) -> None:
    """Every point Z of the ball makes an obtuse angle: ⟨A − ΠA, Z − ΠA⟩ ≤ 0."""
    A, ball = normal(4, 4, seed=2), Ball(norm, 0.75)
    P = ball_projected(A, ball)
    rest = (arb_mat(A.tolist()) - P).entries()
    for seed in range(30):
        Z = ball.project(normal(4, 4, seed=seed)) * (1 - 2**-40)
        assert dot(rest, (arb_mat(Z.tolist()) - P).entries()) < 1e-15


def test_rational_points() -> None:
    """Rational where it can be: row sums, diagonals, scattered entries, Pythagoras, inside."""
    half = Ball("spectral", 0.5)
    scattered = torch.tensor([[0.0, -3.0], [0.25, 0.0]], dtype=torch.float64)
    assert rational_projected(scattered, half) == [[0, fmpq(-1, 2)], [fmpq(1, 4), 0]]
    rows = torch.tensor([[3.0, 1.0], [0.75, -0.75], [0.25, 0.0]], dtype=torch.float64)
    ball = Ball("infinity", 1.0)
    assert rational_projected(rows, ball) == [[1, 0], [fmpq(1, 2), fmpq(-1, 2)], [fmpq(1, 4), 0]]
    assert rational_projected(rows, Ball("infinity", 0.0)) == [[0, 0]] * 3
    right = torch.tensor([[3.0, 4.0]], dtype=torch.float64)
    assert rational_projected(right, Ball("frobenius", 1.0)) == [[fmpq(3, 5), fmpq(4, 5)]]
    for norm in NORMS:
        A = normal(3, 3) / 100
        assert rational_projected(A, Ball(norm, 1.0)) == rational_itself(A)
