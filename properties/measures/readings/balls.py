"""One (system, sequence) pair, with what was read of it in balls at one precision."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from flint import arb, arb_mat

from rnnbounds.properties.read.numbers.sizes import euclidean_ball
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


def state_gap_ball(pair: BallPair, k: int) -> arb_mat:
    """h_T − h_T^k: the difference of two states from that before it, δ ↦ ρ(a) − ρ(a − W δ), which
    is exactly 0 where W δ is."""
    W, preactivations, full_states = ball_states(pair)
    T, rho = pair.batch.spec.T, pair.batch.cell.activation
    delta = full_states[T - k]
    for a in preactivations[T - k :]:
        shift = (W * delta).entries()
        changes = (
            s if s.is_zero() or rho.name == "identity" else rho.ball(z) - rho.ball(z - s)
            for z, s in zip(a, shift, strict=True)
        )
        delta = arb_mat([[v] for v in changes])
    return delta


def ball_states(pair: BallPair) -> tuple[arb_mat, list[list[arb]], list[arb_mat]]:
    """W, the pre-activations a_1 … a_T of the full run and its states h_0 … h_T, made once."""
    if "run of differences" not in pair.cache:
        cell, rho = pair.batch.cell, pair.batch.cell.activation
        W, U, b = (ball_matrix(part) for part in (cell.W[0], cell.U[0], cell.b[0][:, None]))
        states, preactivations = [0 * b], []
        for x in pair.batch.x[0, :, :, 0]:
            preactivations.append((W * states[-1] + U * ball_matrix(x[:, None]) + b).entries())
            states.append(arb_mat([[rho.ball(a)] for a in preactivations[-1]]))
        pair.cache["run of differences"] = W, preactivations, states
    cached: tuple[arb_mat, list[list[arb]], list[arb_mat]] = pair.cache["run of differences"]
    return cached


def start_norm_ball(pair: BallPair, k: int) -> arb:
    """‖h_{T−k}‖, of the run that gaps start from."""
    return euclidean_ball(ball_states(pair)[2][pair.batch.spec.T - k].entries())


def output_gap_ball(pair: BallPair, k: int) -> arb:
    """‖C (h_T − h_T^k)‖."""
    return euclidean_ball((ball_matrix(pair.batch.C[0]) * state_gap_ball(pair, k)).entries())
