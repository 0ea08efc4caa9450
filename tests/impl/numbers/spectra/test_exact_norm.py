import math

import pytest
import torch
from flint import arb, arb_mat, ctx, fmpq

from rnnbounds.impl.errors import ShapeError
from rnnbounds.impl.numbers.spectra.exact_norm import (
    ball_norm,
    rational_norm_at_most,
)

HADAMARD = torch.tensor(
    [[1.0, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]], dtype=torch.float64
)  # norm 2
KNOWN = [
    (torch.eye(3, dtype=torch.float64) * 0.75, 0.75),
    (HADAMARD, 2.0),
    (torch.tensor([[3.0], [4.0]], dtype=torch.float64), 5.0),
    (torch.tensor([[3.0, 4.0]], dtype=torch.float64), 5.0),
    (torch.tensor([[3.0, 0.0], [4.0, 0.0]], dtype=torch.float64), 5.0),
    (torch.tensor([[0.0, 2.0], [0.0, 0.0]], dtype=torch.float64), 2.0),
    (torch.tensor([[-0.3]], dtype=torch.float64), 0.3),
    (torch.zeros(2, 3, dtype=torch.float64), 0.0),
]


@pytest.mark.parametrize("scale", [1.0, 2.0**-1000, 2.0**1000])
@pytest.mark.parametrize(("W", "norm"), KNOWN)
def test_known_norms(W: torch.Tensor, norm: float, scale: float) -> None:
    """At the exact norm the rationals say yes, one unit in the last place below they say no."""
    assert rational_norm_at_most(scale * W, scale * norm)
    if norm:
        assert not rational_norm_at_most(scale * W, math.nextafter(scale * norm, 0.0))
    ball = ball_norm(scale * W)
    assert ball.contains(arb(scale * norm))
    assert ball.rad() <= 1e-12 * scale * norm


def test_clusters() -> None:
    """Repeated and zero eigenvalues that flint does not isolate are enclosed all the same."""
    half = torch.full((2, 2), 0.5, dtype=torch.float64)
    blocks = torch.block_diag(half, half, half)
    singular = torch.tensor([[0.0, 1.0, 2.0]] * 3, dtype=torch.float64)
    stairs = torch.diag(torch.tensor([1.0, 0.0, 2.0, 2.0, 0.0, -1.0], dtype=torch.float64))
    for W, norm in ((blocks, arb(1)), (singular, arb(15).sqrt()), (stairs, arb(2))):
        for bits in (53, 128):
            with ctx.workprec(bits):
                ball = ball_norm(W)
                assert ball.overlaps(norm)
                assert ball.rad() <= arb(2) ** (8 - bits)


def test_wide_balls() -> None:
    """The norm of wide balls is the midpoints' give or take the radii's; NaN stays NaN."""
    middle, wide = (
        arb_mat([[arb(0), 1], [1, arb(0)]]),
        arb_mat([[arb(0, 0.5), 1], [1, arb(0, 0.5)]]),
    )
    ball = ball_norm(wide)
    assert ball.contains(ball_norm(middle))
    assert ball.contains(arb(1.5))
    assert ball.contains(arb(0.5))
    assert ball.rad() <= 0.8
    assert ball_norm(arb_mat(3, 3, [arb(0, 1)] * 9)).contains(arb(3))
    assert ball_norm(arb_mat([[arb(0, 1)], [arb(2)]])).contains(arb(5).sqrt())
    assert ball_norm(arb_mat([[arb(0, 1)]])).contains(arb(0))
    for entry in (math.nan, math.inf):
        assert not ball_norm(torch.tensor([[entry, 1.0]])).is_finite()
    assert ball_norm(torch.zeros(3, 3)) == 0


def test_rational_bounds() -> None:
    """A bound may be any rational; what is negative or not finite never holds."""
    third = torch.tensor([[1 / 3]], dtype=torch.float64)
    assert rational_norm_at_most(third, fmpq(1, 3))  # the float is just below
    assert not rational_norm_at_most(third, fmpq(1, 3) - fmpq(1, 10**16))
    for bad in (-1.0, math.nan, math.inf):
        assert not rational_norm_at_most(third, bad)
    assert not rational_norm_at_most(torch.tensor([[math.nan]]), 1.0)
    with pytest.raises(ShapeError):
        rational_norm_at_most(torch.zeros(2), 1.0)
