"""Results in one line, as a table and as a picture."""

import sys

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
        rnnbounds.certify(model, inputs=1.0, eps=(0.1, 0.01)),
        rnnbounds.measure(model, x, eps=0.1),
        rnnbounds.attack(model, inputs=1.0, eps=0.1, work=2**20),
    )


def test_pictures(results, monkeypatch):
    """Of matplotlib, or one line that says to install it."""
    for result in results:
        axes = result.plot()
        assert axes.get_title() == str(result)
        assert axes.lines
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"plot\(\) needs matplotlib; pip install matplotlib"):
        results[0].plot()
