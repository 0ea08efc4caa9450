import math

import pytest
import torch
from draws import normal
from flint import arb_mat, ctx
from torch import Tensor

from rnnbounds.impl.training.nearest import distance, itself, projected, projection_error
from rnnbounds.impl.training.nearest_exact import (
    ball_projected,
    frobenius,
)
from rnnbounds.impl.training.projection import Ball

NORMS = ("spectral", "infinity", "frobenius")


def matrices(m: int, n: int) -> Tensor:
    """Random ones, and zero, tiny, orthogonal, huge and rank-one ones."""
    A = normal(8, m, n, seed=m * n)
    A[0] = 0
    A[1] *= 1e-3
    A[2] = 3 * torch.eye(m, n)
    A[3] *= 1e100
    A[4] = A[4, :, :1] @ A[4, :1, :]
    A[5] *= 1e-200
    return A


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 5), (5, 3), (6, 6)])
def test_points_are_within_their_errors(norm: str, shape: tuple[int, int]) -> None:
    """Exact points are within the bounds of the float64 ones, and these are near rounding."""
    A, ball = matrices(*shape), Ball(norm, 0.9)
    found = projected(A, ball)
    assert (found.error <= 1e-12 * (1 + A.flatten(1).norm(dim=1))).all()
    with ctx.workprec(500):
        for i, error in enumerate(found.error.tolist()):
            gap = frobenius(ball_projected(A[i], ball) - arb_mat(found.value[i].tolist()))
            assert gap <= error * (1 + 1e-15)


@pytest.mark.parametrize("norm", NORMS)
def test_inside_is_exact(norm: str) -> None:
    """A matrix that certainly lies in the ball is its own nearest point, without error."""
    A = matrices(3, 3)[:2]
    found = projected(A, Ball(norm, 0.9))
    assert torch.equal(found.value, A)
    assert (found.error == 0).all()
    low, high = distance(itself(A), itself(A))
    assert (low == 0).all()
    assert (high == 0).all()


@pytest.mark.parametrize("norm", NORMS)
def test_wrong_points_are_seen(norm: str) -> None:
    """The bound covers any distance: of a moved point, of a shorter one, of NaN."""
    A, ball = matrices(4, 4)[6:], Ball(norm, 0.5)
    ell = torch.full((2,), 0.5, dtype=torch.float64)
    P = ball.project(A)
    moved = P.clone()
    moved[:, 0, 0] += 1e-6
    assert (projection_error(A, moved, norm, ell) >= 1e-6 * (1 - 1e-6)).all()
    assert (projection_error(A, moved, norm, ell) <= 4e-6).all()
    shrunk = P / 2
    away = torch.linalg.matrix_norm(shrunk - P)
    assert (projection_error(A, shrunk, norm, ell) >= away * (1 - 1e-9)).all()
    for bad in ((A * math.nan, P), (A, P * math.nan)):
        assert (projection_error(*bad, norm, ell) == math.inf).all()
