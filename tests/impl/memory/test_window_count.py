"""How far a measurement is, told while it runs: every window once, and the same answer."""

import pytest
import torch

import rnnbounds
import rnnbounds.impl.cells.runs

CASES = {
    "one ε": {"eps": 0.1},
    "an ε that no k reaches, and one that some does": {"eps": (1e-12, 0.1)},
    "windows that overlap": {"eps": 0.1},
    "near": {"eps": 0.1, "near": 0.01},
}


@pytest.mark.parametrize("case", CASES)
def test_every_window_is_counted_once(case, monkeypatch):
    """The count grows, block by block, to the total that was said from the start."""
    torch.manual_seed(0)
    model = torch.nn.RNN(1, 3)
    x = torch.rand(40, 12, 1)
    if case == "windows that overlap":  # of which nothing is stated
        x = torch.rand(51).unfold(0, 12, 1)[..., None]
    monkeypatch.setattr(rnnbounds.impl.cells.runs, "NUMBERS", 200)  # a few windows a block
    calls: list[tuple[int, int]] = []
    found = rnnbounds.measure(model, x, **CASES[case], progress=lambda *call: calls.append(call))
    done, (total, *others) = [one for one, _ in calls], [all for _, all in calls]
    assert set(others) <= {total}
    assert done == sorted(set(done))
    assert done[-1] == total
    assert len(calls) > 2
    assert (found.statement is None) == (case == "windows that overlap")
    assert found.to_json() == rnnbounds.measure(model, x, **CASES[case]).to_json()
