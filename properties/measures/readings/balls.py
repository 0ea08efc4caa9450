"""One (system, sequence) pair, with what was read of it in balls at one precision."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from flint import arb, arb_mat

from rnnbounds.properties.systems.batch import Batch


def ball_matrix(tensor: torch.Tensor) -> arb_mat:
    """The floats of an (r, c) tensor, exactly."""
    return arb_mat([[arb(v) for v in row] for row in tensor.tolist()])


@dataclass(frozen=True)
class BallPair:
    """One pair at the precision that is current while it is first read."""

    batch: Batch
    cache: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)


def ball_pair(batch: Batch, precision: int) -> BallPair:
    """The pair at one precision, made once."""
    key = f"balls at {precision} bits"
    if key not in batch.cache:
        batch.cache[key] = BallPair(batch)
    pair = batch.cache[key]
    assert isinstance(pair, BallPair)
    return pair
