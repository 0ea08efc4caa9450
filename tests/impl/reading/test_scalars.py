"""One leak for all units is that of each, exactly."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.recognition.misfit import WeightsError


def leaky(leak, dtype=torch.float32, prefix=""):
    """An echo-state network of three units."""
    held = {"W": torch.eye(3, dtype=dtype), "W_in": torch.ones(3, 1, dtype=dtype), "leak": leak}
    return {f"{prefix}{name}": one for name, one in held.items()}


@given(st.integers(1, 2**10), st.sampled_from(["", "esn."]))
def test_a_scalar_is_repeated(k, prefix):
    """Of shape (), (1,) or (n,), or a number of Python's: one model."""
    a = k / 2**10
    found = [
        load_model(leaky(leak, prefix=prefix), "leaky-tanh")
        for leak in (torch.tensor(a), torch.tensor([a]), torch.full((3,), a), a, *[1] * (a == 1))
    ]
    assert len({one.digest for one in found}) == 1
    assert {one.source for one in found} == {"state dict"}
    assert found[0].weights["leak"].tolist() == [a] * 3


def test_numbers_that_a_dtype_does_not_hold():
    """torch would round 1 − 0.3 apart from 0.3; float64 has Python's own numbers."""
    line = r"leak is the number 0\.3, which float32 does not hold; store it as a tensor"
    refused(leaky(0.3), WeightsError, line, cell="leaky-tanh")
    held = load_model(leaky(0.3, torch.float64), "leaky-tanh")
    assert held.weights["leak"].tolist() == [0.3] * 3
    assert load_model(leaky(torch.tensor(0.3)), "leaky-tanh").n == 3


@pytest.mark.parametrize("leak", [True, "0.5", None, torch.ones(2), [0.5], float("nan"), 2**2000])
def test_what_is_no_number(leak):
    """It is refused as before, in a line."""
    refused(leaky(leak), ValueError, "leak", cell="leaky-tanh")
    refused(leaky(torch.tensor(float("nan"))), ValueError, "leak", cell="leaky-tanh")
