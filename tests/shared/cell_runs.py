"""Runs of a cell that was read, step by step in float64."""

import torch

from rnnbounds.impl.cells.table import kind_of


def outputs_of(model, x):
    """The outputs h (N, T, n) of a model from the zero state for inputs (N, T, d)."""
    size = kind_of(model.name).layout(model.weights).sizes(model.weights).state
    s = torch.zeros(1, size, len(x), dtype=torch.float64)
    outputs = []
    for t in range(x.shape[1]):
        s = model.cell.step(s, x[:, t].double().mT[None])
        outputs.append(s[0, -model.n :].mT)
    return torch.stack(outputs, 1)
