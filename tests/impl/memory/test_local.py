"""How steps contract along runs: of weights whose products overflow too."""

import pytest
import torch

import rnnbounds
from rnnbounds.impl.cells.runs import Runner
from rnnbounds.impl.memory import local as module
from rnnbounds.impl.reading.adapters import load_model


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


def test_large_models_are_measured_along_vectors(monkeypatch):
    """The same products and exponents as of Jacobians that are written down; norms from below."""
    torch.manual_seed(0)
    runner = Runner.of(load_model(torch.nn.LSTM(2, 4, 2)))
    x, ks = torch.randn(3, 7, 2, dtype=torch.float64), (0, 1, 4, 7)
    written = module.local(runner, x, ks)
    monkeypatch.setattr(module, "WRITTEN", 0)
    along = module.local(runner, x, ks)
    assert torch.allclose(along.products, written.products, rtol=1e-9, atol=0)
    assert torch.allclose(along.exponents, written.exponents, rtol=1e-9, atol=0)
    assert (along.norms <= written.norms * (1 + 1e-9)).all()
    assert (along.norms >= 0.97 * written.norms).all()


def test_what_was_seen_is_noted_when_it_is_interrupted():
    """Of the windows that were run by then; errors are none of these."""

    def interrupt(done: int, total: int) -> None:
        if done > 40:
            raise KeyboardInterrupt

    torch.manual_seed(0)
    with pytest.raises(KeyboardInterrupt) as caught:
        rnnbounds.measure(torch.nn.GRU(1, 4), torch.randn(40, 9, 1), eps=0.5, progress=interrupt)
    (note,) = caught.value.__notes__
    assert note.startswith("seen in the first 40 windows: within 0.5 from k = ")
