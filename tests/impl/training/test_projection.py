from fractions import Fraction

import pytest
import torch
from draws import normal as draw

from rnnbounds.impl.training.nearest_exact import rational_projected
from rnnbounds.impl.training.projection import Ball, nearest_rows, stable

NORMS = ("spectral", "infinity", "frobenius")


def test_frobenius_of_huge_entries():
    """Squares that would overflow do not turn the projection into zero."""
    W = torch.full((2, 2), 1e200, dtype=torch.float64)
    assert torch.allclose(Ball("frobenius", 1.0).project(W), torch.full_like(W, 0.5), rtol=1e-15)


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
    W = draw(40, 6, 6).to(dtype)
    nearest = stable(W, 0.95, norm)
    ball = Ball(norm, 0.95)
    assert nearest.dtype == dtype
    assert bool(ball.contains(nearest).all())
    away = torch.linalg.matrix_norm(nearest - ball.project(W))
    assert float(away.max()) <= 200 * torch.finfo(dtype).eps


def test_stable_keeps_certified_matrices():
    """A matrix that is certified as it stands comes back unchanged, without a batch too."""
    W = torch.eye(3, dtype=torch.float64) / 2
    assert torch.equal(stable(W, 0.5, "infinity"), W)
    assert torch.equal(stable(W, 0.75), W)
