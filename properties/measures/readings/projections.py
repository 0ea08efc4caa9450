"""Projections of two matrices onto a ball, and what is compared with them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from flint import arb, arb_mat, fmpq
from torch import Tensor

from rnnbounds.impl.training.nearest import Point, distance, itself, projected, rescaled
from rnnbounds.impl.training.nearest_exact import (
    ball_distance,
    ball_itself,
    ball_projected,
    ball_rescaled,
    rational_distance_square,
    rational_itself,
    rational_projected,
    rational_rescaled,
)
from rnnbounds.impl.training.projection import Ball
from rnnbounds.properties.errors import DisagreementError
from rnnbounds.properties.measures.readings.balls import BallPair
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.theory.numbers.interval import Interval

NEAR = 2.0**-20  # of its norm: rounding leaves far less, a projection that is none far more

# What becomes of a matrix: itself, Π of it, or it scaled into the ball.
FLOATS: dict[str, Callable[[Tensor, Ball], Point]] = {
    "itself": lambda A, ball: itself(A), "projected": projected, "rescaled": rescaled,
}  # fmt: skip
BALLS: dict[str, Callable[[Tensor, Ball], arb_mat]] = {
    "itself": lambda A, ball: ball_itself(A), "projected": ball_projected,
    "rescaled": ball_rescaled,
}  # fmt: skip
RATIONALS: dict[str, Callable[[Tensor, Ball], list[list[fmpq]] | None]] = {
    "itself": lambda A, ball: rational_itself(A), "projected": rational_projected,
    "rescaled": rational_rescaled,
}  # fmt: skip


def ball_of(batch: Batch) -> Ball:
    """The ball that a spec names."""
    norms = {"spectral": "spectral", "infinity": "infinity", "frobenius": "frobenius"}
    return Ball(norms[batch.spec.ball], batch.spec.scale)  # type: ignore[arg-type]


def matrix(batch: Batch, which: str) -> Tensor:
    """A or B, (B, n, n)."""
    return batch.cell.W if which == "A" or batch.other is None else batch.other.W


def enclosure(one: tuple[str, str], two: tuple[str, str]) -> Callable[[Batch], Interval]:
    """The Frobenius distance of two points, each what becomes of A or of B: (B, S, 1)."""

    def read(batch: Batch) -> Interval:
        ball = ball_of(batch)
        points = [FLOATS[kind](matrix(batch, which), ball) for kind, which in (one, two)]
        for (kind, which), point in zip((one, two), points, strict=True):
            _require_near(batch, f"{kind} {which}", matrix(batch, which), point)
        ends = [end.detach().cpu().numpy()[:, None, None] for end in distance(*points)]
        shape = (batch.cell.batch, batch.x.shape[3], 1)
        return Interval(*(np.array(np.broadcast_to(end, shape)) for end in ends))

    return read


def _require_near(batch: Batch, name: str, A: Tensor, found: Point) -> None:
    """Raise DisagreementError where the product's matrix may be far from what a claim is about."""
    size = torch.linalg.matrix_norm(A)
    far = found.error.isfinite() & (found.error > NEAR * size)
    for i in far.nonzero()[:1, 0].tolist():
        error, norm = float(found.error[i]), float(size[i])
        exact = f"the exact one may be {error:.3g} away, where the matrix has norm {norm:.3g}"
        raise DisagreementError(name, "float64 finds a point", exact, batch.pair(i, 0).spec.text)


def ball(one: tuple[str, str], two: tuple[str, str]) -> Callable[[BallPair, int], arb]:
    """The same in balls."""

    def read(pair: BallPair, k: int) -> arb:
        ball = ball_of(pair.batch)
        points = [BALLS[kind](matrix(pair.batch, which)[0], ball) for kind, which in (one, two)]
        return ball_distance(*points)

    return read


def square(one: tuple[str, str], two: tuple[str, str]) -> Callable[[Batch, int], fmpq | None]:
    """Its exact square, where both points are known to be rational."""

    def read(batch: Batch, k: int) -> fmpq | None:
        ball = ball_of(batch)
        first, second = (
            RATIONALS[kind](matrix(batch, which)[0], ball) for kind, which in (one, two)
        )
        if first is None or second is None:
            return None
        return rational_distance_square(first, second)

    return read
