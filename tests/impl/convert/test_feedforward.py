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


@pytest.mark.parametrize("nonlinearity", ["tanh", "relu"])
def test_equals_torch_rnn(nonlinearity):
    """With k ≥ T it is torch's own RNN, into which its state dict loads."""
    module, x = build(T, nonlinearity), draw(S, T, D)
    rnn = torch.nn.RNN(D, N, nonlinearity=nonlinearity, batch_first=True, dtype=torch.float64)
    rnn.load_state_dict(module.state_dict())
    assert torch.allclose(module(x), rnn(x)[0], rtol=0, atol=1e-14)


def test_receptive_field_is_exactly_k():
    """What is older than k inputs changes nothing; the k-th last input changes the output."""
    module, x = build(4), draw(S, T, D)
    older, edge = x.clone(), x.clone()
    older[:, : T - 4] = 1e6
    edge[:, T - 4] += 1.0
    last = module(x)[:, -1]
    assert torch.allclose(last, module(older)[:, -1], rtol=0, atol=1e-14)
    assert not torch.allclose(last, module(edge)[:, -1], rtol=0, atol=1e-6)


def test_without_biases():
    """A cell without biases, and one without inputs yet: k = 0 gives the zero state."""
    module, x = build(3, biases=False), draw(S, T, D)
    assert torch.allclose(module(x)[:, -1], truncated(module, x, T, 3), rtol=0, atol=1e-14)
    assert not build(0, biases=False)(x).any()


def test_float32_and_gradients():
    """The module keeps the dtype of its weights, and its weights train."""
    module, x = build(3, dtype=torch.float32), draw(S, T, D, dtype=torch.float32)
    states = module(x)
    assert states.dtype == torch.float32
    states.square().sum().backward()
    for parameter in module.parameters():
        assert parameter.grad is not None
        assert bool(parameter.grad.any())


def test_readout():
    """With a readout the module gives y = C h + c for every t."""
    readout = torch.nn.Linear(N, 2, dtype=torch.float64)
    module, x = build(3, readout=readout), draw(S, T, D)
    assert torch.allclose(module(x), readout(build(3)(x)), rtol=0, atol=1e-14)


def test_exports():
    """The module is plain torch: torch.export takes it, and the exported program agrees."""
    module, x = build(3), draw(S, T, D)
    exported = torch.export.export(module, (x,)).module()
    assert torch.allclose(exported(x), module(x), rtol=0, atol=1e-14)


def test_empty_sequence():
    """A sequence of no inputs has no outputs."""
    assert build(3)(draw(S, 0, D)).shape == (S, 0, N)


def test_prints_its_window():
    """The printed module says sizes, window and activation."""
    assert "k=3, activation='tanh'" in repr(build(3))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_cuda():
    """The same module on a CUDA device, to rounding."""
    module, x = build(4), draw(S, T, D)
    assert torch.allclose(module.cuda()(x.cuda()).cpu(), module.cpu()(x), rtol=0, atol=1e-12)


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


@torch.no_grad()
def test_what_is_done_holds_no_more_than_itself(monkeypatch):
    """Of k layers one is there at a time, and the states that are done."""
    joined, cat = [], torch.cat
    monkeypatch.setattr(torch, "cat", lambda parts, dim: joined.append(parts) or cat(parts, dim))
    build(8)(draw(2, T, D))
    assert sum(part.untyped_storage().nbytes() for part in joined[-1]) == 2 * T * N * 8
