"""What a batch holds of cells, from the numbers of its members."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from rnnbounds.impl.numbers.outward import norm_up
from rnnbounds.properties.systems.cells.batch import Cells, made
from rnnbounds.properties.systems.cells.drawn import OF_CELL
from rnnbounds.properties.systems.drawing.regimes import Array
from rnnbounds.properties.systems.spec import SystemSpec

Tensor = torch.Tensor
# Brings inputs of cells below the norm that their rounding may take them above.
INWARD = 1 - 2.0**-40


def program_cells(
    spec: SystemSpec, stacked: Mapping[str, Array], x: Tensor, tensor: Callable[..., Tensor],
    name: Callable[[SystemSpec], str],
) -> Cells:  # fmt: skip
    """The cells of a name, of weights by their own names."""
    named = {
        part.removeprefix(OF_CELL): tensor(part, *range(1, array.ndim))
        for part, array in stacked.items()
        if part.startswith(OF_CELL)
    }
    states = tensor("h", 2, 1), tensor("h_other", 2, 1)
    return Cells(made(name(spec), named), name(spec), bound(spec, x), *states)


def bound(spec: SystemSpec, x: Tensor) -> Tensor:
    """B_x: inputs may have norms up to the spec's ``scale`` at least."""
    aimed = spec.scale * (64.0 if spec.inputs == "saturating" and spec.values is None else 1.0)
    return norm_up(x.transpose(2, 3)).amax(dim=(1, 2)).clamp(min=aimed)


def fields(cells: Cells, C: Tensor, x: Tensor) -> dict[str, Any]:
    """The fields of a batch of these cells."""
    h, h_other = cells.states
    return {"cell": cells.cell, "C": C, "x": x, "h": h, "h_other": h_other, "cells": cells}


def driving(
    spec: SystemSpec, stacked: Mapping[str, Array], name: Callable[[SystemSpec], str]
) -> tuple[Array, Array]:
    """The W and U that resonant inputs are made for, where a cell has none."""
    count, _, n = stacked["C"].shape
    W = np.broadcast_to(np.eye(n) / 2, (count, n, n))
    named = {
        part.removeprefix(OF_CELL): torch.from_numpy(array)
        for part, array in stacked.items()
        if part.startswith(OF_CELL)
    }
    U = made(name(spec), named).U.numpy()
    return W, U if U.shape[1] == n else np.ones((count, n, spec.d))
