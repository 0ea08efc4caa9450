"""Scaling by powers of two."""

import math
from fractions import Fraction

import numpy as np
import torch

from rnnbounds.impl.numbers.scaling import exponent, shift, shift_up

X = torch.tensor([3.0, 3.0, 5e-324, 0.0, 3.0, -1e-300], dtype=torch.float64)
E = torch.tensor([1000, -1080, 1500, 7, -1074, -100])


def test_shift() -> None:
    """Scaling is exact where it can be and rounds up where it cannot."""
    assert shift(X, E).tolist()[0] == 3 * 2.0**1000
    shifted = shift_up(X, E).tolist()
    assert shifted[1] == 5e-324
    assert shifted[2] == 2.0 ** (1500 - 1074)
    assert shifted[3] == 0.0
    assert shifted[4] == 3 * 5e-324
    for x, e, y in zip(X.tolist(), E.tolist(), shifted, strict=True):
        assert 0 <= Fraction(y) - Fraction(x) * Fraction(2) ** e < Fraction(2) ** -1073


def test_exponent() -> None:
    """Of what has none it is 0."""
    x = torch.tensor([1.0, 0.75, 0.0, math.inf, math.nan, 5e-324], dtype=torch.float64)
    assert exponent(x).tolist() == exponent(x.numpy()).tolist() == [1, 0, 0, 0, 0, -1073]


def test_arrays() -> None:
    """The arguments as tensors."""
    x, e = X.numpy(), E.numpy()
    assert np.array_equal(shift(x, e), shift(X, E).numpy())
    assert np.array_equal(shift_up(x, e), shift_up(X, E).numpy())
