"""How steps contract along runs: of weights whose products overflow too."""

import torch

import rnnbounds


def measured(scale: float) -> dict[str, object]:
    """A network of sines, whose states stay small however large its slopes are."""
    by = torch.Generator().manual_seed(0)
    held = {"weight_hh_l0": torch.randn(3, 3, generator=by, dtype=torch.float64) * scale}
    held["weight_ih_l0"] = torch.randn(3, 1, generator=by, dtype=torch.float64)
    x = torch.randn(20, 8, 1, generator=by, dtype=torch.float64)
    return rnnbounds.measure(held, x, cell="rnn-sin").to_json()["steps"]


def test_products_that_overflow_are_not_known():
    """Norms whose squares overflow are still norms; what is infinite is null, and nothing ends."""
    small, large, beyond = (measured(scale) for scale in (1e2, 1e160, 1e300))
    assert 1e2 < small["norm"]["largest"] < 1e3
    assert 1e160 < large["norm"]["largest"] < 1e161
    assert large["products"][-1]["largest"] is None
    assert 1e300 < beyond["norm"]["largest"] < 1e301
