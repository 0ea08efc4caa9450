"""What a batch holds of gated cells, from the numbers of its members."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch

from rnnbounds.properties.systems.cells.build import bound
from rnnbounds.properties.systems.drawing.regimes import Array
from rnnbounds.properties.systems.gated.cell import Gated, made
from rnnbounds.properties.systems.spec import SystemSpec

Tensor = torch.Tensor


def gated_cells(
    spec: SystemSpec, stacked: Mapping[str, Array], x: Tensor, tensor: Callable[..., Tensor]
) -> Gated:
    """Those of stacked weights."""
    weights = (tensor(part, *range(1, stacked[part].ndim)) for part in ("W", "U", "b", "b_hh"))
    states = tensor("h", 2, 1), tensor("h_other", 2, 1)
    return Gated(made(spec.kind, *weights), spec.kind, bound(spec, x), *states)


def driving(spec: SystemSpec, stacked: Mapping[str, Array]) -> tuple[Array, Array]:
    """The W and U of the candidate, which resonant inputs are made for."""
    rows = slice(2 * spec.n, 3 * spec.n)  # g of an LSTM and n of a GRU
    return stacked["W"][:, rows], stacked["U"][:, rows]
