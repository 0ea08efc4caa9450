"""The same call writes the same files, to the byte, whatever writes them."""

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

BALL = ("--inputs", 1)
TRUNCATE = ("truncate", *BALL, "--eps", 0.5, "--out", "page")
CALLS = {
    "certify": ("certify", *BALL, "--out", "page", "--attack"),
    "measure": ("measure", *BALL, "--data", "../x.npy", "--out", "page"),
    "truncate": TRUNCATE,
    "unitary": ("unitary", *BALL, "--out", "page"),
    "pt2": (*TRUNCATE, "--export", "short.pt2"),
    "onnx": (*TRUNCATE, "--latest", "--export", "short.onnx"),
}
SLOW = ("pt2", "onnx")


@pytest.mark.parametrize(
    "which", [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in CALLS]
)
def test_same_bytes(call, tmp_path, monkeypatch, which):
    """Weights with their metadata, exports, records and pages."""
    command, *options = CALLS[which]
    torch.manual_seed(0)
    held = {name: part * 0.3 for name, part in torch.nn.RNN(2, 3).state_dict().items()}
    save_file(held, tmp_path / "m.safetensors")
    np.save(tmp_path / "x.npy", np.linspace(-0.5, 0.5, 240).reshape(15, 8, 2))
    written = []
    for i in range(2):
        (folder := tmp_path / str(i)).mkdir()
        monkeypatch.chdir(folder)
        outcome = call(command, "../m.safetensors", "--cell", "rnn-relu", *options)
        assert (outcome.code, outcome.err) == (0, "")
        found = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        written.append({path.relative_to(folder): path.read_bytes() for path in found})
    assert written[0]
    assert written[0] == written[1]
