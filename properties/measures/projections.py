"""Fast paths of projections in float64: matrices with bounds on how far they are off."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.training.nearest import Point, distance, itself, projected
from rnnbounds.impl.training.projection import Ball
from rnnbounds.properties.errors import DisagreementError
from rnnbounds.properties.measures.measure import FastPath
from rnnbounds.properties.read.worlds.leaves import pair_matrix, projection_ball
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.theory.numbers.interval import Interval

LARGEST_RELATIVE_ERROR = (
    2.0**-20
)  # of its norm: rounding leaves far less, a projection that is none far more

# What becomes of a matrix: itself, or Π of it.
FLOAT_POINTS: dict[str, Callable[[Tensor, Ball], Point]] = {
    "itself": lambda A, ball: itself(A), "projected": projected,
}  # fmt: skip


def distance_enclosure(
    first: tuple[str, str], second: tuple[str, str]
) -> Callable[[Batch], Interval]:
    """The Frobenius distance of two points, each what becomes of A or of B: (B, S, 1)."""

    def read(batch: Batch) -> Interval:
        ball = projection_ball(batch)
        points = [
            FLOAT_POINTS[kind](pair_matrix(batch, which), ball) for kind, which in (first, second)
        ]
        for (kind, which), point in zip((first, second), points, strict=True):
            _require_near(batch, f"{kind} {which}", pair_matrix(batch, which), point)
        ends = [end.detach().cpu().numpy()[:, None, None] for end in distance(*points)]
        shape = (batch.cell.batch, batch.x.shape[3], 1)
        return Interval(*(np.array(np.broadcast_to(end, shape)) for end in ends))

    return read


def _require_near(batch: Batch, name: str, A: Tensor, point: Point) -> None:
    """Raise DisagreementError where the product's matrix may be far from what a claim is about."""
    size = torch.linalg.matrix_norm(A)
    is_far = point.error.isfinite() & (point.error > LARGEST_RELATIVE_ERROR * size)
    for i in is_far.nonzero()[:1, 0].tolist():
        error, norm = float(point.error[i]), float(size[i])
        exact = f"the exact one may be {error:.3g} away, where the matrix has norm {norm:.3g}"
        raise DisagreementError(name, "float64 finds a point", exact, batch.pair(i, 0).spec.text)


def distance_path(name: str, first: tuple[str, str], second: tuple[str, str]) -> FastPath:
    """The distance of what becomes of A or of B from what becomes of either."""
    return FastPath(
        name, lambda b: b.spec.kind == "projection", enclosure=distance_enclosure(first, second)
    )


FAST = (
    distance_path("proj_gap", ("projected", "A"), ("projected", "B")),
    distance_path("matrix_gap", ("itself", "A"), ("itself", "B")),
    distance_path("proj_distance", ("itself", "A"), ("projected", "A")),
    distance_path("feasible_distance", ("itself", "A"), ("projected", "B")),
)
