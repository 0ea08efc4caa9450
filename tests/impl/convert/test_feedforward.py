import pytest
import torch
from draws import normal

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.impl.errors import InputError

N, D, T, S = 5, 3, 12, 4


def draw(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """Gaussian numbers of that seed."""
    return normal(*shape, seed=seed).to(dtype)


def build(k: int, activation: str = "tanh", *, biases: bool = True, **options) -> FeedForward:
    """A random module with window k."""
    dtype = options.pop("dtype", torch.float64)
    weights = {
        "weight_ih": draw(N, D, seed=1, dtype=dtype),
        "weight_hh": 0.4 * draw(N, N, seed=2, dtype=dtype),
        "bias_ih": draw(N, seed=3, dtype=dtype),
        "bias_hh": draw(N, seed=4, dtype=dtype),
    }
    held = {role: part for role, part in weights.items() if biases or "bias" not in role}
    return FeedForward(held, activation=activation, k=k, **options)


def truncated(module: FeedForward, x: torch.Tensor, t: int, k: int) -> torch.Tensor:
    """The recurrent truncated model, one step at a time: the state h_t^k (t counts from 1)."""
    rho = ACTIVATIONS[module.activation]
    h = x.new_zeros(x.shape[0], N)
    for s in range(max(0, t - k), t):
        z = x[:, s] @ module.weight_ih_l0.T + h @ module.weight_hh_l0.T
        for bias in (module.bias_ih_l0, module.bias_hh_l0):
            z = z if bias is None else z + bias
        h = rho(z)
    return h


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("k", [0, 1, 4, T, T + 5])
def test_equals_truncated_rollout(activation, k):
    """Every output is the truncated recurrent state, also before the first k inputs are there."""
    module, x = build(k, activation), draw(S, T, D)
    states = module(x)
    for t in range(1, T + 1):
        assert torch.allclose(states[:, t - 1], truncated(module, x, t, k), rtol=0, atol=1e-13)


def test_an_activation_that_no_file_names() -> None:
    """A vanilla cell with a library's own variant of an activation has a feed-forward form too."""
    W, U = torch.eye(2, dtype=torch.float64) / 2, torch.ones(2, 1, dtype=torch.float64)
    weights = {"weight_ih": U, "weight_hh": W}
    module = FeedForward(weights, activation="softplus-torch", k=2)
    x = torch.ones(1, 2, 1, dtype=torch.float64)
    first = torch.nn.functional.softplus(U[:, 0])
    second = torch.nn.functional.softplus(W @ first + U[:, 0])
    assert torch.allclose(module(x)[0, 1], second, rtol=0, atol=1e-14)
    with pytest.raises(InputError, match="unknown cell"):
        FeedForward(weights, cell="rnn-softplus-torch", k=2)
