"""Faults that an adversarial review of gradients and training found, each kept away by one test."""

import pytest
import torch
from flint import arb, arb_mat, ctx
from gradient_oracle import random_system
from torch import Tensor

from impl.cells.activation import activation
from impl.cells.rnn import RNN
from impl.errors import InputError, PrecisionError, RangeError, ShapeError
from impl.gradients.adjoint import gradient_gaps, last_gradient, tbptt_gaps
from impl.gradients.adjoint_error import (
    gradient_error,
    gradient_gap_error,
    mean_gradient_gap_error,
    tbptt_error,
)
from impl.gradients.constants import Constants
from impl.gradients.loss import loss
from impl.training.descent import Omega, descend, descent_error
from impl.training.nearest import itself, projected, projection_error, rescaled
from impl.training.nearest_exact import ball_projected, ball_rescaled, frobenius
from impl.training.projection import Ball, BallNorm


def doubles(values: object) -> Tensor:
    """Float64 numbers."""
    return torch.tensor(values, dtype=torch.float64)


def scalar(W: float, name: str) -> RNN:
    """h_t = ρ(W h_{t−1} + x_t)."""
    return RNN(doubles([[[W]]]), doubles([[[1.0]]]), doubles([[0.0]]), activation(name))


def test_a_gradient_that_underflows_is_not_taken_for_0() -> None:
    """L_ρ‖c‖ underflows for the least c, while the gradient is not 0."""
    cell, x = scalar(0.5, "sigmoid"), torch.ones(1, 1, 1, 1, dtype=torch.float64)
    p = loss("linear", doubles([[[5e-324]]]))
    assert not last_gradient(cell, x, p).flat().any()
    assert gradient_error(cell, x, p).item() > 0


def test_the_forgotten_part_counts_where_powers_of_lam_underflow() -> None:
    """λ^35 is far below all floats, but c λ^35 and its rounding are not."""
    T, c = 36, 1.1 * 2.0**600
    cell, x = scalar(0.3 * 2.0**-30, "identity"), torch.ones(1, 36, 1, 1, dtype=torch.float64)
    p = loss("linear", doubles([[[c]]]))
    found = tbptt_gaps(cell, x, T, p, "b")[0, 0, T - 1].item()
    error = tbptt_error(cell, x, T, p, "b")[0, 0, T - 1].item()
    with ctx.workprec(3000):
        away = abs(arb(c) * arb(cell.W.item()) ** (T - 1) - found)
        assert away > 0
        assert away <= error


@pytest.mark.parametrize("size", [2.0**520, 2.0**1000])
@pytest.mark.parametrize("radius", [0.0, 1.0, 2.0**-300])
@pytest.mark.parametrize("norm", ["spectral", "infinity", "frobenius"])
def test_points_near_huge_matrices(norm: BallNorm, radius: float, size: float) -> None:
    """Norms whose squares overflow have lower bounds too; a ball may be the point 0."""
    A = torch.randn(3, 2, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1)) * size
    ball = Ball(norm, radius)
    for point, exact in ((projected, ball_projected), (rescaled, ball_rescaled)):
        found = point(A, ball)
        assert (found.error >= 0).all()
        with ctx.workprec(4000):
            for i, error in enumerate(found.error.tolist()):
                gap = frobenius(exact(A[i], ball) - arb_mat(found.value[i].tolist()))
                assert gap <= error


def test_a_step_that_underflows_is_an_error() -> None:
    """α g is lost in all of a hundred weights, though neither α nor g is 0."""
    n, alpha, slope = 100, 2.0**-475, 1.9 * 2.0**-601
    W, U = (torch.zeros(1, n, m, dtype=torch.float64) for m in (n, 1))
    cell = RNN(W, U, U[:, :, 0], activation("identity"))
    p = loss("linear", torch.full((1, 1, n), slope, dtype=torch.float64))
    x, rates, one = torch.zeros(1, 1, 1, 1, dtype=torch.float64), doubles([[alpha]]), doubles([1.0])
    omega = Omega(one, one, one)
    cells = descend(cell, x, p, omega, "b", rates)
    assert not cells[1].b.any()
    error = descent_error(cells, x, p, omega, "b", rates, doubles([0.0]))[0, 1].item()
    with ctx.workprec(200):
        assert arb(alpha) * arb(slope) * 10 <= error


