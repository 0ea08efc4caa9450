"""Fused kernels against the plain loop, window by window, and against what certificates say."""

from functools import partial

import pytest
import torch
from draws import normal
from torch import Tensor
from window_runs import output_from, slow_weights, stacked

from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.impl.convert.fused.outputs import fused_outputs
from rnnbounds.impl.convert.fused.plan import Plan
from rnnbounds.impl.errors import InputError

N, D, T, S, K = 5, 3, 13, 2, 3
FORMS = ("resident", "steps")
CELLS = ("rnn-tanh", "rnn-relu", "linear", "lstm", "gru", "gru-cho")
TASKS = [(cell, form) for cell in CELLS for form in FORMS if (cell, form) != ("gru-cho", "steps")]


def windows(module: FeedForward, x: Tensor, k: int, C: int) -> Tensor:
    """Output t of the plain loop from the input max(0, C ⌊t/C⌋ − k), (N, T, n)."""
    each = [output_from(module, x, t, max(0, t // C * C - k)) for t in range(x.shape[1])]
    return torch.stack(each, dim=1).detach()


@pytest.fixture
def run(device: str):
    """Fused outputs, computed on the device."""

    def fused(module: FeedForward, x: Tensor, plan: Plan, latest: bool = False) -> Tensor:
        weights = {name: part.detach().to(device) for name, part in module.weights.items()}
        kind = kind_of(module.cell)
        return fused_outputs(kind, weights, x.to(device), module.k, plan, latest).cpu()

    return fused


@pytest.mark.parametrize("C", [2, 5])
@pytest.mark.parametrize(("cell", "form"), TASKS)
def test_each_output_is_that_of_its_window(run, cell: str, form: str, C: int) -> None:
    """Chunks that divide T and those that do not, shorter than the window and as long as T."""
    module = FeedForward(slow_weights(cell, N), cell=cell, k=K)
    x = normal(S, T, D)
    found = run(module, x, Plan(form, C))
    torch.testing.assert_close(found, windows(module, x, K, C), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("shape", "k", "n"),
    [((1, 1, D), 2, N), ((3, 2, D), 9, 1), ((17, 3, D), 1, 17), ((1, 4, 1), 2, 2)],
)
@pytest.mark.parametrize("form", FORMS)
def test_shapes(run, form: str, shape: tuple[int, ...], k: int, n: int) -> None:
    """One sequence and more than a program has rows, one input, fewer than the window, units of any
    number, no biases, and inputs that are not contiguous."""
    module = FeedForward(slow_weights("gru", n, shape[2], biases=False), cell="gru", k=k)
    x = normal(shape[2], 2 * shape[1], shape[0]).permute(2, 1, 0)[:, ::2]
    found = run(module, x, Plan(form, 2))
    torch.testing.assert_close(found, windows(module, x, k, 2), rtol=0, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cell", ["rnn-relu", "linear"])
def test_bit_for_bit(run, cell: str, form: str) -> None:
    """Small integers are added and multiplied exactly in any order."""
    weights = {name: (2 * part).round().float() for name, part in slow_weights(cell, N).items()}
    module, x = FeedForward(weights, cell=cell, k=K), (2 * normal(S, T, D)).round().float()
    for C in (2, 5):
        assert torch.equal(run(module, x, Plan(form, C)), windows(module, x, K, C))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cell", ["rnn-tanh", "lstm", "gru"])
def test_stacks_start_all_layers_at_once(run, cell: str, form: str) -> None:
    """Each output is the whole stack's from the zero state at the start of its chunk; of layers of
    different sizes."""
    layers = [slow_weights(cell, n, d, seed=n) for n, d in ((6, D), (4, 6), (3, 4))]
    module = FeedForward(stacked(layers), cell=f"stacked-{cell}", k=K)
    x = normal(S, T, D)
    found = run(module, x, Plan(form, 4))
    torch.testing.assert_close(found, windows(module, x, K, 4), rtol=0, atol=1e-12)
    last = run(module, x, Plan(form, T), latest=True)
    torch.testing.assert_close(last, module(x)[:, -1].detach(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("length", [1, T])
@pytest.mark.parametrize(("cell", "form"), TASKS)
def test_latest(run, cell: str, form: str, length: int) -> None:
    """The last output alone, from exactly the last min(k, T) inputs."""
    module = FeedForward(slow_weights(cell, N), cell=cell, k=K, latest=True)
    x = normal(S, length, D)
    found = run(module, x, Plan(form, length), latest=True)
    torch.testing.assert_close(found, module(x).detach(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cell", ["rnn-tanh", "lstm", "gru"])
def test_within_the_certified_rounding(run, cell: str, form: str, dtype: torch.dtype) -> None:
    """Each output is as near to the exact run of its window as the certificate says of the dtype;
    under random inputs, corners of a cube and inputs of one sign."""
    drawn = slow_weights(cell, N, biases=False, seed=9)
    weights = {name: (part / 8).to(dtype) for name, part in drawn.items()}
    bound = certify({f"{name}_l0": part for name, part in weights.items()}, 2.0, cell=cell).rounding
    assert bound is not None
    exact = FeedForward({name: part.double() for name, part in weights.items()}, cell=cell, k=K)
    x = torch.cat([normal(1, T, D), normal(1, T, D).sign(), normal(1, T, D).abs()])
    x = (2 * torch.nn.functional.normalize(x, dim=2) * (1 - 2.0**-6)).to(dtype)
    found = run(FeedForward(weights, cell=cell, k=K), x, Plan(form, 4)).double()
    off = found - windows(exact, x.double(), K, 4)
    assert 0 < float(off.norm(dim=2).max()) <= bound


def test_no_gradients(run) -> None:
    """One line, of inputs and of weights; where no gradient is asked for, none is refused."""
    weights, x = slow_weights("gru"), normal(S, T, D).requires_grad_()
    fused = partial(fused_outputs, kind_of("gru"), k=K, plan=Plan("steps", 4))
    for parts, inputs in ((weights, x), ({n: w.requires_grad_() for n, w in weights.items()}, x)):
        with pytest.raises(InputError, match="no gradients; call the module"):
            fused(parts, inputs)
    module = FeedForward(slow_weights("gru"), cell="gru", k=K)
    assert not run(module, x.detach(), Plan("steps", 4)).requires_grad


def test_out_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The batch is halved until it fits; a sequence that does not is one line."""
    from rnnbounds.impl.convert.fused import launch

    real, seen = launch.run_layers, []

    def within(cell, layers, x, **options):
        seen.append(len(x))
        if len(x) > most:
            raise torch.OutOfMemoryError("no room")
        return real(cell, layers, x, **options)

    monkeypatch.setattr(launch, "run_layers", within)
    weights, x = slow_weights("gru"), normal(5, 4, D)
    most = 2
    found = fused_outputs(kind_of("gru"), weights, x, K, Plan("resident", 2))
    assert seen == [5, 3, 2, 1, 2]
    module = FeedForward(weights, cell="gru", k=K)
    torch.testing.assert_close(found, windows(module, x, K, 2), rtol=0, atol=1e-12)
    most = 0
    with pytest.raises(InputError, match=r"4 inputs do not fit .*; pass a shorter sequence"):
        fused_outputs(kind_of("gru"), weights, x, K, Plan("resident", 2))
