import pytest
import torch

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS, activation
from rnnbounds.impl.gradients.windows.rollout import jacobians_alone, rollout
from rnnbounds.impl.models.rnn import RNN

N, D, T, S = 4, 2, 9, 3


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_autograd_agrees(name: str) -> None:
    """The closed form is what autograd finds through the rollout."""
    draw = torch.Generator().manual_seed(0)
    shapes = ((2, N, N), (2, N, D), (2, N), (2, T, D, S))
    W, U, b, x = (torch.randn(*s, dtype=torch.float64, generator=draw) for s in shapes)
    W = 0.8 * W / torch.linalg.matrix_norm(W, 2)[:, None, None]
    cell, x = RNN(W, U, b, activation(name)), x.requires_grad_()
    h = rollout(cell, x)
    J = jacobians_alone(cell, x.detach(), T - 1)
    for i in range(N):
        (slope,) = torch.autograd.grad(h[:, i].sum(), x, retain_graph=True)
        torch.testing.assert_close(slope.flip(1), J[:, :, i], rtol=0, atol=1e-13)
