"""Fused kernels against the plain loop, window by window, and against what certificates say."""

import math
import sys
from functools import partial
from types import SimpleNamespace

import pytest
import torch
from draws import normal
from torch import Tensor
from window_runs import output_from, slow_weights, stacked

from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.convert.feedforward import FeedForward
from rnnbounds.impl.convert.fused import outputs
from rnnbounds.impl.convert.fused.outputs import Form, fused_form, fused_outputs
from rnnbounds.impl.convert.fused.sizes import padded
from rnnbounds.impl.errors import InputError

N, D, T, S, K = 5, 3, 8, 2, 3
CLOSE = {"rtol": 0, "atol": 2e-6}
FORMS = ("resident", "steps")
CELLS = ("rnn-tanh", "rnn-relu", "linear", "lstm", "gru")
TASKS = [(cell, form) for cell in CELLS for form in FORMS]


def single(cell: str, *sizes: int, **more) -> dict[str, Tensor]:
    """Weights in float32."""
    return {name: part.float() for name, part in slow_weights(cell, *sizes, **more).items()}


def draw(*shape: int) -> Tensor:
    """Inputs in float32."""
    return normal(*shape).float()


def windows(module: FeedForward, x: Tensor, k: int, C: int) -> Tensor:
    """Output t of the plain loop from the input max(0, C ⌊t/C⌋ − k), (N, T, n)."""
    each = [output_from(module, x, t, max(0, t // C * C - k)) for t in range(x.shape[1])]
    return torch.stack(each, dim=1).detach()


@pytest.fixture
def run(device: str):
    """Fused outputs in chunks of C, computed on the device."""

    def fused(
        module: FeedForward, x: Tensor, form: Form, C: int | None = None, latest: bool = False
    ) -> Tensor:
        weights = {name: part.detach().to(device) for name, part in module.weights.items()}
        kind = kind_of(module.cell)
        return fused_outputs(kind, weights, x.to(device), module.k, form, latest, C).cpu()

    return fused


@pytest.mark.parametrize("C", [2, 5])
@pytest.mark.parametrize(("cell", "form"), TASKS)
def test_each_output_is_that_of_its_window(run, cell: str, form: str, C: int) -> None:
    """Chunks that divide T and those that do not, shorter than the window and as long as T."""
    module = FeedForward(single(cell, N), cell=cell, k=K)
    x = draw(S, T, D)
    found = run(module, x, form, C)
    torch.testing.assert_close(found, windows(module, x, K, C), **CLOSE)


@pytest.mark.parametrize(
    ("shape", "k", "n"),
    [((1, 1, D), 2, N), ((3, 2, D), 9, 1), ((17, 3, D), 1, 17), ((1, 4, 1), 2, 2)],
)
@pytest.mark.parametrize("form", FORMS)
def test_shapes(run, form: str, shape: tuple[int, ...], k: int, n: int) -> None:
    """One sequence and more than a program has rows, one input, fewer than the window, units of any
    number, no biases, and inputs that are not contiguous."""
    module = FeedForward(single("gru", n, shape[2], biases=False), cell="gru", k=k)
    x = draw(shape[2], 2 * shape[1], shape[0]).permute(2, 1, 0)[:, ::2]
    found = run(module, x, form, 2)
    torch.testing.assert_close(found, windows(module, x, k, 2), **CLOSE)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cell", ["rnn-relu", "linear"])
def test_bit_for_bit(run, cell: str, form: str) -> None:
    """Small integers are added and multiplied exactly in any order."""
    weights = {name: (2 * part).round() for name, part in single(cell, N).items()}
    module, x = FeedForward(weights, cell=cell, k=K), (2 * draw(S, T, D)).round()
    for C in (2, 5):
        assert torch.equal(run(module, x, form, C), windows(module, x, K, C))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cell", ["rnn-tanh", "lstm", "gru"])
def test_stacks_start_all_layers_at_once(run, cell: str, form: str) -> None:
    """Each output is the whole stack's from the zero state at the start of its chunk; of layers of
    different sizes."""
    layers = [single(cell, n, d, seed=n) for n, d in ((6, D), (4, 6), (3, 4))]
    module = FeedForward(stacked(layers), cell=f"stacked-{cell}", k=K)
    x = draw(S, T, D)
    found = run(module, x, form, 4)
    torch.testing.assert_close(found, windows(module, x, K, 4), **CLOSE)
    last = run(module, x, form, T, latest=True)
    torch.testing.assert_close(last, module(x)[:, -1].detach(), **CLOSE)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cell", ["rnn-tanh", "lstm", "gru"])
def test_within_the_certified_rounding(run, cell: str, form: str, dtype: torch.dtype) -> None:
    """Each output is as near to the exact run of its window as the certificate says of the dtype;
    under random inputs, corners of a cube and inputs of one sign."""
    drawn = slow_weights(cell, N, biases=False, seed=9)
    weights = {name: (part / 8).to(dtype) for name, part in drawn.items()}
    bound = certify(
        {f"{name}_l0": part for name, part in weights.items()}, inputs=2.0, cell=cell
    ).rounding.state
    assert math.isfinite(bound)
    exact = FeedForward({name: part.double() for name, part in weights.items()}, cell=cell, k=K)
    x = torch.cat([normal(1, T, D), normal(1, T, D).sign(), normal(1, T, D).abs()])
    x = (2 * torch.nn.functional.normalize(x, dim=2) * (1 - 2.0**-6)).to(dtype)
    found = run(FeedForward(weights, cell=cell, k=K), x, form, 4).double()
    off = found - windows(exact, x.double(), K, 4)
    assert 0 < float(off.norm(dim=2).max()) <= bound


def test_no_gradients(run) -> None:
    """One line, of inputs and of weights; where no gradient is asked for, none is refused."""
    weights, x = single("gru"), draw(S, T, D).requires_grad_()
    fused = partial(fused_outputs, kind_of("gru"), k=K, form="steps")
    for parts, inputs in ((weights, x), ({n: w.requires_grad_() for n, w in weights.items()}, x)):
        with pytest.raises(InputError, match="no gradients; call the module"):
            fused(parts, inputs)
    module = FeedForward(single("gru"), cell="gru", k=K)
    assert not run(module, x.detach(), "steps").requires_grad


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
    weights, x = single("gru"), draw(5, 4, D)
    most = 2
    found = fused_outputs(kind_of("gru"), weights, x, K, "resident", C=2)
    assert seen == [5, 3, 2, 1, 2]
    module = FeedForward(weights, cell="gru", k=K)
    torch.testing.assert_close(found, windows(module, x, K, 2), **CLOSE)
    most = 0
    with pytest.raises(InputError, match=r"4 inputs do not fit .*; pass a shorter sequence"):
        fused_outputs(kind_of("gru"), weights, x, K, "resident", C=2)


class OnCuda:
    """What is asked of inputs on a CUDA device."""

    is_cuda, device = True, torch.device("cuda", 0)

    def __init__(self, *shape: int, dtype: torch.dtype = torch.float32) -> None:
        self.shape, self.dtype = shape, dtype

    def numel(self) -> int:
        """How many numbers there would be."""
        return torch.Size(self.shape).numel()


@pytest.mark.parametrize(
    ("cell", "n", "form"),
    [("rnn-tanh", 128, "resident"), ("rnn-tanh", 129, "steps"), ("lstm", 64, "resident"),
     ("lstm", 65, "steps"), ("gru", 64, "resident"), ("gru", 512, "steps")],
)  # fmt: skip
def test_small_units_are_resident(cell, n, form, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as one program keeps the matrices of all gates, of all layers."""
    monkeypatch.setattr(outputs, "is_available", lambda device: True)
    held = {"weight_hh": torch.empty(n, n)}
    assert fused_form(kind_of(cell), held, OnCuda(2, 40, 3), 3) == form
    assert [padded(n) for n in (1, 16, 17, 64, 65)] == [16, 16, 32, 64, 128]


def test_where_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not on the CPU, without Triton, inputs or a window, of other cells and dtypes, and while
    torch.compile traces."""
    kind, weights = kind_of("gru"), single("gru")
    assert fused_form(kind, weights, draw(2, 5, 3), 3) is None
    monkeypatch.setattr(outputs, "is_available", lambda device: True)
    assert fused_form(kind, weights, OnCuda(2, 40, 3), 3) == "resident"
    assert fused_form(kind, weights, OnCuda(0, 40, 3), 3) is None
    assert fused_form(kind, weights, OnCuda(2, 40, 3), 0) is None
    assert fused_form(kind, weights, OnCuda(2, 40, 3, dtype=torch.float64), 3) is None
    assert fused_form(kind_of("gru-cho"), weights, OnCuda(2, 40, 3), 3) is None
    with monkeypatch.context() as patch:
        patch.setattr("torch.compiler.is_compiling", lambda: True)
        assert fused_form(kind, weights, OnCuda(2, 40, 3), 3) is None
    monkeypatch.setattr(outputs, "is_available", lambda device: False)
    assert fused_form(kind, weights, OnCuda(2, 40, 3), 3) is None


@pytest.mark.parametrize(
    ("version", "compiler", "capability", "available"),
    [("3.6.0", "cc", (8, 0), True), ("3.10.0+git", "cc", (9, 0), True),
     (None, "cc", (8, 0), False), ("3.5.1", "cc", (8, 0), False),
     ("3.6.0", None, (8, 0), False), ("3.6.0", "cc", (7, 5), False)],
)  # fmt: skip
def test_what_a_machine_needs(version, compiler, capability, available, monkeypatch) -> None:
    """Triton of late, a C compiler for its launchers, and a card that it compiles for."""
    monkeypatch.setattr("torch.cuda.get_device_capability", lambda device: capability)
    triton = version and SimpleNamespace(__version__=version)
    monkeypatch.setitem(sys.modules, "triton", triton)
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr("shutil.which", lambda name: compiler)
    assert outputs.is_available.__wrapped__(OnCuda.device) is available
