"""Intervals of a tube, rounded outwards, beyond the largest floats too."""

import math

import torch

from rnnbounds.impl.near.chords import Ends


def test_an_end_beyond_all_floats_is_infinite() -> None:
    """The least float is no bound on what lies below it."""
    low, high = torch.tensor([[-math.inf, -1.5e308], [1e308, -1e308]], dtype=torch.float64)
    found = Ends.outward(low, high)
    assert found.low[0] == (found + found).low[1] == -math.inf
    assert (-found).high[0] == (-found + -found).high[1] == math.inf
    none = Ends.outward(low * math.nan, high * math.nan)
    assert (none.low == -math.inf).all()
    assert (none.high == math.inf).all()
