"""``unitary`` and ``check``: the equivalent is written, and its certificate proved again."""

import pytest
import torch
from safetensors.torch import load_file

NAN, INF = float("nan"), float("inf")


@pytest.fixture
def relu_model(save):
    """ReLU, two states, ‖W‖₂ = 1/2, strictly triangular."""
    return save([[0.0, 0.5], [0.0, 0.0]], b=[1.0, -1.0])


def of(source):
    """The source of a file, whose state dict does not say its cell."""
    return "--source", source, "--cell", "rnn-relu"


def write(call, model, out, *more):
    """Convert the model for inputs of norm up to 2."""
    return call(
        "unitary", model, "--cell", "rnn-relu", "--input-bound", 2, "--out", out, *more
    )  # fmt: skip


@pytest.mark.parametrize("format", ["text", "json"])
def test_unitary(call, relu_model, tmp_path, format):
    """The file loads into torch.nn.RNN; what is printed is its certificate."""
    out = tmp_path / "u.safetensors"
    outcome = write(call, relu_model, out, "--format", format)
    assert (outcome.code, outcome.err) == (0, "")
    plain = torch.nn.RNN(1, 4, nonlinearity="relu", dtype=torch.float64)
    plain.load_state_dict(load_file(out))
    if format == "text":
        assert outcome.out.startswith(f"wrote {out}: 4 states for 2\n")
        assert "orthogonality defect at most" in outcome.out
        assert "the same outputs for every ‖x_t‖₂ ≤ 2, in real arithmetic" in outcome.out
        assert "rounding (float32 against float64) moves a state by at most" in outcome.out
    else:
        told = outcome.json
        assert told["schema"] == "rnnbounds/unitary-certificate/3"
        assert (told["states"], told["verdict"], told["input_bound"]) == (4, "certified", 2.0)
        assert told["orthogonality_defect"] <= 2e-14
        assert told["difference"]["exact"] == 0.0


def test_check_refuses_other_files(refused, call, relu_model, tmp_path):
    """Missing, empty, cut, changed and foreign files: one line, exit 2; the remedy is that of what
    the file says it is."""
    out, bad = tmp_path / "u.safetensors", tmp_path / "bad"
    write(call, relu_model, out)
    data = out.read_bytes()
    for content in (data[:-4], data[:-1] + bytes([data[-1] ^ 1])):
        bad.write_bytes(content)
        assert "write it again with 'rnnbounds unitary'" in refused("check", bad)
    foreign = (
        "is not a file that can be checked, or is damaged; name what 'rnnbounds truncate', "
        "'unitary' or "
    )
    for content in (b"", b"text", b"[]", data[: len(data) // 2], relu_model.read_bytes()):
        bad.write_bytes(content)
        assert f"bad: {foreign}'certify --out' wrote" in refused("check", bad)
    assert "no: does not exist; name what 'rnnbounds" in refused("check", tmp_path / "no")
    assert "is no regular file; name what 'rnnbounds" in refused("check", tmp_path)
    assert "is no regular file" in refused("check", out, "--source", tmp_path)
