"""What a device draws is what NumPy draws on the CPU, bit for bit."""

import numpy as np
import pytest
import torch
from elsewhere import elsewhere

from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.drawing import device_normals
from rnnbounds.properties.systems.drawing.device_normals import grid_normals
from rnnbounds.properties.systems.drawing.device_signals import rounded_sqrt
from rnnbounds.properties.systems.drawing.draws import batch_normals, cached_generator
from rnnbounds.properties.systems.spec_choices import INPUTS
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.properties.systems.vanilla.specs import Gradient, Rnn, Smooth, Unstable


@pytest.mark.parametrize(("seed", "stream"), [(0, 2), (5, 0), (2**63, 2), (2**64 - 1, 7)])
def test_words_of_a_stream(seed: int, stream: int) -> None:
    """Those of NumPy's Philox, one member like many; counts that are no multiple of four."""
    for count in (1, 7, 64):
        members = torch.tensor([0, 3, 2**40])
        found = device_normals.raw_words(seed, members, stream, count)
        for row, member in zip(found, members.tolist(), strict=True):
            rng = cached_generator(Rnn(seed=seed), member, stream)
            expected = rng.bit_generator.random_raw(count)
            assert row.numpy().view(np.uint64).tolist() == expected.tolist()


@pytest.mark.parametrize(("seed", "count"), [(0, 20_000), (2**64 - 3, 9_000), (7, 1), (8, 0)])
def test_normal_draws(seed: int, count: int) -> None:
    """Some 140,000 draws, which have some 1,700 near an edge of a layer and 40 in the tail."""
    spec = Rnn(seed=seed, batch=5)
    (expected,) = batch_normals(spec, 2, (count,))
    found = grid_normals(seed, list(spec.members), 2, count, "cpu")
    assert found.numpy().tobytes() == expected.tobytes()


def test_rows_that_run_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy draws them; several chunks are one."""
    monkeypatch.setattr(device_normals, "MARGIN", (1.0, 0))
    monkeypatch.setattr(device_normals, "CHUNK", 600)
    spec = Rnn(seed=11, batch=7)
    (expected,) = batch_normals(spec, 2, (300,))
    found = grid_normals(11, list(spec.members), 2, 300, "cpu")
    assert found.numpy().tobytes() == expected.tobytes()


def test_words_that_take_more() -> None:
    """A tail of two tries, of which the first is thrown away; then steps to and fro."""
    tail, last = (2**52 - 1) << 9, 2**64 - 1
    words = [device_normals.signed(word) for word in (tail, last, 0, 0, last, 0, 0)]
    sizes, taken = device_normals.tail_draws(torch.tensor([words]), torch.eye(7)[:1] > 0)
    assert taken.tolist() == [[5, 0, 0, 0, 0, 0, 0]]
    assert sizes[0, 0] == device_normals.TAIL
    assert device_normals.reached(torch.tensor([[5, 1, 1, 1, 1, 2, 1]])).tolist() == [
        [True, False, False, False, False, True, False]
    ]


@pytest.mark.parametrize("exponent", [-400, -40, 0, 1, 40, 400])
def test_square_roots(exponent: int) -> None:
    """Rounded to nearest, of squares and their neighbours too."""
    draws = np.random.default_rng(0).random(20_000) * 2.0**exponent
    squares = np.rint(draws * 2.0 ** (20 - exponent)) ** 2 * 2.0**exponent
    for x in (draws, squares, np.nextafter(squares, 0), np.nextafter(squares, np.inf)):
        assert rounded_sqrt(torch.from_numpy(x)).numpy().tobytes() == np.sqrt(x).tobytes()


def as_numbers(spec) -> tuple[dict, dict]:
    """All tensors of a batch, and those of one that a device has drawn."""
    parts = [build_batch(spec)]
    with elsewhere() as device:
        parts.append(build_batch(spec, device))
    first, other = (
        {"x": b.x, "C": b.C, "h": b.h, "h_other": b.h_other, **b.cell.parameters} for b in parts
    )
    assert all(part.device.type == "meta" for part in other.values())
    return first, {name: part.inner for name, part in other.items()}


@pytest.mark.parametrize("inputs", INPUTS)
@pytest.mark.parametrize("n", [1, 5])
def test_batches(inputs: str, n: int) -> None:
    """Inputs of every regime, states and weights have the same bits."""
    size = {"n": n, "d": min(n, 3), "T": 6, "K": 3, "batch": 4, "sequences": 5}
    spec = make_spec("rnn", inputs=inputs, bias=0.5, scale=0.75, seed=3, **size)
    first, other = as_numbers(spec)
    assert first.keys() == other.keys()
    for name, part in first.items():
        assert part.numpy().tobytes() == other[name].contiguous().numpy().tobytes(), name


@pytest.mark.parametrize("spec", [
    Gradient(n=3, d=2, T=4, K=2, batch=2, sequences=3, loss="cross-entropy", inputs="resonant"),
    Smooth(n=2, d=1, T=4, K=2, batch=2, sequences=2, sequence=1, member=1),
    Unstable(T=3, K=2, batch=1),
])  # fmt: skip
def test_batches_of_other_kinds(spec) -> None:
    """Those with a loss, with second weights, with U = I; a pair alone."""
    first, other = as_numbers(spec)
    for name, part in first.items():
        assert part.numpy().tobytes() == other[name].contiguous().numpy().tobytes(), name


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("inputs", INPUTS)
def test_batches_of_a_device(inputs: str) -> None:
    """Bits of the CPU, from two million draws."""
    spec = Rnn(inputs=inputs, n=8, d=3, T=64, K=8, batch=64, sequences=150, seed=4)
    here, there = build_batch(spec), build_batch(spec, "cuda")
    for name in ("x", "h", "h_other"):
        assert torch.equal(getattr(here, name), getattr(there, name).cpu())
