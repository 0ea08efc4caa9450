"""Eigenvalues outside the unit circle, certified in floats and balls; bounds on spectral radii."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from draws import doubles, normal
from flint import acb_mat, arb, arb_mat, ctx

from rnnbounds.impl.errors import ShapeError
from rnnbounds.impl.gradients.constants import spectral_radius_bound
from rnnbounds.impl.numbers.spectra import eigenvalues
from rnnbounds.impl.numbers.spectra.eigenvalues import (
    eigenvalue_outside_circle,
    unstable_eigenvalue,
    unstable_eigenvalue_of_ball,
)

BELOW, ABOVE = math.nextafter(1, 0), math.nextafter(1, 2)
DIAGONAL = np.diag(np.ones(7), 1)

ON_OR_OUTSIDE = {
    "one": [[1.0]],
    "minus one": [[-1.0]],
    "identity": np.eye(5).tolist(),
    "swap": [[0.0, 1.0], [1.0, 0.0]],
    "quarter turn": [[0.0, -1.0], [1.0, 0.0]],
    "cycle": np.roll(np.eye(6), 1, axis=0).tolist(),
    "Jordan block of 1": (np.eye(8) + DIAGONAL).tolist(),
    "one above": [[ABOVE]],
    "Jordan block above": (ABOVE * np.eye(8) + DIAGONAL).tolist(),
    "2 and 1/2": [[2.0, 0.0], [0.0, 0.5]],
    "1 beside a fraction": [[1.0, 3.0], [0.0, 0.1]],
    "huge": [[1e300, 0.0], [0.0, 1e-300]],
}
INSIDE = {
    "zero": [[0.0]],
    "one below": [[BELOW]],
    "minus one below": [[-BELOW]],
    "Jordan block below": (BELOW * np.eye(8) + DIAGONAL).tolist(),
    "nilpotent": [[2.0, 4.0], [-1.0, -2.0]],
    "nilpotent shift": (1e3 * DIAGONAL).tolist(),
    "subnormal": [[5e-324, 1e3], [0.0, 0.5]],
    "non-normal": [[0.5, 100.0], [0.0, 0.5]],
}


@pytest.mark.parametrize("name", [*ON_OR_OUTSIDE, *INSIDE])
def test_known_eigenvalues(name):
    """A modulus of 1 exactly, or one unit above, is certified; one unit below 1, and nilpotent
    matrices of any size, are never convicted."""
    found = unstable_eigenvalue((ON_OR_OUTSIDE | INSIDE)[name])
    assert (found is not None) == (name in ON_OR_OUTSIDE)
    assert found is None or 1 <= found.modulus <= math.hypot(found.real, found.imag) * (1 + 1e-12)


def test_rotation_of_floats():
    """cos² + sin² of floats is not 1: the exact determinant decides."""
    for angle in np.linspace(0.1, 3, 20):
        c, s = math.cos(angle), math.sin(angle)
        found = unstable_eigenvalue([[c, -s], [s, c]])
        assert (found is not None) == (Fraction(c) ** 2 + Fraction(s) ** 2 >= 1)


@pytest.mark.slow
@pytest.mark.parametrize("n", [8, 40, 70])
def test_gaussian(n):
    """On both sides of the circle floats and balls agree, beyond the exact sizes too."""
    W = np.random.default_rng(n).standard_normal((n, n))
    W /= np.abs(np.linalg.eigvals(W)).max()
    found = unstable_eigenvalue((1.01 * W).tolist())
    assert found is not None
    assert math.isclose(found.modulus, 1.01, rel_tol=1e-9)
    assert math.isclose(math.hypot(found.real, found.imag), found.modulus, rel_tol=1e-9)
    assert unstable_eigenvalue((0.99 * W).tolist()) is None


def test_what_is_not_decided(monkeypatch):
    """Matrices beyond the size are not judged; beyond that of ball arithmetic by floats alone; and
    if no precision decides, nothing is claimed."""
    monkeypatch.setattr(eigenvalues, "_PRECISIONS", ())
    assert unstable_eigenvalue([[2.0]]) is None
    monkeypatch.setattr(eigenvalues, "EXACT_SIZE", 1)
    monkeypatch.setattr(eigenvalues, "BALL_SIZE", 1)
    assert unstable_eigenvalue([[2.0, 0.0], [0.0, 1.5]]) is not None
    assert unstable_eigenvalue([[0.5, 0.0], [0.0, 0.25]]) is None
    monkeypatch.setattr(eigenvalues, "FLOAT_SIZE", 1)
    assert unstable_eigenvalue([[2.0, 0.0], [0.0, 2.0]]) is None


def test_ball():
    """Every matrix of a ball: a wide one, and one with NaN, is not convicted."""
    found = unstable_eigenvalue_of_ball(arb_mat([[arb(1.5, 0.25)]]))
    assert found is not None
    assert 1 < found.modulus <= 1.25
    assert unstable_eigenvalue_of_ball(arb_mat([[arb(1.5, 0.75)]])) is None
    for n in (1, 3):
        assert unstable_eigenvalue_of_ball(arb_mat([[arb.nan()] * n] * n)) is None
    wide = arb_mat([[arb(0, 10) for _ in range(3)] for _ in range(3)])
    assert unstable_eigenvalue_of_ball(wide) is None


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
