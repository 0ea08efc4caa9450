"""What is seen on cells of any kind, enclosed in float64 and in balls of one pair.

‖·‖_box is max |s_j|/v_j over the state, ‖·‖ the Euclidean norm of outputs and of gradients in all
weights. Enclosures are (B, S, K+1) with windows, else (B, S, 1).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from flint import arb, arb_mat

from rnnbounds.impl.numbers.outward import underflow
from rnnbounds.impl.numbers.spectra.exact_norm import ball_norm
from rnnbounds.properties.measures.measure import around
from rnnbounds.properties.measures.readings.balls import BallPair, length
from rnnbounds.properties.measures.readings.balls import largest as greatest
from rnnbounds.properties.measures.readings.slack import NORM_FLOOR, gamma, spectral_ends
from rnnbounds.properties.measures.runs.arrays import marked
from rnnbounds.properties.measures.runs.ball_runs import BallRuns
from rnnbounds.properties.measures.runs.losses import gradient, gradient_gap
from rnnbounds.properties.measures.runs.rounded import UP, Rounded, beside
from rnnbounds.properties.measures.runs.runs import Runs, product, repeated
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.theory.numbers.interval import Interval

Tensor = torch.Tensor
Seen = Callable[[Batch], Rounded]
SeenBalls = Callable[[BallRuns, Batch, int], list[arb]]
Weights = Callable[[Batch], Tensor]


def runs(batch: Batch) -> Runs:
    """The runs of a batch of cells, made once."""
    if "runs" not in batch.cache:
        cells = batch.its_cells
        batch.cache["runs"] = Runs(
            cells.cell.program, cells.parameters, cells.units, batch.x, batch.K
        )
    found: Runs = batch.cache["runs"]
    return found


def ball_runs(pair: BallPair) -> BallRuns:
    """The runs of one pair at the precision that is current, made once at each."""
    if "cells" not in pair.cache:
        cells, x = pair.batch.its_cells, pair.batch.x[0, :, :, 0]
        pair.cache["cells"] = BallRuns(
            cells.cell.program, cells.parameters, cells.units, x.tolist()
        )
    found: BallRuns = pair.cache["cells"]
    return found


def output(v: Rounded, batch: Batch) -> Rounded:
    """h, the last of the state."""
    return v.part(v.size - batch.its_cells.n, v.size)


def rows(matrix: arb_mat, batch: Batch) -> arb_mat:
    """The rows of h."""
    return arb_mat(matrix.tolist()[-batch.its_cells.n :])


def by_sequence(value: Tensor) -> Tensor:
    """(B, S) or (B, K+1, S) as (B, S, 1) or (B, S, K+1)."""
    return value[:, :, None] if value.ndim == 2 else value.transpose(1, 2)


def largest(v: Rounded, weights: Tensor) -> Interval:
    """Enclosures of max |v_j|/w_j along the second axis; exact where v is and all w are 1."""
    w = weights.reshape(*weights.shape, *[1] * (v.value.ndim - 2))
    value, error = (by_sequence((part / w).amax(1)) for part in (v.value.abs(), v.error))
    slack = (error + value * 2.0**-50) * UP + underflow(value + error)
    exact = (weights == 1).all(1)[:, None, None] & (error == 0)
    return around(value, torch.where(exact, 0.0, slack))


def longest(v: Rounded, axis: int = 1) -> Interval:
    """Enclosures of ‖v‖₂ along an axis."""
    value, error = length_of(v, axis)
    return around(by_sequence(value), by_sequence(error))


def length_of(v: Rounded, axis: int) -> tuple[Tensor, Tensor]:
    """‖v‖₂ along an axis, and its error."""
    value, off = (torch.linalg.vector_norm(part, dim=axis) for part in (v.value, v.error))
    # A square that underflows hides a small number: nothing is hidden where all are 0.
    hidden = marked(v.present.any(axis), NORM_FLOOR)
    return value, (off + gamma(v.value.shape[axis] + 4) * (value + off) + hidden) * UP


def unit_norm(seen: Seen, weights: Weights) -> Callable[[Batch], Interval]:
    """max |v_j|/w_j of something of the state's size, for weights w of the units."""
    return lambda batch: largest(seen(batch), weights(batch))


