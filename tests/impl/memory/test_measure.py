"""Measurements: how far they are, windows that are too short, and how steps contract along runs."""

import pytest
import torch

import rnnbounds
import rnnbounds.impl.cells.runs
from rnnbounds.impl.cells.runs import Runner
from rnnbounds.impl.memory import local as module
from rnnbounds.impl.reading.adapters import load_model


def measured(scale: float) -> dict[str, object]:
    """A network of sines, whose states stay small however large its slopes are."""
    by = torch.Generator().manual_seed(0)
    held = {"weight_hh_l0": torch.randn(3, 3, generator=by, dtype=torch.float64) * scale}
    held["weight_ih_l0"] = torch.randn(3, 1, generator=by, dtype=torch.float64)
    x = torch.randn(20, 8, 1, generator=by, dtype=torch.float64)
    return rnnbounds.measure(held, x, cell="rnn-sin").to_dict()["steps"]


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


@pytest.mark.parametrize("written", [0, module.WRITTEN])
def test_of_long_windows_the_last_steps_are_differentiated(monkeypatch, written):
    """Along the same run from the zero state: norms and products are those of the whole window."""
    torch.manual_seed(0)
    runner = Runner.of(load_model(torch.nn.GRU(2, 3)))
    x, ks = torch.randn(2, 9, 2, dtype=torch.float64), (0, 1, 4, 9)
    monkeypatch.setattr(module, "WRITTEN", written)
    whole, last = module.local(runner, x, ks), module.local(runner, x, ks, 4)
    assert torch.allclose(last.norms, whole.norms[:, 5:], rtol=0.03)
    assert torch.allclose(last.products, whole.products[:, :3], rtol=1e-9, atol=0)
    monkeypatch.setattr(module, "FEWEST", 4)
    monkeypatch.setattr(module, "WORK", 2 * 4 * 3**3)
    assert module.sampled(runner, 7, 9) == (1, 8)
    record = rnnbounds.measure(torch.nn.GRU(2, 3), torch.randn(7, 9, 2)).to_dict()
    assert (record["steps"]["windows"], record["steps"]["last"]) == (1, 8)
    assert [row["k"] for row in record["steps"]["products"]] == list(range(9))


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


SLOW = torch.tensor([[0.9]], dtype=torch.float64)


def slow(x: torch.Tensor) -> torch.Tensor:
    """h = 0.9 h + x, run as it is: an outer function, of which nothing is read."""
    h = torch.zeros(len(x), 1, dtype=x.dtype)
    for t in range(x.shape[1]):
        h = h @ SLOW + x[:, t]
    return h


LINEAR = {"weight_ih_l0": torch.ones(1, 1, dtype=torch.float64), "weight_hh_l0": SLOW}


@pytest.mark.parametrize(
    ("model", "options"), [(LINEAR, {"cell": "linear"}), (slow, {})], ids=["read", "as it is"]
)
def test_the_windows_that_are_named_show_a_k(model, options):
    """The gap of 0.9^k is 0 at k = T by construction: 11 of 12 inputs is no answer."""
    by = torch.Generator().manual_seed(0)
    x = 1 + torch.rand(2, 320, 1, generator=by, dtype=torch.float64)
    window = 12
    options |= {"eps": 1.0}
    while (seen := rnnbounds.measure(model, x, window=window, **options)).window(1.0) is None:
        told = f"longer than windows of {window} inputs can show; take --window"
        window = int(seen.line().split(told)[1])
    assert 12 < seen.window(1.0) <= 0.8 * window
    seen = rnnbounds.measure(model, x[:, :12], **options)
    assert "record longer sequences" in seen.line()


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
    assert found.to_dict() == rnnbounds.measure(model, x, **CASES[case]).to_dict()


def test_a_share_of_the_bound_on_the_output():
    """As of `certify` with the same inputs; data stand for them where none are given."""
    torch.manual_seed(0)
    model, x = torch.nn.GRU(1, 4), torch.rand(40, 9, 1)
    ((share, _),) = rnnbounds.certify(model, inputs=1.0, eps="5%").windows
    assert rnnbounds.measure(model, x, eps="5%", inputs=1.0).eps == (share,)
    assert rnnbounds.measure(model, x, eps=["5%", 0.1]).eps[1] == 0.1