def test_steps_go_down() -> None:
    """Negative steps, whose errors no formula here bounds, are refused."""
    cell, x, p = random_system("tanh", "linear", B=1, S=1)
    radii = Omega(*(doubles([9.0]) for _ in range(3)))
    rates = doubles([[0.1, -0.1]])
    with pytest.raises(RangeError, match="α"):
        descend(cell, x, p, radii, "WUb", rates)
    with pytest.raises(RangeError, match="α"):
        descent_error([cell] * 3, x, p, radii, "WUb", rates, doubles([1.0]))


@pytest.mark.parametrize("bound", [gradient_gap_error, mean_gradient_gap_error, tbptt_error])
@pytest.mark.parametrize("name", ["tanh", "relu"])
def test_errors_of_windows_that_do_not_exist(bound: object, name: str) -> None:
    """The bounds refuse what the readings refuse."""
    cell, x, p = random_system(name, "linear")
    assert callable(bound)
    for K in (-1, 7):
        with pytest.raises(RangeError):
            bound(cell, x, K, p)
    for trained in ("", "bW", "X"):
        with pytest.raises(InputError):
            bound(cell, x, 2, p, trained)
    with pytest.raises(InputError):
        bound(cell, x.float(), 2, p)


def test_a_loss_of_other_systems() -> None:
    """More losses than systems are a mistake, however many fit into the workspace."""
    cell, x, _ = random_system("tanh", "linear", B=1)
    _, _, p = random_system("tanh", "linear", B=2)
    for reading in (gradient_gaps, gradient_gap_error):
        with pytest.raises(ShapeError):
            reading(cell, x, 2, p)
    with pytest.raises(ShapeError):
        last_gradient(cell, x, p)


def test_a_gradient_that_overflows() -> None:
    """Nothing is known about gradients that are too large for a float, nor about their parts."""
    cell, size = scalar(1 - 2.0**-53, "identity"), 2.0**512
    x = torch.full((1, 9, 1, 1), size, dtype=torch.float64)
    for C, y in ((1.0, 0.0), (2.0**500, 0.0), (1.0, 2.0**1020)):
        p = loss("squared", doubles([[[C]]]), doubles([[y]]))
        assert not torch.isfinite(last_gradient(cell, x, p).W).all()
        assert (gradient_error(cell, x, p) == torch.inf).all()
        assert (tbptt_error(cell, x, 5, p) == torch.inf).all()


def test_no_error_is_nan() -> None:
    """An uncertain kink far below all floats' squares: 0 times infinity is infinity."""
    cell = scalar(0.99, "relu")
    x = doubles([2.0**-1000, -(2.0**-1000)]).reshape(1, 2, 1, 1)
    p = loss("linear", doubles([[[2.0**-1000]]]))
    for bound in (gradient_gap_error, tbptt_error):
        assert not bound(cell, x, 2, p, "W").isnan().any()


def test_constants_are_not_rounded_to_the_input_bound() -> None:
    """A float32 bound on the inputs would round all upper bounds to nearest."""
    cell, _, _ = random_system("tanh", "linear", B=1)
    with pytest.raises(PrecisionError):
        Constants(cell, torch.tensor([1.0]))


def test_single_precision_points() -> None:
    """The bounds count the roundings of float64 alone."""
    A, ball, ell = torch.eye(2)[None], Ball("frobenius", 0.3), doubles([0.3])
    for point in (itself, lambda M: projected(M, ball), lambda M: rescaled(M, ball)):
        with pytest.raises(PrecisionError):
            point(A)
    for pair in ((A, A.double()), (A.double(), A)):
        with pytest.raises(PrecisionError):
            projection_error(*pair, "frobenius", ell)
