"""Measured quantities of cells of any kind, enclosed in float64 and in balls of one pair.

‖·‖_box is max |s_j|/v_j over the state, ‖·‖ the Euclidean norm of outputs and of gradients in all
weights. Enclosures are (B, S, K+1) with windows, else (B, S, 1).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from rnnbounds.properties.measures.runs.runs import CellRuns
from rnnbounds.properties.read.float_carrier import FLOATS
from rnnbounds.properties.read.numbers.losses import gradient, gradient_gap
from rnnbounds.properties.read.numbers.norms import (
    euclidean_norm,
    max_norm,
    operator_product,
    repeat_columns,
    spectral_norm,
)
from rnnbounds.properties.read.numbers.rounded import Rounded, join_parts
from rnnbounds.properties.read.quantity import cached_world
from rnnbounds.properties.read.reader import read
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.theory.numbers.interval import Interval

Tensor = torch.Tensor
RoundedReading = Callable[[Batch], Rounded]


def runs(batch: Batch) -> CellRuns:
    """The runs of a batch of cells, made once."""
    if "runs" not in batch.cache:
        cells = batch.require_cells
        batch.cache["runs"] = CellRuns(
            cells.cell.program, cells.parameters, cells.units, batch.x, batch.K, states(batch)
        )
    found: CellRuns = batch.cache["runs"]
    return found


def states(batch: Batch) -> list[Rounded]:
    """s_0 … s_T of the full run, as they are read."""
    reader_world = cached_world(batch, FLOATS)
    times = range(batch.spec.T + 1)
    return [reader_world.state(read(("state", ("x",), 0, t), reader_world)) for t in times]


def output_part(v: Rounded, batch: Batch) -> Rounded:
    """h, the last of the state."""
    return v.part(v.size - batch.require_cells.n, v.size)


def unit_weights(batch: Batch) -> Tensor:
    """The unit weights v of ‖·‖_box, (B, N)."""
    v: Tensor = batch.require_cells.v
    return v


def box_norm_reading(seen: RoundedReading) -> Callable[[Batch], Interval]:
    """‖·‖_box of something of the state's size."""
    return lambda batch: max_norm(seen(batch), unit_weights(batch))


def norm_reading(seen: RoundedReading, axis: int = 1) -> Callable[[Batch], Interval]:
    """‖·‖₂ along an axis."""
    return lambda batch: euclidean_norm(seen(batch), axis)


def output_gaps(batch: Batch) -> Rounded:
    """h_T − h_T^k, (B, n, K+1, S)."""
    return output_part(runs(batch).gaps, batch)


def prediction_gaps(batch: Batch) -> Rounded:
    """C (h_T − h_T^k), (B, p, K+1, S)."""
    return output_gaps(batch).apply_matrix(batch.C)


def contract_rows(rows: Rounded, matrix: Rounded) -> Rounded:
    """Σ_i g_i D_i: (B, n, M) and (B, n, M, P) give (B, M, P)."""
    row_operator = Rounded(rows.value.mT[:, None], rows.error.mT[:, None])
    return operator_product(row_operator, matrix)[:, 0]


def split_windows(v: Rounded, batch: Batch) -> Rounded:
    """(B, (K+1) S, P) as (B, K+1, S, P)."""
    B, _, P = v.value.shape
    return Rounded(*(part.reshape(B, batch.K + 1, -1, P) for part in (v.value, v.error)))


def gradient_gaps(batch: Batch) -> Rounded:
    """∇p_T − ∇p_T^k, (B, K+1, S, P)."""
    batch_runs, K = runs(batch), batch.K
    h, output_gap = output_part(batch_runs.states[-1], batch), join_windows(output_gaps(batch))
    g = repeat_columns(gradient(batch.loss, h), K + 1)
    dg = gradient_gap(batch.loss, repeat_columns(h, K + 1), output_gap)
    D = repeat_columns(output_part(batch_runs.sensitivities[-1], batch), K + 1)
    E = join_windows(output_part(batch_runs.sensitivity_gaps, batch))
    return split_windows(contract_rows(dg, D) + contract_rows(g - dg, E), batch)


def join_windows(v: Rounded) -> Rounded:
    """The windows beside one another: (B, n, K+1, S, …) as (B, n, (K+1) S, …)."""
    return Rounded(v.value.flatten(2, 3), v.error.flatten(2, 3))


def omitted_gradients(batch: Batch) -> Rounded:
    """Evaluate the part of ∇p_T that truncated back-propagation omits, (B, K+1, S, P)."""
    batch_runs = runs(batch)
    g = gradient(batch.loss, output_part(batch_runs.states[-1], batch))
    times = range(batch.spec.T, batch.spec.T - batch.K - 1, -1)
    parts = [
        operator_product(output_part(batch_runs.transitions[k], batch), batch_runs.sensitivities[t])
        for k, t in enumerate(times)
    ]
    return split_windows(
        contract_rows(repeat_columns(g, batch.K + 1), join_parts(parts, dim=2)), batch
    )


def enclose_input_jacobians(batch: Batch) -> Interval:
    """‖∂h_T/∂x_{T−k}‖₂; 0 beyond the first input."""
    batch_runs, T = runs(batch), batch.spec.T
    jacobians = [
        operator_product(
            output_part(batch_runs.transitions[k], batch), batch_runs.step_derivatives[T - 1 - k].E
        )
        for k in range(min(batch.K, T - 1) + 1)
    ]
    J = join_parts([Rounded(j.value[:, :, None], j.error[:, :, None]) for j in jacobians], dim=2)
    value, error = (part.permute(0, 3, 2, 1, 4) for part in (J.value, J.error))  # B, S, k, n, d
    low, high = (end.cpu().numpy() for end in spectral_norm(value, error))
    padding = [(0, 0), (0, 0), (0, batch.K + 1 - len(jacobians))]
    return Interval(np.pad(low, padding), np.pad(high, padding))
