import math

import mpmath
import pytest
import torch
from draws import doubles, normal
from flint import arb, arb_mat, ctx
from gradient_oracle import Blocks, balls, blocks, exactly, length, random_system
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.gradients.loss import Loss, loss
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm
from rnnbounds.impl.training.descent import Omega, descend, descent_error, project

N, DIGITS = 5, 60
SUBSETS = ("W", "Ub", "WUb")


def omega_of(cell: RNN, stretch: float = 1 + 1e-9) -> Omega:
    """A set that certainly holds the cell, just so."""
    sizes = (certified_norm(cell.W), cell.U.flatten(1).norm(dim=1), cell.b.norm(dim=1))
    return Omega(*(size * stretch for size in sizes))


def rates(B: int, alpha: float) -> Tensor:
    """α/t for each member, a little apart."""
    start = alpha * (1 + torch.arange(B, dtype=torch.float64) / 4)
    return start[:, None] / torch.arange(1, N + 1)


def precise(
    cell: RNN, x: Tensor, loss: Loss, omega: Omega, trained: str, steps: Tensor
) -> list[list[arb]]:
    """The same of the first system at 60 digits, with the gradients of balls and mpmath's SVD."""
    n, d = cell.n, cell.d
    weights: Blocks = exactly(cell)
    found = [[v for block in weights for v in block.entries()]]
    for rate in steps.tolist():
        g = [v.mid() for v in balls(cell, x, loss, weights=weights)]
        new = []
        for name, block in zip("WUb", weights, strict=True):
            place = blocks(n, d, name)
            moved = [v - rate * g[i] for v, i in zip(block.entries(), place, strict=True)]
            if name not in trained:
                moved = block.entries()
            elif name == "W":
                moved = clipped(moved, n, getattr(omega, name)[0].item())
            else:
                scale = (arb(getattr(omega, name)[0].item()) / length(moved)).min(arb(1))
                moved = [scale * v for v in moved]
            rows, columns = block.nrows(), block.ncols()
            flat = [v.mid() for v in moved]
            new.append(arb_mat([flat[i * columns : (i + 1) * columns] for i in range(rows)]))
        weights = (new[0], new[1], new[2])
        found.append([v for block in weights for v in block.entries()])
    return found


def clipped(entries: list[arb], n: int, radius: float) -> list[arb]:
    """U min(Σ, radius) Vᵀ by mpmath."""
    numbers = [mpmath.mpf(v.mid().str(DIGITS + 10, radius=False)) for v in entries]
    U, sigma, V = mpmath.svd_r(mpmath.matrix([numbers[i * n : (i + 1) * n] for i in range(n)]))
    P = U * mpmath.diag([min(s, mpmath.mpf(radius)) for s in sigma]) * V
    return [arb(mpmath.nstr(P[i, j], DIGITS + 10)) for i in range(n) for j in range(n)]


def flat(cell: RNN, member: int = 0) -> Tensor:
    """All weights of a member as one vector."""
    return torch.cat([cell.W[member].flatten(), cell.U[member].flatten(), cell.b[member]])


@pytest.mark.parametrize("trained", SUBSETS)
@pytest.mark.parametrize("name", ["tanh", "identity", "softplus"])
def test_errors_bound_the_precise_descent(trained: str, name: str) -> None:
    """A descent at 60 digits stays within the bounds, which are near rounding."""
    cell, x, p = random_system(name, "squared", S=1, seed=3)
    omega, steps = omega_of(cell), rates(2, 0.05)
    cells = descend(cell, x, p, omega, trained, steps)
    beta = torch.full((2,), 100.0, dtype=torch.float64)
    error = descent_error(cells, x, p, omega, trained, steps, beta)
    assert error.shape == (2, N + 1)
    assert (error < 1e-6).all()
    with ctx.workprec(240), mpmath.workdps(DIGITS + 10):
        for t, exact in enumerate(precise(cell, x, p, omega, trained, steps[0])):
            away = length([e - v for e, v in zip(exact, flat(cells[t]).tolist(), strict=True)])
            assert away <= error[0, t].item()


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


def test_no_steps_no_error() -> None:
    """N = 0 and steps of length 0 leave the cell where it is, without error."""
    cell, x, p = random_system("tanh", "linear", S=1)
    omega, beta = omega_of(cell), torch.ones(2, dtype=torch.float64)
    none = torch.zeros(2, 0, dtype=torch.float64)
    assert descend(cell, x, p, omega, "WUb", none) == [cell]
    assert (descent_error([cell], x, p, omega, "WUb", none, beta) == 0).all()
    still = torch.zeros(2, 3, dtype=torch.float64)
    cells = descend(cell, x, p, omega, "WUb", still)
    assert all(torch.equal(now.W, cell.W) for now in cells)
    assert (descent_error(cells, x, p, omega, "WUb", still, beta * math.inf) == 0).all()


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
