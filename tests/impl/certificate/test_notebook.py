"""Results in one line, as a table and as a picture."""

import builtins

import matplotlib
import pytest
import torch

import rnnbounds
from rnnbounds.impl.errors import InputError

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def results():
    """A certificate, a measurement and an attack of one small network."""
    torch.manual_seed(0)
    model = torch.nn.RNN(1, 3)
    with torch.no_grad():
        model.weight_hh_l0.mul_(0.2)
    x = torch.rand(10, 12, 1, generator=torch.Generator().manual_seed(0))
    return (
        rnnbounds.certify(model, 1.0, (0.1, 0.01)),
        rnnbounds.measure(model, x, eps=0.1),
        rnnbounds.attack(model, 1.0, 0.1, work=2**20),
    )


def test_one_line(results):
    """Short, with the answer in it."""
    certificate, measured, attacked = map(str, results)
    assert "certified with λ ≤ 0." in certificate
    assert "k = " in certificate
    assert "seen on 10 windows of 12 inputs: within 0.1 from k = " in measured
    assert "no k below" in attacked
    for result in results:
        assert len(repr(result)) < 250
        assert "\n" not in repr(result)
        assert repr(result) == f"<{type(result).__name__}: {result}>"


def test_as_html_and_as_data(results):
    """A row a row; the record is that of --format json."""
    for result in results:
        assert result._repr_html_().count("<tr>") == 1 + len(result.rows())
        assert result.to_dict() == result.to_json()
        assert len({tuple(row) for row in result.rows()}) == 1


@pytest.mark.slow
def test_frames_and_pictures(results):
    """Of pandas and matplotlib, where they are there."""
    pytest.importorskip("pandas")
    for result in results:
        assert len(result.to_frame()) == len(result.rows())
        axes = result.plot()
        assert axes.get_title() == str(result)
        assert axes.lines


def test_without_the_packages(results, monkeypatch):
    """One line that names what to install."""
    usual = builtins.__import__

    def without(name, *more):
        if name.partition(".")[0] in ("pandas", "matplotlib"):
            raise ImportError(name)
        return usual(name, *more)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.setattr("rnnbounds.impl.certificate.notebook.import_module", without)
    for method in ("to_frame", "plot"):
        with pytest.raises(InputError, match=rf"{method}\(\) needs \w+; pip install \w+"):
            getattr(results[0], method)()


def test_monitor():
    """λ is `contraction`'s; k is near the certified one, infinite where λ is not below 1."""
    torch.manual_seed(0)
    model, inputs = torch.nn.LSTM(1, 8), rnnbounds.input_box(-1, 1, 1)
    assert rnnbounds.monitor(model, inputs).k == float("inf")
    with torch.no_grad():
        model.weight_hh_l0.mul_(0.2)
    lam, k = rnnbounds.monitor(model, inputs, 0.1)
    assert lam == float(rnnbounds.contraction(model, inputs))
    certified = rnnbounds.certify(model, inputs, 0.1).window(0.1)
    assert certified <= k <= 2 * certified + 5
    assert all(part.grad is None for part in model.parameters())


@pytest.mark.parametrize("nonlinearity", ["tanh", "relu"])
@pytest.mark.parametrize("layers", [1, 2])
def test_monitor_of_vanilla_cells(nonlinearity, layers):
    """With a bound on its states or without."""
    torch.manual_seed(0)
    model = torch.nn.RNN(2, 4, layers, nonlinearity)
    with torch.no_grad():
        for name, part in model.named_parameters():
            part.mul_(0.3 if "weight_hh" in name else 1.0)
    lam, k = rnnbounds.monitor(model, 1.0, 1e-2)
    assert 0 < lam < 1
    assert rnnbounds.certify(model, 1.0, 1e-2).window(1e-2) / 2 <= k < 40
    assert rnnbounds.monitor(model, 1.0, 1e6).k == 1


def test_public_names():
    """dir() shows these alone, and `from rnnbounds import …` finds each."""
    assert dir(rnnbounds) == sorted(rnnbounds.__all__)
    assert all(getattr(rnnbounds, name) is not None for name in rnnbounds.__all__)
