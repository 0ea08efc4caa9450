"""Runs of vanilla networks and their Jacobians, all windows at once, against plain loops."""

import pytest
import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS, activation
from rnnbounds.impl.gradients.windows import rollout as windows
from rnnbounds.impl.gradients.windows.rollout import jacobians_alone, rollout, states, truncations
from rnnbounds.impl.models.rnn import RNN

B, N, D, T, S = 3, 5, 2, 9, 4


def random_cell(name: str = "tanh", seed: int = 0, n: int = N) -> tuple[RNN, Tensor]:
    """A cell with inputs, some of them large."""
    draw = torch.Generator().manual_seed(seed)
    shapes = ((B, n, n), (B, n, D), (B, n), (B, T, D, S))
    W, U, b, x = (torch.randn(*s, dtype=torch.float64, generator=draw) for s in shapes)
    return RNN(W * (5 / n) ** 0.5 / 3, U, b, activation(name)), x


def one_at_a_time(cell: RNN, member: int, inputs: Tensor) -> Tensor:
    """The plain loop: one system, one sequence, inputs (T, d)."""
    h = torch.zeros(cell.n, dtype=torch.float64)
    for x in inputs:
        h = cell.activation(cell.W[member] @ h + cell.U[member] @ x + cell.b[member])
    return h


@pytest.mark.parametrize("name", ["identity", "relu", "sigmoid", "softplus"])
@pytest.mark.parametrize("K", [0, 1, 4, T])
def test_truncations_are_the_plain_loop(name: str, K: int) -> None:
    """All truncated states at once agree with restarting the plain loop k steps before the end."""
    cell, x = random_cell(name)
    full, short = truncations(cell, x, K)
    assert full.shape == (B, N, S)
    assert short.shape == (B, N, K + 1, S)
    for member in range(B):
        for s in range(S):
            inputs = x[member, :, :, s]
            close = {"rtol": 1e-13, "atol": 1e-13}
            torch.testing.assert_close(
                full[member, :, s], one_at_a_time(cell, member, inputs), **close
            )
            for k in range(K + 1):
                expected = one_at_a_time(cell, member, inputs[T - k :])
                torch.testing.assert_close(short[member, :, k, s], expected, **close)


@pytest.mark.parametrize("name", ["tanh", "softplus"])
def test_starts_and_states(name: str) -> None:
    """A member's state that stays zero up to its own start is that of its last inputs; states start
    at zero, end at the rollout's result, and obey the recursion."""
    cell, x = random_cell(name)
    starts = torch.tensor([0, 4, T])
    found = rollout(cell, x, starts)
    for member, start in enumerate(starts.tolist()):
        expected = one_at_a_time(cell, member, x[member, start:, :, 0])
        torch.testing.assert_close(found[member, :, 0], expected, rtol=1e-13, atol=1e-13)
    assert (found[2] == 0).all()
    path = states(cell, x)
    assert path.shape == (B, T + 1, N, S)
    assert (path[:, 0] == 0).all()
    torch.testing.assert_close(path[:, T], rollout(cell, x))
    torch.testing.assert_close(path[:, 4], cell.step(path[:, 3], x[:, 3]))


@pytest.mark.parametrize("name", ["tanh", "relu", "gelu"])
@pytest.mark.parametrize(("n", "K"), [(N, 0), (N, 1), (N, 4), (N, T), (40, 5)])
def test_both_ways(name: str, n: int, K: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain tensors go in blocks, in place, those of which a derivative is asked from step to step:
    to the same states, and so do two sequences that are not next to each other in memory."""
    monkeypatch.setattr(windows, "_BLOCK", 2 * (K + 1) * S * n)  # two systems, then one
    cell, x = random_cell(name, n=n)
    for inputs in (x, x[..., ::2]):
        plain = [*truncations(cell, inputs, K), states(cell, inputs)]
        slow = inputs.clone().requires_grad_()
        for one, other in zip(
            plain, [*truncations(cell, slow, K), states(cell, slow)], strict=True
        ):
            torch.testing.assert_close(one, other.detach(), rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", ["identity", "tanh"])
@pytest.mark.parametrize("n", [5, 8, 17, 33])
def test_the_longest_window_is_the_full_model_to_the_last_bit(n: int, name: str) -> None:
    """At k = T both are one number, though a library may round two equal columns differently."""
    torch.manual_seed(n)
    W, U, b = (torch.randn(2, n, m, dtype=torch.float64) / n for m in (n, 2, 1))
    x = torch.randn(2, 9, 2, 3, dtype=torch.float64)
    full, short = truncations(RNN(W, U, b[:, :, 0], activation(name)), x, 9)
    assert torch.equal(full, short[:, :, 9])
    assert not short[:, :, 0].any()


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_jacobians_are_autograds(name: str) -> None:
    """The closed form is what autograd finds through the rollout."""
    cell, x = random_cell(name)
    h = rollout(cell, x.requires_grad_())
    J = jacobians_alone(cell, x.detach(), T - 1)
    for i in range(N):
        (slope,) = torch.autograd.grad(h[:, i].sum(), x, retain_graph=True)
        torch.testing.assert_close(slope.flip(1), J[:, :, i], rtol=0, atol=1e-12)
