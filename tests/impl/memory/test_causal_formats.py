"""Any causal model in the table of formats: it is measured."""

import pytest
import torch

import rnnbounds


@pytest.mark.parametrize("model", ["callable"])
def test_measured(model):
    """A sum of the last three inputs is found to remember three."""

    def last_three(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.pad(x, (0, 0, 2, 0)).unfold(1, 3, 1).sum(3)

    seen = rnnbounds.measure(last_three, torch.randn(60, 12, 2), eps=1e-3)
    assert (model, seen.window(1e-3)) == ("callable", 3)
