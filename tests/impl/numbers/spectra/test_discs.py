"""Eigenvalues outside the unit circle, certified in floats: none where there is none."""

import numpy as np
import pytest
import torch
from draws import doubles, normal
from flint import acb_mat, arb, arb_mat, ctx

from rnnbounds.impl.numbers.spectra.eigenvalues import eigenvalue_outside_circle


def modulus(mid: torch.Tensor, radius: torch.Tensor) -> float | None:
    """The lower bound alone; the eigenvalue that is told is about as large."""
    if (found := eigenvalue_outside_circle(mid, radius)) is None:
        return None
    assert abs(found[0]) >= found[1] > 1
    return found[1]


def none(n: int) -> torch.Tensor:
    """No radius."""
    return torch.zeros(n, n, dtype=torch.float64)


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_balls_agree(n):
    """The largest eigenvalue's modulus, from below and nearly met, as balls enclose it."""
    W = normal(n, n, seed=n) * (3 / n**0.5)
    found = modulus(W, none(n))
    with ctx.workprec(256):
        sizes = [abs(one) for one in acb_mat(arb_mat(W.tolist())).eig(multiple=True)]
        assert any(size >= arb(found) for size in sizes)
        assert float(max(sizes, key=lambda size: float(size.mid())).mid()) - found < 1e-9


@pytest.mark.parametrize("factor", [1 - 1e-9, 1 - 1e-12, 1.0])
def test_what_nearly_repels_is_not_certified(factor):
    """A spectral radius of 1 − 10⁻⁹, of which every vector but one is lengthened at first."""
    n = 24
    Q = torch.linalg.qr(normal(n, n, seed=3))[0]
    D = torch.diag(torch.linspace(0.1, 1.0, n, dtype=torch.float64) * factor)
    assert modulus(Q @ D @ Q.mT, none(n)) is None
    above = torch.diag(torch.linspace(0.1, 1.0, n, dtype=torch.float64) * (1 + 1e-9))
    found = modulus(Q @ above @ Q.mT, none(n))
    assert found is not None
    assert 1 < found <= 1 + 1e-9


def test_every_matrix_within_the_radius():
    """Two is outside, and apart from a half, within 0.4; and no longer within 1.1."""
    W = doubles([[2.0, 0.0], [0.0, 0.5]])
    found = modulus(W, torch.eye(2).double() * 0.4)
    assert found is not None
    assert 1 < found <= 1.6
    assert modulus(W, torch.eye(2).double() * 1.1) is None


def test_discs_that_meet_are_counted_together():
    """A double eigenvalue outside; and one whose disc meets that of one inside."""
    W = doubles([[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.1]])
    assert modulus(W, torch.full((3, 3), 0.01).double()) is not None
    W = doubles([[1.5, 0.0], [0.0, 0.9]])
    assert modulus(W, torch.full((2, 2), 0.2).double()) is None


def test_what_has_no_eigenvectors_is_left_alone():
    """A Jordan block, numbers that are none, and products that overflow."""
    jordan = modulus(doubles([[0.5, 1.0], [0.0, 0.5]]), none(2))
    assert jordan is None
    assert modulus(doubles([[np.nan]]), none(1)) is None
    assert modulus(doubles([[2.0]]), doubles([[np.inf]])) is None
    assert modulus(torch.full((2, 2), 1e308, dtype=torch.float64), none(2)) is None
    assert modulus(torch.full((3, 3), 5e-324, dtype=torch.float64), none(3)) is None
