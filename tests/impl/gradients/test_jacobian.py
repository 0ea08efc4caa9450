import itertools
import math

import pytest
import torch
from draws import doubles
from flint import arb, arb_mat, ctx
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS, activation
from rnnbounds.impl.gradients.jacobian import input_jacobians
from rnnbounds.impl.gradients.windows.rollout import rollout, states
from rnnbounds.impl.models.rnn import RNN

N, D, T, S = 4, 2, 9, 3


def random_cell(name: str, batch: int = 2) -> tuple[RNN, Tensor]:
    """A contractive cell with inputs."""
    draw = torch.Generator().manual_seed(0)
    shapes = ((batch, N, N), (batch, N, D), (batch, N), (batch, T, D, S))
    W, U, b, x = (torch.randn(*s, dtype=torch.float64, generator=draw) for s in shapes)
    W = 0.8 * W / torch.linalg.matrix_norm(W, 2)[:, None, None]
    return RNN(W, U, b, activation(name)), x


def exact_jacobians(cell: RNN, x: Tensor) -> list[arb_mat]:
    """∂h_T/∂x_{T−j} in balls, of the first system and sequence."""
    W, U = arb_mat(cell.W[0].tolist()), arb_mat(cell.U[0].tolist())
    b, h = arb_mat([[v] for v in cell.b[0].tolist()]), arb_mat(cell.n, 1)
    slopes = []
    for values in x[0, :, :, 0].tolist():
        z = W * h + U * arb_mat([[v] for v in values]) + b
        h = arb_mat([[cell.activation.ball(z[i, 0])] for i in range(cell.n)])
        slopes.append([cell.activation.ball_derivative(z[i, 0]) for i in range(cell.n)])
    product = arb_mat([[arb(i == j) for j in range(cell.n)] for i in range(cell.n)])
    found = []
    for slope in reversed(slopes):
        scaled = [[product[i, j] * slope[j] for j in range(cell.n)] for i in range(cell.n)]
        product = arb_mat(scaled)
        found.append(product * U)
        product = product * W
    return found


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_error_is_bounded(name: str) -> None:
    """Jacobians in balls are within the bound of the float64 ones, which is itself small."""
    cell, x = random_cell(name)
    J, error = input_jacobians(cell, x, T - 1)
    assert J.shape == (2, T, N, D, S)
    assert error.shape == (2, T, S)
    assert (error < 1e-10).all()
    with ctx.workprec(200):
        for j, exact in enumerate(exact_jacobians(cell, x)):
            gaps = (arb_mat(J[0, j, :, :, 0].tolist()) - exact).entries()
            distance = sum((abs(gap) * abs(gap) for gap in gaps), arb(0)).upper().sqrt()
            assert distance <= error[0, j, 0].item()


@pytest.mark.parametrize("name", ["tanh", "gelu", "leaky-relu"])
def test_autograd_agrees(name: str) -> None:
    """The closed form is what autograd finds through the rollout."""
    cell, x = random_cell(name)
    x = x.requires_grad_()
    h = rollout(cell, x)
    J = input_jacobians(cell, x.detach(), 4).J
    for i in range(N):
        (slope,) = torch.autograd.grad(h[:, i].sum(), x, retain_graph=True)
        torch.testing.assert_close(slope[:, T - 5 :].flip(1), J[:, :, i], rtol=0, atol=1e-14)


def test_uncertain_kink() -> None:
    """A pre-activation that rounding could move across a ReLU's kink makes the bound infinite."""
    cell, x = random_cell("relu", batch=1)
    assert torch.isfinite(input_jacobians(cell, x, 3).error).all()
    z = torch.baddbmm(cell.drive(x[:, -1]), cell.W, rollout(cell, x[:, :-1]))
    x[:, -1, 0] -= z[:, 0] / cell.U[:, 0, 0, None]  # now the first unit is at the kink, nearly
    assert (input_jacobians(cell, x, 3).error == math.inf).all()


def test_exact_zero_is_certain() -> None:
    """A ReLU system at rest has slopes 0, as in torch, and makes no error."""
    cell, x = random_cell("relu", batch=1)
    still = RNN(cell.W, cell.U, torch.zeros_like(cell.b), cell.activation)
    J, error = input_jacobians(still, torch.zeros_like(x), 3)
    assert (J == 0).all()
    assert (error == 0).all()


def test_an_error_that_underflows_leaves_a_kink_uncertain() -> None:
    """W times the state's error underflows, so the next slope of a ReLU at 0 is not known."""
    cell = RNN(
        doubles([[[2.0**-600]]]), doubles([[[1.0, 1.0, 1.0]]]), doubles([[0.0]]), activation("relu")
    )
    lost = []
    for order in itertools.permutations((2.0**-900, 2.0**-960, -(2.0**-900))):
        x = doubles([list(order), [0.0, 0.0, 0.0]]).reshape(1, 2, 3, 1)
        lost.append(not states(cell, x).any())
        # h_1 = 2^-960 and z_2 = 2^-1560 > 0, so the last Jacobian is U, of norm √3.
        found = input_jacobians(cell, x, 0)
        assert float(found.J.norm() + found.error.max()) >= 3**0.5
    assert any(lost)


def test_not_finite() -> None:
    """A state that is NaN has an infinite bound."""
    cell, x = random_cell("relu", batch=1)
    x[0, 3, 0, 1] = math.nan
    error = input_jacobians(cell, x, 3).error
    assert torch.isfinite(error[..., 0]).all()
    assert (error[..., 1] == math.inf).all()
