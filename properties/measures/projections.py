"""Fast paths of projections in float64: matrices with bounds on how far they are off."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.training.nearest import Point, distance, itself, projected, rescaled
from rnnbounds.impl.training.projection import Ball
from rnnbounds.properties.errors import DisagreementError
from rnnbounds.properties.measures.measure import FastPath
from rnnbounds.properties.read.worlds.leaves import ball_of, matrix
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.theory.numbers.interval import Interval

NEAR = 2.0**-20  # of its norm: rounding leaves far less, a projection that is none far more

# What becomes of a matrix: itself, Π of it, or it scaled into the ball.
FLOATS: dict[str, Callable[[Tensor, Ball], Point]] = {
    "itself": lambda A, ball: itself(A), "projected": projected, "rescaled": rescaled,
}  # fmt: skip


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


def between(name: str, one: tuple[str, str], two: tuple[str, str]) -> FastPath:
    """The distance of what becomes of A or of B from what becomes of either."""
    return FastPath(name, lambda b: b.spec.kind == "projection", enclosure=enclosure(one, two))


FAST = (
    between("proj_gap", ("projected", "A"), ("projected", "B")),
    between("matrix_gap", ("itself", "A"), ("itself", "B")),
    between("rescaled_gap", ("rescaled", "A"), ("rescaled", "B")),
    between("proj_distance", ("itself", "A"), ("projected", "A")),
    between("feasible_distance", ("itself", "A"), ("rescaled", "B")),
)
