"""What a certificate speaks of, and what it does not: in text and in JSON."""

import json

import pytest
import torch
from safetensors.torch import save_file

from rnnbounds.impl.cells.refutation.refute import ALL, BOX, SIZE


def lstm(n: int = 1, steep: float = 0.0, dtype: torch.dtype = torch.float64):
    """An LSTM whose candidate follows its output so steeply."""
    W = torch.zeros(4, n, n)
    W[2] = steep * torch.eye(n)
    b = torch.zeros(4, n)
    if steep:
        b[:2] = b[3] = 9.0
    held = {"weight_hh": W.reshape(4 * n, n), "weight_ih": torch.ones(4 * n, 1) / 8}
    return {name: part.to(dtype) for name, part in (held | {"bias_ih": b.flatten()}).items()}


def told(call, tmp_path, held, *more):
    """The text and the document of one model."""
    save_file(held, tmp_path / "m.safetensors")
    args = ("certify", tmp_path / "m.safetensors", "--input-bound", 0.5, *more)
    return call(*args).out, json.loads(call(*args, "--format", "json").out)


def test_rounding_that_is_not_bounded(call, tmp_path):
    """ε of a bfloat16 LSTM of long sums speaks of real arithmetic alone, and both forms say so."""
    held = lstm(80, dtype=torch.bfloat16)
    held["weight_hh"] += 2.0**-7
    text, record = told(call, tmp_path, held)
    assert "rounding: bfloat16 is not bounded" in text
    assert "ε speaks of real arithmetic alone" in text
    assert record["rounding"]["state"] is None
    assert record["rounding"]["reason"] in text
    assert f"states: {BOX}" in text
    assert record["states"] == BOX


def test_rounding_that_is_bounded(call, tmp_path):
    """Of a float16 LSTM the certificate says by how much rounding moves a state."""
    text, record = told(call, tmp_path, lstm(dtype=torch.float16))
    assert "rounding: float16 moves a state by at most" in text
    assert 0 < record["rounding"]["state"] < 0.1
    assert record["rounding"]["reason"] is None


def test_what_a_witness_speaks_of(call, tmp_path):
    """The inputs that were asked for, and the states of the box."""
    text, record = told(call, tmp_path, lstm(steep=6.0))
    assert f"so no norm makes it a contraction of {BOX} under ‖x_t‖₂ ≤ 0.5" in text
    witness = record["witness"]
    assert (witness["states"], witness["input_bound"]) == (BOX, 0.5)
    linear = {"weight_hh": torch.tensor([[2.0]]), "weight_ih": torch.tensor([[0.0]])}
    text, record = told(call, tmp_path, linear, "--cell", "linear")
    assert f"so no norm makes it a contraction of {ALL} under" in text
    assert record["witness"]["states"] == ALL


@pytest.mark.slow
def test_a_search_that_is_left_out(call, tmp_path):
    """Above 256 states no witness is sought, and both forms say so."""
    held = lstm(SIZE // 2 + 1, steep=6.0)
    text, record = told(call, tmp_path, held, "--norm", "infinity")
    assert f"refutation: not tried: the state has {SIZE + 2} numbers, more than {SIZE}" in text
    assert record["skipped"][0]["what"] == "refutation"


def test_bounds_are_told_exactly(call, tmp_path):
    """No input that was not asked for is spoken of, and none is left out."""
    text, _ = told(call, tmp_path, lstm(), "--input-bound", 1.9999996, "--eps", 0.012345649)
    assert "every ‖x_t‖₂ ≤ 1.9999996;" in text
    assert "0.012345649 " in text
