"""Cells in a loop of a module's own: the module is answered where it is that cell, iterated."""

import pytest
import torch

import rnnbounds
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.reading.adapters import load_model

CELLS = [torch.nn.RNNCell, torch.nn.LSTMCell, torch.nn.GRUCell]


class Loop(torch.nn.Module):
    """h = leak h + (1 − leak) cell(x, h), of all times or the last, sequences first or not."""

    def __init__(self, make, leak=0.0, last=False, first=True):
        super().__init__()
        torch.manual_seed(0)
        self.cell, self.leak, self.last, self.first = make(2, 3), leak, last, first

    def forward(self, x):
        """Its outputs."""
        x = x if self.first else x.transpose(0, 1)
        s = None
        outputs = [h := x.new_zeros(len(x), 3)]
        for t in range(x.shape[1]):
            s = self.cell(x[:, t], s)
            h = self.leak * h + (1 - self.leak) * (s[0] if isinstance(s, tuple) else s)
            s = (h, s[1]) if isinstance(s, tuple) else h
            outputs.append(h)
        found = torch.stack(outputs[1:], 1)
        if self.last:
            return h
        return (found if self.first else found.transpose(0, 1)), h


@pytest.mark.parametrize("make", CELLS)
@pytest.mark.parametrize("shape", [{}, {"last": True}, {"first": False}], ids=str)
def test_a_plain_loop_is_its_cell(make, shape):
    """And the headline says so."""
    told = load_model(Loop(make, **shape))
    assert told.source == "Loop (one cell, iterated by itself)"
    assert told.digest == load_model(Loop(make).cell).digest


@pytest.mark.parametrize("make", CELLS)
def test_another_loop_is_not_answered_as_its_cell(make):
    """A leak of 0.99 makes it remember a hundred times longer; the remedies are the cell alone, by
    that name, and the module as it is run, whose memory is the longer one."""
    module = Loop(make, leak=0.99)
    with pytest.raises(InputError, match=r"--layer cell .*--as-is"):
        rnnbounds.certify(module, inputs=1.0)
    assert "one cell, iterated by itself" in load_model(module, layer="cell").source
    x = torch.randn(40, 60, 2, generator=torch.Generator().manual_seed(1))
    whole, alone = rnnbounds.measure(module, x, as_is=True), rnnbounds.measure(module.cell, x)
    assert whole.window(1e-4) is None
    assert alone.window(1e-4) is not None


def test_a_module_that_cannot_be_run_is_not_its_cell():
    """One that raises, and one in whose outputs the cell cannot be seen."""
    for more in (torch.nn.Linear(5, 5), torch.nn.Flatten()):
        with pytest.raises(InputError, match="--layer 0 "):
            load_model(torch.nn.Sequential(torch.nn.GRUCell(2, 3), more))
