import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, arb_mat

from rnnbounds.impl.numbers.spectra import eigenvalues
from rnnbounds.impl.numbers.spectra.eigenvalues import (
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


@pytest.mark.parametrize("name", ON_OR_OUTSIDE)
def test_found(name):
    """A modulus of 1 exactly, or one unit above, is certified."""
    found = unstable_eigenvalue(ON_OR_OUTSIDE[name])
    assert found is not None
    assert 1 <= found.modulus <= math.hypot(found.real, found.imag) * (1 + 1e-12)


@pytest.mark.parametrize("name", INSIDE)
def test_not_found(name):
    """One unit below 1, and nilpotent matrices of any size, are never convicted."""
    assert unstable_eigenvalue(INSIDE[name]) is None


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


def test_too_large(monkeypatch):
    """Matrices beyond the size are not judged; beyond that of ball arithmetic by floats alone."""
    monkeypatch.setattr(eigenvalues, "EXACT_SIZE", 1)
    monkeypatch.setattr(eigenvalues, "BALL_SIZE", 1)
    assert unstable_eigenvalue([[2.0, 0.0], [0.0, 1.5]]) is not None
    assert unstable_eigenvalue([[0.5, 0.0], [0.0, 0.25]]) is None
    monkeypatch.setattr(eigenvalues, "FLOAT_SIZE", 1)
    assert unstable_eigenvalue([[2.0, 0.0], [0.0, 2.0]]) is None


def test_undecided_precision(monkeypatch):
    """Where no precision decides, nothing is claimed."""
    monkeypatch.setattr(eigenvalues, "_PRECISIONS", ())
    assert unstable_eigenvalue([[2.0]]) is None


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
