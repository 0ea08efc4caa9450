"""Windows too short for a model's memory: no k near their length is told, and the windows that
the answer names lead to one."""

import pytest
import torch

import rnnbounds

SLOW = torch.tensor([[0.98]], dtype=torch.float64)


def slow(x: torch.Tensor) -> torch.Tensor:
    """h = 0.98 h + x, run as it is: an outer function, of which nothing is read."""
    h = torch.zeros(len(x), 1, dtype=x.dtype)
    for t in range(x.shape[1]):
        h = h @ SLOW + x[:, t]
    return h


LINEAR = {"weight_ih_l0": torch.ones(1, 1, dtype=torch.float64), "weight_hh_l0": SLOW}


@pytest.mark.parametrize(
    ("model", "options"), [(LINEAR, {"cell": "linear"}), (slow, {})], ids=["read", "as it is"]
)
def test_the_windows_that_are_named_show_a_k(model, options):
    """The gap of 0.98^k is 0 at k = T by construction: 63 of 64 inputs is no answer."""
    by = torch.Generator().manual_seed(0)
    x = 1 + torch.rand(2, 1600, 1, generator=by, dtype=torch.float64)
    window = 64
    options |= {"eps": 1.0}
    while (seen := rnnbounds.measure(model, x, window=window, **options)).window(1.0) is None:
        told = f"longer than windows of {window} inputs can show; take --window"
        window = int(seen.line().split(told)[1])
    assert 64 < seen.window(1.0) <= 0.8 * window
    seen = rnnbounds.measure(model, x[:, :64], **options)
    assert "record longer sequences" in seen.line()
