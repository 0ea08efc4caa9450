"""The gradient of one run a system against its plain twin and autograd."""

import pytest
import torch

from impl.arithmetic.activation import ACTIVATIONS
from impl.gradients.adjoint import last_gradient
from impl.gradients.adjoint_error import gradient_error
from impl.gradients.loss import loss as make_loss
from impl.models.rnn import RNN
from impl.training.column import column_gradient

B, T, n, d, p = 5, 7, 4, 3, 2


def task(activation: str = "tanh", loss: str = "squared"):
    """Cells, one sequence each, and a loss."""
    draw = torch.Generator().manual_seed(3)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, dtype=torch.float64, generator=draw)

    W = 0.8 * torch.linalg.qr(normal(B, n, n))[0] / ACTIVATIONS[activation].slope
    cell = RNN(W, normal(B, n, d), normal(B, n), ACTIVATIONS[activation])
    return cell, normal(B, T, d, 1), make_loss(loss, normal(B, p, n), normal(B, p))


@pytest.mark.parametrize("loss", ["squared", "linear", "cross-entropy"])
@pytest.mark.parametrize("activation", ["tanh", "relu", "softplus", "identity"])
@pytest.mark.parametrize("late", [False, True])
def test_the_plain_twin(activation: str, loss: str, late: bool) -> None:
    """Both are within the bound on the error of either; starts hold the state at zero alike."""
    cell, x, criterion = task(activation, loss)
    starts = torch.tensor([0.0, 1, 3, T - 1, T], dtype=torch.float64) if late else None
    one, two = (read(cell, x, criterion, starts) for read in (column_gradient, last_gradient))
    error = gradient_error(cell, x, criterion)[:, 0]
    off = torch.linalg.vector_norm((one.flat() - two.flat())[:, 0], dim=1)
    if activation == "relu":  # no bound is known where some |z| is tiny
        error = error.clamp(max=1e-9)
    assert (off <= 2 * error).all()


def test_autograd() -> None:
    """It is the gradient that torch finds."""
    cell, x, criterion = task()
    parts = [getattr(cell, name).clone().requires_grad_() for name in "WUb"]
    own = RNN(*parts, activation=cell.activation)
    h = x.new_zeros(B, n, 1)
    for t in range(T):
        h = own.step(h, x[:, t])
    expected = torch.autograd.grad(criterion.value(h).sum(), parts)
    found = column_gradient(cell, x, criterion)
    for name, gradient in zip("WUb", expected, strict=True):
        torch.testing.assert_close(getattr(found, name)[:, 0], gradient, rtol=1e-12, atol=1e-13)