def unit_balls(seen: SeenBalls, weights: Weights) -> Callable[[BallPair, int], arb]:
    """The same of one pair."""

    def read(pair: BallPair, k: int) -> arb:
        found = seen(ball_runs(pair), pair.batch, k)
        return greatest(found, weights(pair.batch)[0].tolist())

    return read


def by_unit(batch: Batch) -> Tensor:
    """The unit weights v of ‖·‖_box, (B, N)."""
    v: Tensor = batch.its_cells.v
    return v


def box_norm(seen: Seen) -> Callable[[Batch], Interval]:
    """‖·‖_box of something of the state's size."""
    return unit_norm(seen, by_unit)


def box_balls(seen: SeenBalls) -> Callable[[BallPair, int], arb]:
    """The same of one pair."""
    return unit_balls(seen, by_unit)


def lengths(seen: Seen, axis: int = 1) -> Callable[[Batch], Interval]:
    """‖·‖₂ along an axis."""
    return lambda batch: longest(seen(batch), axis)


def ball_lengths(seen: SeenBalls) -> Callable[[BallPair, int], arb]:
    """The same of one pair."""
    return lambda pair, k: length(seen(ball_runs(pair), pair.batch, k))


def output_gaps(batch: Batch) -> Rounded:
    """h_T − h_T^k, (B, n, K+1, S)."""
    return output(runs(batch).gaps, batch)


def ball_output_gap(of: BallRuns, batch: Batch, k: int) -> list[arb]:
    """The same of one pair."""
    return rows(of.gap(k), batch).entries()


def predicted(of: BallRuns, batch: Batch, k: int) -> list[arb]:
    """C (h_T − h_T^k) of one pair."""
    return (arb_mat(batch.C[0].tolist()) * rows(of.gap(k), batch)).entries()


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
    """What truncated back-propagation leaves out, (B, K+1, S, P)."""
    of = runs(batch)
    g = gradient(batch.loss, output(of.states[-1], batch))
    times = range(batch.spec.T, batch.spec.T - batch.K - 1, -1)
    parts = [
        product(output(of.transitions[k], batch), of.sensitivities[t]) for k, t in enumerate(times)
    ]
    return windows_of(contracted(repeated(g, batch.K + 1), beside(parts, dim=2)), batch)


def ball_gradient_gap(of: BallRuns, batch: Batch, k: int) -> list[arb]:
    """∇p_T − ∇p_T^k of one pair."""
    h, delta = rows(of.states[-1].matrix, batch).entries(), ball_output_gap(of, batch, k)
    g = batch.loss.ball_gradient(h)
    dg = [arb(0)] * len(g)
    if not all(d.is_zero() for d in delta):
        other = batch.loss.ball_gradient([a - d for a, d in zip(h, delta, strict=True)])
        dg = [a - b for a, b in zip(g, other, strict=True)]
    D, E = (rows(m, batch) for m in (of.sensitivities[-1], of.sensitivity_gap(k)))
    hat = arb_mat([[a - b for a, b in zip(g, dg, strict=True)]])
    return (arb_mat([dg]) * D + hat * E).entries()


def ball_early_gradient(of: BallRuns, batch: Batch, k: int) -> list[arb]:
    """What truncated back-propagation leaves out, of one pair."""
    g = batch.loss.ball_gradient(rows(of.states[-1].matrix, batch).entries())
    moved = rows(of.transition(k), batch) * of.sensitivities[of.T - k]
    return (arb_mat([g]) * moved).entries()


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


def spectral(J: Tensor, error: Tensor) -> tuple[Tensor, Tensor]:
    """Ends around ‖J‖₂ of matrices (…, n, d) that are off by at most ``error``."""
    n, d = J.shape[-2:]
    low, high = spectral_ends(J)
    off = torch.linalg.matrix_norm(error) * (1 + gamma(n * d + 4))
    off = off + marked((error != 0).any(-1).any(-1), NORM_FLOOR)
    high = torch.nextafter(high + off * UP, torch.tensor(torch.inf).to(J))
    nothing = ~((J != 0) | (error != 0)).any(-1).any(-1)
    return ((low - off * UP) * (1 - 2.0**-50)).clamp(min=0.0), torch.where(nothing, 0.0, high)


def ball_jacobian(pair: BallPair, k: int) -> arb:
    """The same of one pair."""
    of = ball_runs(pair)
    if k >= of.T:
        return arb(0)
    return ball_norm(rows(of.transition(k), pair.batch) * of.steps[of.T - 1 - k].E)
