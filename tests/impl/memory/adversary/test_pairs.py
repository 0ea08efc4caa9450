"""The gaps of pairs of runs."""

import pytest
import torch
from gated_draws import draw, lstm

from rnnbounds.impl.memory.adversary import pairs
from rnnbounds.impl.models.readout import Readout


@pytest.mark.parametrize("outputs", [None, 2])
def test_few_states_are_held_at_once(outputs, monkeypatch):
    """However long the inputs are; the gaps are the same."""
    cell, states, by = draw(lstm, 3, scale=0.5, seed=2), 6, torch.Generator().manual_seed(0)
    x = torch.randn(9, cell.d, 4, generator=by, dtype=torch.float64)
    readout = None
    if outputs is not None:
        readout = Readout("C", torch.randn(outputs, cell.n, generator=by))
    whole, apart, held = pairs.gaps(cell, states, x, 3, readout), pairs._apart, []

    def counted(both, *more):
        held.append(len(both))
        return apart(both, *more)

    monkeypatch.setattr(pairs, "_apart", counted)
    monkeypatch.setattr(pairs, "AT_ONCE", 2 * (2 * states * x.shape[2]))
    assert torch.equal(pairs.gaps(cell, states, x, 3, readout), whole)
    assert held == [2, 2, 2, 1]
