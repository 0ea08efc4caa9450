"""Inputs that are found by branching: the gaps are theirs, and further than by gradients alone."""

import pytest
import torch
from gated_draws import draw, gru, lstm

from rnnbounds.impl.arithmetic.inputs.maximisers import BallSet
from rnnbounds.impl.memory.adversary.branches import PAST, WARM, Branches
from rnnbounds.impl.memory.adversary.pairs import gaps
from rnnbounds.impl.memory.adversary.search import Search

ANGLES = torch.arange(6, dtype=torch.float64) * (torch.pi / 3)
CHOICES = torch.stack([ANGLES.cos(), ANGLES.sin()], dim=1)


@pytest.mark.parametrize(("make", "states"), [(lstm, 4), (gru, 2)])
def test_gaps_are_those_of_the_inputs(make, states):
    """What is noted of a beam is what its inputs do."""
    cell = draw(make, 2, d=2, scale=0.5, seed=3)
    branches = Branches.of(cell, states, CHOICES)
    for _ in range(6):
        branches.extend()
    for k, (gap, _) in enumerate(branches.best):
        x = branches.inputs(k)
        assert len(x) == WARM + PAST + k
        assert float(gaps(cell, states, x[:, :, None], WARM + PAST)[k]) == pytest.approx(gap)
    assert branches.longest(branches.best[0][0]) < 6
    assert branches.longest(10.0) == -1


@pytest.mark.slow
def test_branches_find_what_gradients_do_not(monkeypatch):
    """Of an LSTM of two units pairs of states that are kept apart for twice as long."""
    found = []
    for _ in range(2):
        cell = draw(lstm, 2, d=2, scale=1.0, seed=1)
        search = Search(cell, 4, 50, BallSet(1.0), 400, 2**31)
        found.append([k for *_, k in search.run((0.3, 0.1, 0.01))])
        monkeypatch.setattr(Search, "_branch", lambda *_: None)
    assert all(k > 2 * other for k, other in zip(*found, strict=True))
