"""What a file stores, read to the letter; and the tables of the checker that needs no torch."""

import json
import struct

import numpy as np
import pytest
import torch
from flint import arb
from safetensors.torch import save

import rnnbounds.impl.numbers.ball_functions as functions
from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.checker.cells.activations import BALL_ACTIVATIONS
from rnnbounds.impl.checker.cells.rounding import BEYOND
from rnnbounds.impl.errors import FileError
from rnnbounds.impl.format.fields import Count, RecordError, Size, converted
from rnnbounds.impl.format.tensors import contents, decoded, digest, encoded, header, plain
from rnnbounds.impl.models.loaded import digest as digest_of_tensors
from rnnbounds.impl.models.torch_machine import keeps_to_its_model
from rnnbounds.impl.reading.adapters import load_model

WEIGHTS = {"weight_hh": torch.tensor([[0.5]]), "weight_ih": torch.tensor([[1.0]])}


def with_header(data, change):
    """The file with another header."""
    size = int.from_bytes(data[:8], "little")
    text = change(data[8 : 8 + size].decode()).encode()
    return struct.pack("<Q", len(text)) + text + data[8 + size :]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"cell":"linear"', '"cell":"rnn-tanh","cell":"linear"'),
        ('"dtype":"F32"', '"dtype":"F32","further":1'),
        ('"weight_ih":', '"weight_hh":'),
        ('{"__metadata__"', '{"__metadata__":{},"__metadata__"'),
    ],
)
def test_headers(tmp_path, old, new):
    """Metadata, tensors and fields that come twice, or that are none, are refused."""
    data = save(WEIGHTS, {"cell": "linear"})
    assert contents(data)[1] == {"cell": "linear"}
    assert header(save(WEIGHTS))["__metadata__"] == {}
    bad = with_header(data, lambda text: text.replace(old, new, 1))
    assert bad != data
    with pytest.raises(ValueError, match=r"twice|something else"):
        header(bad)
    (tmp_path / "m.safetensors").write_bytes(bad)
    with pytest.raises(FileError, match="no intact safetensors file"):
        load_model(tmp_path / "m.safetensors")


@pytest.mark.parametrize(
    "text", ['{"a": 1, "a": 1}', "NaN", "[Infinity]", "1e999", "0.50", "1e-2", " 1", '{"a":1}', "-"]
)
def test_plain(text):
    """Only what Python's json writes is read: what two readers might read in two ways is not."""
    assert plain(json.dumps({"a": [1, 0.1, None, True, "é"]})) == {"a": [1, 0.1, None, True, "é"]}
    with pytest.raises(ValueError):  # noqa: PT011
        plain(text)


def test_numbers():
    """Finite, not negative, and what they say to the last bit."""
    assert [converted(one, Size) for one in (0, 0.5, 2**53)] == [0.0, 0.5, 2.0**53]
    assert converted(3, Count) == 3
    for bad in (True, None, "1", -1, -1e-300, float("nan"), float("inf"), 2**53 + 1, 10**400):
        with pytest.raises(RecordError):
            converted(bad, Size)
    for bad in (True, 1.0, -1, 10**10, "1"):
        with pytest.raises(RecordError):
            converted(bad, Count)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_tensors(dtype):
    """Encoded and decoded are each other's inverse, zeros' signs too, and digests are torch's."""
    name = str(dtype).removeprefix("torch.")
    tensor = torch.tensor([[0.0, -0.0], [1.5, -(2.0**-14)]], dtype=dtype)
    exact = tensor.double().numpy()
    part = encoded(exact, name)
    assert np.array_equal(np.signbit(decoded(part)), np.signbit(exact))
    assert np.array_equal(decoded(part), exact)
    assert digest("cell", {"W": part}) == digest_of_tensors("cell", {"W": tensor})
    if dtype is not torch.float64:
        assert encoded(exact + 2.0**-40, name) is None
        assert encoded(exact * 2.0**200, name) is None


def test_a_nan_that_signals_is_a_nan():
    """What is no number is decoded as such, whatever a host asks NumPy to raise."""
    part = {"dtype": "F32", "shape": [1], "data": struct.pack("<I", 0x7F800001)}
    with np.errstate(all="raise"):
        assert np.isnan(decoded(part)).all()


def test_activations_are_the_same():
    """The table that needs no torch holds the cells, constants and error models of the other."""
    names = {name: {"identity": "linear"}.get(name, f"rnn-{name}") for name in ACTIVATIONS}
    assert BALL_ACTIVATIONS.keys() == set(names.values())
    for name, rho in ACTIVATIONS.items():
        told, z = BALL_ACTIVATIONS[names[name]], arb(0.7)
        assert (told.cap, told.rate, told.floor) == (rho.cap, rho.rate, rho.floor), name
        assert (functions.float_above(told.slope), functions.float_above(told.bound)) == (
            rho.slope,
            rho.bound,
        )
        assert rho.least <= float(told.least) <= rho.least + 1e-15
        assert abs(told.function(z) - rho.ball(z)) < 1e-10
        assert told.function(arb(0)).is_zero() == (rho.at_zero == 0)
        for dtype in ("float16", "bfloat16", "float32", "float64"):
            assert keeps_to_its_model(name, dtype=dtype) == ((names[name], dtype) not in BEYOND)
