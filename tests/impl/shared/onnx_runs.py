"""Stacks that were read from ONNX graphs, run by our own cells in float64."""

import torch
from window_runs import outputs

from rnnbounds.impl.reading.onnx.file import graph_of


def opened(path):
    """The graph of a file."""
    return graph_of(path.read_bytes(), path)


def run_stack(told, x):
    """The outputs (T, N, D n) of a graph for one layer, for inputs (T, N, d)."""
    roles = {name.removeprefix(f"{told.own}."): one.double() for name, one in told.tensors.items()}
    x, l = torch.as_tensor(x).double(), 0
    while any(name.endswith((f"_l{l}", f"_l{l}_reverse")) for name in roles):
        ways = []
        for end in (f"_l{l}", f"_l{l}_reverse"):
            weights = {n.removesuffix(end): one for n, one in roles.items() if n.endswith(end)}
            if weights:
                flips = [0] if end.endswith("_reverse") else []
                y = outputs(told.cell, weights, x.flip(flips).transpose(0, 1))
                ways.append(y.transpose(0, 1).flip(flips))
        x, l = torch.cat(ways, -1), l + 1
    return x
