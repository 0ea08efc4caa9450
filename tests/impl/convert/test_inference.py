"""The feed-forward form, and inference in overlapping chunks, against the plain step loop."""

import pytest
import torch
from draws import normal
from window_runs import GATES, output_from, slow_weights, stacked

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.cells.table import CELLS, kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.convert import inference
from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.impl.convert.inference import FEWEST, chunks, outputs
from rnnbounds.impl.errors import InputError

N, D, T, S = 4, 3, 23, 2


@pytest.mark.parametrize("biases", [True, False])
@pytest.mark.parametrize("M", [1, 2, 3, 5])
@pytest.mark.parametrize(
    "cell", ["rnn-tanh", "rnn-relu", "rnn-elu", "linear", "lstm", "gru", "gru-cho"]
)
def test_each_output_is_that_of_its_window(cell: str, M: int, biases: bool) -> None:
    """Output t is the run from zero on the inputs from max(0, C ⌊t/C⌋ − k): min(k, t) or more."""
    k, C = 4, -(-T // M)
    module = FeedForward(slow_weights(cell, biases=biases), cell=cell, k=k)
    x = normal(S, T, D)
    rho = ACTIVATIONS[module.activation] if GATES.get(cell, 1) == 1 else None
    found = outputs(kind_of(cell), module.weights, x, k, M, rho)
    assert found.shape == (S, T, N)
    for t in range(T):
        expected = output_from(module, x, t, max(0, t // C * C - k))
        torch.testing.assert_close(found[:, t], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("T", [1, 40, 300])
@pytest.mark.parametrize("k", [0, 3, 400])
def test_within_what_the_certificate_says(k: int, T: int) -> None:
    """In float32 each output is within the certified gap and rounding of the full run in float64;
    k = 0 and sequences shorter than the window included."""
    torch.manual_seed(0)
    rnn = torch.nn.RNN(D, N, batch_first=True)
    with torch.no_grad():
        rnn.weight_hh_l0.mul_(0.8 / torch.linalg.matrix_norm(rnn.weight_hh_l0, 2))
    told = certify(rnn, inputs=1.0, norm="spectral")
    held = {name.removesuffix("_l0"): part for name, part in rnn.state_dict().items()}
    module = FeedForward(held, cell="rnn-tanh", k=k)
    x = torch.nn.functional.normalize(normal(S, T, D), dim=2).float()
    gap = told.lam**k * told.constants["drive"] / (1 - told.lam)
    off = module.infer(x).double() - rnn.double()(x.double())[0].detach()
    assert float(off.norm(dim=2).max()) <= 1.001 * (gap + told.rounding.state)


@pytest.mark.parametrize("cell", ["rnn-tanh", "lstm", "gru", "stacked-gru", "leaky-tanh"])
def test_infer(cell: str) -> None:
    """The module cuts as it chooses; with a window as long as the input it is ``forward``."""
    if cell == "stacked-gru":
        held = stacked([slow_weights("gru"), slow_weights("gru", d=N, seed=7)])
    elif cell == "leaky-tanh":
        held = {
            "W": 0.4 * normal(N, N),
            "W_in": normal(N, D),
            "leak": torch.full((N,), 0.5).double(),
        }
    else:
        held = slow_weights(cell)
    x, module = normal(S, T, D), FeedForward(held, cell=cell, k=T)
    torch.testing.assert_close(module.infer(x), module(x).detach(), rtol=0, atol=1e-12)
    assert not module.infer(x).requires_grad


@pytest.mark.parametrize("cell", ["rnn-tanh", "lstm", "gru"])
def test_the_rule(cell: str) -> None:
    """Few short sequences of small cells are cut, many or wide ones are not, and no chunk has fewer
    than k outputs."""
    kind = CELLS[cell]
    assert chunks(kind, 64, torch.empty(1, 4096, 3), 21) >= 16
    assert chunks(kind, 256, torch.empty(64, 512, 3), 21) == 1
    assert chunks(kind, 16, torch.empty(1, 100, 3), 60) == 1
    for T in (100, 1000):
        for k in (0, 1, 7, 50):
            M = chunks(kind, 8, torch.empty(1, T, 3), k)
            assert M == 1 or (M >= FEWEST and k * M <= T)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("n", [16, 160, 512])
@pytest.mark.parametrize("stacked", [False, True])
@pytest.mark.parametrize("cell", ["rnn-tanh", "lstm", "gru"])
def test_on_a_card(cell, stacked, n) -> None:
    """Float32 is rounded as a certificate says, and not as cuDNN does, TF32 or not."""
    torch.manual_seed(0)
    make = {"rnn-tanh": torch.nn.RNN, "lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[cell]
    module = make(D, n, 1 + stacked, batch_first=True)
    held = dict(module.state_dict())
    if not stacked:
        held = {name.removesuffix("_l0"): part for name, part in held.items()}
    there = FeedForward(held, cell=f"stacked-{cell}" if stacked else cell, k=600).cuda()
    x = torch.randn(2, 600, D)
    found = there.infer(x.cuda()).cpu().double()
    assert torch.backends.cudnn.enabled
    with torch.no_grad():
        torch.testing.assert_close(found, module.double()(x.double())[0], rtol=0, atol=1e-6)


def test_infer_cuts_long_sequences(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is long enough goes through chunks, in float32 as well."""
    seen = []
    real = inference.outputs
    monkeypatch.setattr(
        "rnnbounds.impl.convert.feedforward.outputs", lambda *a: seen.append(a[4]) or real(*a)
    )
    module = FeedForward({r: w.float() for r, w in slow_weights("gru").items()}, cell="gru", k=5)
    module.infer(normal(1, 400, D).float())
    assert seen[0] >= FEWEST


@pytest.mark.parametrize("M", [1, 3])
@pytest.mark.parametrize("make", [torch.nn.RNN, torch.nn.LSTM, torch.nn.GRU])
def test_stacks_are_run_by_torch(make: type[torch.nn.RNNBase], M: int) -> None:
    """Layers give the outputs of torch's own module where a window holds all inputs before, and
    those of the plain loop in every chunk."""
    torch.manual_seed(0)
    module = make(D, N, 2, batch_first=True, dtype=torch.float64)
    weights = dict(module.named_parameters())
    cell = {torch.nn.RNN: "rnn-tanh", torch.nn.LSTM: "lstm", torch.nn.GRU: "gru"}[make]
    kind, k, C = kind_of(f"stacked-{cell}"), 4, -(-T // M)
    short, x = FeedForward(weights, cell=kind.name, k=k), normal(S, T, D)
    with torch.no_grad():
        found, whole = outputs(kind, short.weights, x, k, M), module(x)[0]
        torch.testing.assert_close(found[:, :C], whole[:, :C], rtol=0, atol=1e-12)
        expected = output_from(short, x, T - 1, max(0, (T - 1) // C * C - k))
        torch.testing.assert_close(found[:, -1], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("k", [0, 1, 4, 12, 17])
def test_forward_is_the_truncated_run(activation: str, k: int) -> None:
    """Every output is the truncated recurrent state, also before the first k inputs are there."""
    cell = {"identity": "linear"}.get(activation, f"rnn-{activation}")
    module, x = FeedForward(slow_weights(cell), cell=cell, k=k), normal(S, 12, D)
    states = module(x)
    assert k > 0 or not states.any()
    for t in range(12) if k else ():
        expected = output_from(module, x, t, max(0, t + 1 - k))
        torch.testing.assert_close(states[:, t], expected, rtol=0, atol=1e-13)


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
