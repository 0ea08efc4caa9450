import mpmath
import pytest
import torch
from draws import normal
from flint import arb, arb_mat, ctx, fmpq

from rnnbounds.impl.numbers.spectra.jacobi import dot, singular_value_decomposition
from rnnbounds.impl.training.nearest_exact import (
    ball_itself,
    ball_projected,
    frobenius,
    rational_itself,
    rational_projected,
)
from rnnbounds.impl.training.projection import Ball

NORMS = ("spectral", "infinity", "frobenius")
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
