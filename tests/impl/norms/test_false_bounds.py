import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from draws import normal
from torch import Tensor

from rnnbounds.impl.norms.false_bounds import (
    power_norm,
    svd_norm,
    unscaled_gate_norm,
    unshifted_gate_norm,
)
from rnnbounds.impl.numbers.spectra.exact_norm import rational_norm_at_most
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm


def convicted(W: Tensor, bounds: Tensor) -> int:
    """How many bounds are below the norm, decided in rationals."""
    return sum(not rational_norm_at_most(w, s) for w, s in zip(W, bounds.tolist(), strict=True))


@pytest.mark.parametrize("liar", [svd_norm, power_norm, unshifted_gate_norm])
def test_liars_are_convicted(liar: Callable[[Tensor], Tensor]) -> None:
    """Each shortcut falls below the norm of some orthogonal matrix, though it is close to it."""
    W = torch.linalg.qr(normal(80, 4, 4))[0] * 0.9
    bounds = liar(W)
    torch.testing.assert_close(bounds, certified_norm(W), rtol=1e-10, atol=0)
    assert convicted(W, bounds) > 0
    assert convicted(W, certified_norm(W)) == 0


def test_power_iteration_is_from_below() -> None:
    """Five steps of power iteration fall clearly short on a Gaussian matrix."""
    W = normal(5, 8, 8, seed=1)
    assert convicted(W, power_norm(W)) == 5
    assert (power_norm(torch.zeros(1, 2, 2, dtype=torch.float64)) == 0).all()


def test_unscaled_gate_falls_to_underflow() -> None:
    """Without scaling, a subnormal Gram matrix certifies less than the norm; usual scales pass."""
    W = torch.tensor([[[3.0, 1.0], [1.0, 2.0]]], dtype=torch.float64)
    assert convicted(W, unscaled_gate_norm(W)) == 0
    tiny = 1e-162 * W
    ratio = (unscaled_gate_norm(tiny) / certified_norm(tiny)).item()
    assert math.isclose(ratio, 0.9715, rel_tol=1e-3)
    assert convicted(tiny, unscaled_gate_norm(tiny)) == 1
    assert convicted(tiny, certified_norm(tiny)) == 0


@pytest.mark.parametrize("liar", [unshifted_gate_norm, unscaled_gate_norm])
@pytest.mark.parametrize("size", [1e-300, 1e200, math.inf])
def test_no_liar_warns(liar: Callable[[Tensor], Tensor], size: float) -> None:
    """Whatever a host asks NumPy to raise."""
    with np.errstate(all="raise"):
        assert liar(torch.full((1, 2, 2), size, dtype=torch.float64)).shape == (1,)
