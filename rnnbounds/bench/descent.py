"""Projected descent of many systems at once, against one after another."""

from __future__ import annotations

import torch

from rnnbounds.bench import naive
from rnnbounds.bench.clock import Clock
from rnnbounds.bench.gaps import FASTER
from rnnbounds.bench.row import Measured, Row, against
from rnnbounds.bench.systems import LAM, Systems, systems
from rnnbounds.impl.numbers.outward import norm_up
from rnnbounds.impl.training.descent import Omega, descend

STEPS, ALPHA = 10, 0.01
ROOM = 1.05  # of the set over where the weights start


def sets(many: Systems) -> tuple[Omega, torch.Tensor]:
    """Balls that hold the weights, and steps α/t, (B, N)."""
    cell = many.cell
    radii = (torch.full_like(many.y[:, 0], LAM), norm_up(cell.U.flatten(1)), norm_up(cell.b))
    rates = ALPHA / torch.arange(1, STEPS + 1).to(many.y)
    return Omega(*(ROOM * radius for radius in radii)), rates.repeat(cell.batch, 1)


def projected(clock: Clock) -> Measured:
    """Both sides on systems of one size, one sequence each."""
    many = systems(256 * clock.fuller, 1, device=clock.device)
    omega, rates = sets(many)
    one, target = many.one(), many.target()
    radii = (float(omega.W[0]), float(omega.U[0]), float(omega.b[0]))
    timing = clock.interleaved(
        [
            lambda: descend(many.cell, many.x, many.loss, omega, "WUb", rates),
            lambda: naive.descend(*one, *target, radii, rates[0].tolist()),
        ]
    )
    return against(timing, (many.pairs, 1))


ROWS = (
    Row("descent", "projected descent, N = 10 steps of size 0.01/t in a ball 5 % wider than ‖W‖₂, "
        "n = 16, d = 4, T = 100, tanh", "by a loop over t, autograd and an SVD a step",
        "µs a system", FASTER, projected, asked=60, on_device=True),
)  # fmt: skip
