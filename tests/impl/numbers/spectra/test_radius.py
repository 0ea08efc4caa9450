import math

import pytest
import torch
from draws import normal

from rnnbounds.impl.errors import ShapeError
from rnnbounds.impl.gradients.constants import spectral_radius_bound


def test_known_radii() -> None:
    """Rotations, Jordan blocks, triangular and zero matrices of known spectral radius."""
    jordan = torch.tensor([[0.5, 100.0], [0.0, 0.5]], dtype=torch.float64)
    turn = torch.tensor([[0.0, -0.75], [0.75, 0.0]], dtype=torch.float64)
    zero = torch.zeros(2, 2, dtype=torch.float64)
    W = torch.stack([jordan, turn, zero, 3e-200 * turn / 0.75, 3e200 * turn / 0.75])
    bounds = spectral_radius_bound(W)
    exact = torch.tensor([0.5, 0.75, 0.0, 3e-200, 3e200], dtype=torch.float64)
    assert (bounds >= exact).all()
    assert (bounds <= exact * 1.02).all()


@pytest.mark.parametrize("n", [1, 3, 16])
def test_bounds_eigenvalues(n: int) -> None:
    """The bound is above every eigenvalue of a random matrix and within half a per cent."""
    W = normal(40, n, n, seed=n)
    radius = torch.linalg.eigvals(W).abs().amax(1)
    bounds = spectral_radius_bound(W)
    assert (bounds >= radius * (1 - 1e-10)).all()
    assert (bounds <= radius * 1.01).all()


def test_bad_input() -> None:
    """Matrices that are not finite have the bound infinity; other shapes are refused."""
    W = torch.tensor([[[math.nan]], [[math.inf]], [[0.5]]], dtype=torch.float64)
    assert spectral_radius_bound(W).tolist() == [math.inf, math.inf, 0.5]
    with pytest.raises(ShapeError):
        spectral_radius_bound(W[0])
