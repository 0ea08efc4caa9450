"""A bound on rounding says nothing where the dtype may overflow, inside of an activation too."""

import math

import pytest
import torch

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.convert.truncate import unrolled
from rnnbounds.impl.reading.adapters import load_model

N = 32  # as many units as torch's vectorised kernels take


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("rho", ACTIVATIONS)
@pytest.mark.parametrize("share", [0.2, 0.6])
def test_a_bound_holds_where_there_is_one(rho, dtype, share):
    """GELU doubles its argument on the way: biases above half the largest number give infinity."""
    bias = torch.zeros(N, dtype=dtype)
    bias[0] = share * torch.finfo(dtype).max
    zero = torch.zeros(N, N, dtype=dtype)
    cell = "linear" if rho == "identity" else f"rnn-{rho}"
    weights = {"weight_hh_l0": zero, "weight_ih_l0": zero[:, :1], "bias_ih_l0": bias}
    model = load_model(weights, cell)
    found = certify(model, inputs=0.0, norm="spectral")
    assert found.verdict == "certified"
    with torch.no_grad():
        net, x = unrolled(model, 1), torch.zeros(1, 1, 1, dtype=dtype)
        run, exact = net(x).double(), net.double()(x.double())
    gap = float((run - exact).norm())
    assert gap <= found.rounding.state or not math.isfinite(float(exact.norm()))
