"""Plans of fused inference: the form and the length of chunks, by size."""

import sys
from types import SimpleNamespace

import pytest
import torch
from window_runs import slow_weights

from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.convert.fused import outputs
from rnnbounds.impl.convert.fused.outputs import fused_plan, size_of
from rnnbounds.impl.convert.fused.plan import Card, Plan, Size, padded, plan_for, warps
from rnnbounds.impl.errors import InputError

H200, SMALL = Card(132, 232448), Card(40, 49152)


def plan(cell: str, n: int, N: int, T: int, dtype=torch.float32, card: Card = H200, **more) -> Plan:
    """The plan of that size, with a window of 21."""
    products = more.pop("products", "ieee")
    found = plan_for(Size(cell, n, N, T, 21, dtype, **more), card, products)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("cell", "n", "form"),
    [("rnn-tanh", 128, "resident"), ("rnn-tanh", 129, "steps"), ("lstm", 64, "resident"),
     ("lstm", 65, "steps"), ("gru", 64, "resident"), ("gru", 512, "steps")],
)  # fmt: skip
def test_small_units_are_resident(cell: str, n: int, form: str) -> None:
    """As long as one program keeps the matrices of all gates."""
    for N, T in ((1, 4096), (64, 512)):
        assert plan(cell, n, N, T).form == form


def test_what_does_not_fit() -> None:
    """Float64 takes twice the room, tf32x3 too, and cards differ."""
    assert plan("rnn-tanh", 128, 1, 4096, torch.float64).form == "steps"
    assert plan("lstm", 64, 1, 4096, products="tf32x3") == Plan("resident", 2, "tf32x3")
    assert plan("lstm", 16, 1, 4096, torch.float64, products="tf32x3").products == "ieee"
    assert plan("lstm", 64, 1, 4096, card=SMALL).form == "steps"
    assert plan("lstm", 256, 1, 4096, products="tf32x3").products == "ieee"
    assert plan_for(Size("gru-cho", 512, 1, 99, 9, torch.float32), H200) is None
    assert plan_for(Size("leaky-tanh", 16, 1, 99, 9, torch.float32), H200) is None


def test_chunks_fill_the_card() -> None:
    """One program a multiprocessor where its work counts, several where its latency does, and no
    second round for a few chunks more."""
    assert plan("rnn-tanh", 64, 1, 4096).C == 2
    assert plan("rnn-tanh", 64, 64, 512).C == 16
    assert 64 * -(-4096 // plan("rnn-tanh", 16, 64, 4096).C) > 16 * 132
    assert plan("rnn-tanh", 64, 1, 4096, latest=True).C == 4096


def test_padding_and_warps() -> None:
    """A power of two, 16 at least; more warps where registers would spill."""
    assert [padded(n) for n in (1, 16, 17, 64, 65)] == [16, 16, 32, 64, 128]
    assert [warps(entries) for entries in (256, 8192, 12288)] == [4, 4, 8]


def test_none_on_the_cpu() -> None:
    """There inference is what it was; a word for products that does not exist is one line."""
    kind, weights, x = kind_of("gru"), slow_weights("gru"), torch.randn(2, 5, 3).double()
    assert fused_plan(kind, weights, x, 3) is None
    with pytest.raises(InputError, match="unknown products 'tf32'; choose ieee or tf32x3"):
        fused_plan(kind, weights, x, 3, products="tf32")


class OnCuda:
    """What a plan asks of inputs on a CUDA device."""

    is_cuda, dtype, device = True, torch.float32, torch.device("cuda", 0)

    def __init__(self, *shape: int) -> None:
        self.shape = shape

    def numel(self) -> int:
        """How many numbers there would be."""
        return torch.Size(self.shape).numel()


def test_on_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    """None without Triton, without inputs or a window, and while torch.compile traces."""
    kind, weights = kind_of("gru"), slow_weights("gru")
    monkeypatch.setattr(outputs, "card_of", lambda device: H200)
    monkeypatch.setattr(outputs, "is_available", lambda device: True)
    assert fused_plan(kind, weights, OnCuda(2, 40, 3), 3) is not None
    assert fused_plan(kind, weights, OnCuda(0, 40, 3), 3) is None
    assert fused_plan(kind, weights, OnCuda(2, 40, 3), 0) is None
    assert fused_plan(kind_of("min-gru"), {}, OnCuda(2, 40, 3), 3) is None
    with monkeypatch.context() as patch:
        patch.setattr("torch.compiler.is_compiling", lambda: True)
        assert fused_plan(kind, weights, OnCuda(2, 40, 3), 3) is None
    monkeypatch.setattr(outputs, "is_available", lambda device: False)
    assert fused_plan(kind, weights, OnCuda(2, 40, 3), 3) is None


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


def test_sizes_of_stacks() -> None:
    """The widest layer counts; of the latest output the window is the length."""
    layers = {
        "weight_ih_l0": torch.zeros(18, 3), "weight_hh_l0": torch.zeros(18, 6),
        "weight_ih_l1": torch.zeros(9, 6), "weight_hh_l1": torch.zeros(9, 3),
    }  # fmt: skip
    x = torch.zeros(2, 40, 3)
    found = size_of(kind_of("stacked-gru"), layers, x, 7, latest=True)
    assert found == Size("gru", 6, 2, 7, 7, torch.float32, latest=True)
