import math
from fractions import Fraction

import pytest
import torch
from draws import normal as draw

from rnnbounds.impl.training.nearest_exact import rational_projected
from rnnbounds.impl.training.projection import (
    Ball,
    nearest_rows,
    project_frobenius,
    project_infinity,
    project_spectral,
    stable,
)

PROJECTIONS = {
    "spectral": project_spectral,
    "infinity": project_infinity,
    "frobenius": project_frobenius,
}
NORMS = tuple(PROJECTIONS)


@pytest.mark.parametrize("norm", NORMS)
def test_inside_untouched(norm):
    """A matrix of the set comes back bit for bit."""
    W = draw(2, 3, 3) * 1e-3
    assert torch.equal(PROJECTIONS[norm](W, 0.9), W)


def test_rescaling_is_expansive():
    """Rescaling W·min(1, ℓ/‖W‖₂) near the identity expands by √n; the projection does not."""
    A = torch.eye(3, dtype=torch.float64)[None]
    A = A + torch.diag(torch.tensor([1e-6, 0.0, 0.0], dtype=torch.float64))
    B = A + torch.diag(torch.tensor([1e-7, 0.0, 0.0], dtype=torch.float64))

    def rescale(W: torch.Tensor) -> torch.Tensor:
        return W * min(1.0, 1.0 / float(torch.linalg.svdvals(W).max()))

    distance = float(torch.linalg.matrix_norm(A - B))
    assert float(torch.linalg.matrix_norm(rescale(A) - rescale(B))) > 1.4 * distance
    projected = project_spectral(A, 1.0) - project_spectral(B, 1.0)
    assert float(torch.linalg.matrix_norm(projected)) <= distance


@pytest.mark.parametrize("norm", NORMS)
def test_zero_radius(norm):
    """The ball of radius 0 holds the zero matrix alone."""
    assert not PROJECTIONS[norm](draw(2, 3, 3), 0.0).any()
    assert bool(Ball(norm, 0.0).contains(stable(draw(2, 3, 3), 0.0, norm)).all())


def test_frobenius_of_huge_entries():
    """Squares that would overflow do not turn the projection into zero."""
    W = torch.full((2, 2), 1e200, dtype=torch.float64)
    assert torch.allclose(project_frobenius(W, 1.0), torch.full_like(W, 0.5), rtol=1e-15)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("ell", [0.5, 1e-30, 3e37])
@pytest.mark.parametrize("top", [1.0, 1e8, 1e17, 3e38])
def test_row_sums_of_large_entries(top, ell, dtype):
    """The nearest point, to rounding of ℓ however large the entries are."""
    below = top - ell / 2
    rows = [[top, 0, 0, 0], [-top, top, 0, top], [top, below, 0, -top], [0, -top, top / 2, 1e-9]]
    W = torch.tensor(rows, dtype=dtype)
    near = project_infinity(W, ell)
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


def test_row_sums_of_large_radii():
    """Sums beyond the largest float, and radii beyond that of the dtype."""
    W = torch.full((1, 4), 1.5e308, dtype=torch.float64)
    assert torch.allclose(project_infinity(W, 1e308), W / 6, rtol=1e-15)
    single = torch.full((1, 4), 3e38)
    assert torch.equal(project_infinity(single, 1e40), single)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("norm", NORMS)
def test_stable_is_certified(norm, dtype):
    """What `stable` returns is certified to lie in the ball, in the matrix's own dtype."""
    W = draw(40, 6, 6).to(dtype)
    nearest = stable(W, 0.95, norm)
    ball = Ball(norm, 0.95)
    assert nearest.dtype == dtype
    assert bool(ball.contains(nearest).all())
    away = torch.linalg.matrix_norm(nearest - ball.project(W))
    assert float(away.max()) <= 200 * torch.finfo(dtype).eps


def test_stable_convicts_the_bare_projection():
    """The bare projection is not certified for every matrix: this is why `stable` exists."""
    projected = project_spectral(draw(40, 6, 6), 0.95)
    assert not bool(Ball("spectral", 0.95).contains(projected).all())


def test_stable_keeps_certified_matrices():
    """A matrix that is certified as it stands comes back unchanged, without a batch too."""
    W = torch.eye(3, dtype=torch.float64) / 2
    assert torch.equal(stable(W, 0.5, "infinity"), W)
    assert torch.equal(stable(W, 0.75), W)


def test_bounds_are_upper_bounds():
    """Each certified norm is at least the float one and hardly more."""
    W = draw(20, 5, 3)
    floats = {
        "spectral": torch.linalg.matrix_norm(W, 2),
        "infinity": torch.linalg.matrix_norm(W, math.inf),
        "frobenius": torch.linalg.matrix_norm(W),
    }
    for norm, value in floats.items():
        bound = Ball(norm, 1.0).bound(W)
        assert bool((bound >= value * (1 - 1e-15)).all())
        assert bool((bound <= value * (1 + 1e-12)).all())
