"""Measured quantities of cells of any kind, enclosed in float64 and in balls of one pair.

‖·‖_box is max |s_j|/v_j over the state, ‖·‖ the Euclidean norm of outputs and of gradients in all
weights. Enclosures are (B, S, K+1) with windows, else (B, S, 1).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from rnnbounds.properties.measures.runs.runs import Runs
from rnnbounds.properties.read.floats import FLOATS
from rnnbounds.properties.read.numbers.losses import gradient, gradient_gap
from rnnbounds.properties.read.numbers.norms import largest, longest, product, repeated, spectral
from rnnbounds.properties.read.numbers.rounded import Rounded, beside
from rnnbounds.properties.read.quantity import world
from rnnbounds.properties.read.reader import read
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.theory.numbers.interval import Interval

Tensor = torch.Tensor
Seen = Callable[[Batch], Rounded]


def runs(batch: Batch) -> Runs:
    """The runs of a batch of cells, made once."""
    if "runs" not in batch.cache:
        cells = batch.its_cells
        batch.cache["runs"] = Runs(
            cells.cell.program, cells.parameters, cells.units, batch.x, batch.K, states(batch)
        )
    found: Runs = batch.cache["runs"]
    return found


def states(batch: Batch) -> list[Rounded]:
    """s_0 … s_T of the full run, as they are read."""
    here = world(batch, FLOATS)
    times = range(batch.spec.T + 1)
    return [here.state(read(("state", ("x",), 0, t), here)) for t in times]


def output(v: Rounded, batch: Batch) -> Rounded:
    """h, the last of the state."""
    return v.part(v.size - batch.its_cells.n, v.size)


def by_unit(batch: Batch) -> Tensor:
    """The unit weights v of ‖·‖_box, (B, N)."""
    v: Tensor = batch.its_cells.v
    return v


def box_norm(seen: Seen) -> Callable[[Batch], Interval]:
    """‖·‖_box of something of the state's size."""
    return lambda batch: largest(seen(batch), by_unit(batch))


def lengths(seen: Seen, axis: int = 1) -> Callable[[Batch], Interval]:
    """‖·‖₂ along an axis."""
    return lambda batch: longest(seen(batch), axis)


def output_gaps(batch: Batch) -> Rounded:
    """h_T − h_T^k, (B, n, K+1, S)."""
    return output(runs(batch).gaps, batch)


def predictions(batch: Batch) -> Rounded:
    """C (h_T − h_T^k), (B, p, K+1, S)."""
    return output_gaps(batch).mapped(batch.C)


def contracted(rows: Rounded, matrix: Rounded) -> Rounded:
    """Σ_i g_i D_i: (B, n, M) and (B, n, M, P) give (B, M, P)."""
    lying = Rounded(rows.value.mT[:, None], rows.error.mT[:, None])
    return product(lying, matrix)[:, 0]


def windows_of(v: Rounded, batch: Batch) -> Rounded:
    """(B, (K+1) S, P) as (B, K+1, S, P)."""
    B, _, P = v.value.shape
    return Rounded(*(part.reshape(B, batch.K + 1, -1, P) for part in (v.value, v.error)))


def gradient_gaps(batch: Batch) -> Rounded:
    """∇p_T − ∇p_T^k, (B, K+1, S, P)."""
    of, K = runs(batch), batch.K
    h, moved = output(of.states[-1], batch), flat(output_gaps(batch))
    g = repeated(gradient(batch.loss, h), K + 1)
    dg = gradient_gap(batch.loss, repeated(h, K + 1), moved)
    D = repeated(output(of.sensitivities[-1], batch), K + 1)
    E = flat(output(of.sensitivity_gaps, batch))
    return windows_of(contracted(dg, D) + contracted(g - dg, E), batch)


def flat(v: Rounded) -> Rounded:
    """The windows beside one another: (B, n, K+1, S, …) as (B, n, (K+1) S, …)."""
    return Rounded(v.value.flatten(2, 3), v.error.flatten(2, 3))


def early_gradients(batch: Batch) -> Rounded:
    """Evaluate the part of ∇p_T that truncated back-propagation omits, (B, K+1, S, P)."""
    of = runs(batch)
    g = gradient(batch.loss, output(of.states[-1], batch))
    times = range(batch.spec.T, batch.spec.T - batch.K - 1, -1)
    parts = [
        product(output(of.transitions[k], batch), of.sensitivities[t]) for k, t in enumerate(times)
    ]
    return windows_of(contracted(repeated(g, batch.K + 1), beside(parts, dim=2)), batch)


def input_jacobians(batch: Batch) -> Interval:
    """‖∂h_T/∂x_{T−k}‖₂; 0 beyond the first input."""
    of, T = runs(batch), batch.spec.T
    found = [
        product(output(of.transitions[k], batch), of.local[T - 1 - k].E)
        for k in range(min(batch.K, T - 1) + 1)
    ]
    J = beside([Rounded(j.value[:, :, None], j.error[:, :, None]) for j in found], dim=2)
    value, error = (part.permute(0, 3, 2, 1, 4) for part in (J.value, J.error))  # B, S, k, n, d
    low, high = (end.cpu().numpy() for end in spectral(value, error))
    rest = [(0, 0), (0, 0), (0, batch.K + 1 - len(found))]
    return Interval(np.pad(low, rest), np.pad(high, rest))
