import math

import pytest
import torch
from draws import doubles, normal
from flint import arb, ctx
from gradient_oracle import random_system
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.gradients.loss import loss
from rnnbounds.impl.gradients.weight_sets import Omega
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm
from rnnbounds.impl.training.descent import descend, descent_error, project

N = 5


def omega_of(cell: RNN, stretch: float = 1 + 1e-9) -> Omega:
    """A set that certainly holds the cell, just so."""
    sizes = (certified_norm(cell.W), cell.U.flatten(1).norm(dim=1), cell.b.norm(dim=1))
    return Omega(*(size * stretch for size in sizes))


def rates(B: int, alpha: float) -> Tensor:
    """α/t for each member, a little apart."""
    start = alpha * (1 + torch.arange(B, dtype=torch.float64) / 4)
    return start[:, None] / torch.arange(1, N + 1)


def test_bounds_see_wrong_cells() -> None:
    """Whatever the cells are, the bound covers them: a step that is off, one out of Ω, NaN."""
    cell, x, p = random_system("tanh", "linear", B=3, S=1)
    omega, steps = omega_of(cell), rates(3, 0.1)
    cells = descend(cell, x, p, omega, "W", steps)
    shift = torch.zeros_like(cell.W)
    shift[0, 0, 0], shift[1, 0, 0], shift[2, 0, 0] = 1e-5, 10.0, math.nan
    last = cells[2]
    cells[2] = RNN(last.W * (1 - 1e-3) + shift, last.U, last.b, last.activation)
    beta = torch.ones(3, dtype=torch.float64)
    error = descent_error(cells, x, p, omega, "W", steps, beta)
    assert (error[:, 1] < 1e-10).all()
    assert error[0, 2] >= torch.linalg.matrix_norm(last.W[0] - cells[2].W[0]) * (1 - 1e-6)
    assert (error[1:, 3:] == math.inf).all()
    assert error[2, 2] == math.inf


@pytest.mark.parametrize("n", [1, 2, 16, 40])
def test_projected_cells_lie_in_omega(n: int) -> None:
    """What comes back is certified to lie in Ω, and what was certainly there is not touched."""
    cell, _, _ = random_system("tanh", "linear", B=4, n=n, lam=3.0)
    omega = omega_of(cell, 0.5)
    inside = project(cell, omega)
    assert (certified_norm(inside.W) <= omega.W).all()
    assert (inside.U.flatten(1).norm(dim=1) <= omega.U * (1 + 1e-15)).all()
    assert (inside.b.norm(dim=1) <= omega.b * (1 + 1e-15)).all()
    again = project(inside, omega)
    assert all(torch.equal(getattr(again, name), getattr(inside, name)) for name in "WUb")
    assert torch.equal(project(cell, omega, "U").W, cell.W)


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


@pytest.mark.parametrize("size", [1.5, 3.0, 1e6, 1e200])
@pytest.mark.parametrize("ell", [0.0, 2.0**-300, 0.75])
def test_projected_from_anywhere(size: float, ell: float) -> None:
    """Near the ball and far from it, whose squares may overflow, the nearest point is found, and in
    the ball."""
    W = normal(3, 4, 4, seed=1)
    W = size * (ell or 1.0) * W / torch.linalg.matrix_norm(W, 2, keepdim=True)
    zero = torch.zeros(3, 4, 2, dtype=torch.float64)
    radius = torch.full((3,), ell, dtype=torch.float64)
    one = torch.ones(3, dtype=torch.float64)
    cell = RNN(W, zero, zero[..., 0], activation("tanh"))
    found = project(cell, Omega(radius, one, one), "W").W
    u, sigma, vh = torch.linalg.svd(W)
    torch.testing.assert_close(found, u * sigma.clamp(max=ell)[:, None] @ vh, rtol=0, atol=1e-12)
    assert (certified_norm(found) <= radius).all()
