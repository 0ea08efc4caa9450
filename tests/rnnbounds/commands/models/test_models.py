"""``certify`` and ``truncate``: good models, bad files, and nothing half-written."""

import pickle
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

import rnnbounds

NAN, INF = float("nan"), float("inf")
TANH = ("--cell", "rnn-tanh", "--input-bound", 1)


class Evil:
    """A pickle that writes a file when it is opened as an object."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_certify_follows_torch_modules(call, tmp_path):
    """A state dict of torch.nn.RNN is read from both kinds of file alike."""
    torch.manual_seed(0)
    net = torch.nn.RNN(2, 3)
    with torch.no_grad():
        net.weight_hh_l0.mul_(0.3)
    torch.save(net.state_dict(), tmp_path / "net.pt")
    save_file(net.state_dict(), tmp_path / "net.safetensors")
    found = [
        call("certify", tmp_path / f"net.{kind}", *TANH, "--format", "json").json
        for kind in ("pt", "safetensors")
    ]
    for document in found:
        del document["model"]
    assert found[0] == found[1]


def bad_files(folder: Path) -> dict[str, bytes]:
    """Files that are no models, by name."""
    good = {"weight_hh_l0": torch.eye(2) / 2, "weight_ih_l0": torch.ones(2, 1)}
    torch.save(good, folder / "good.pt")
    save_file(good, folder / "good.safetensors")
    torch.save(good | {"extra": Evil(folder / "ran")}, folder / "evil.pt")
    torch.save(torch.ones(2), folder / "tensor.pt")
    torch.save({"fc.weight": torch.ones(2)}, folder / "other.pt")
    whole, safe = (folder / "good.pt").read_bytes(), (folder / "good.safetensors").read_bytes()
    found = {
        "empty.pt": b"",
        "empty.safetensors": b"",
        "text.pt": b"not a model",
        "truncated.pt": whole[: len(whole) // 2],
        "truncated.safetensors": safe[:-4],
        "header.safetensors": (2**60).to_bytes(8, "little") + b"{}",
        "raw-pickle.pt": pickle.dumps(Evil(folder / "ran")),
        "evil.pt": (folder / "evil.pt").read_bytes(),
        "tensor.pt": (folder / "tensor.pt").read_bytes(),
        "other.pt": (folder / "other.pt").read_bytes(),
    }
    for file in folder.iterdir():
        file.unlink()
    return found


@pytest.mark.parametrize("command", ["certify", "truncate"])
def test_bad_files(refused, tmp_path, command):
    """Wrong, truncated, empty or hostile: one line, nothing written, and no code runs."""
    for name, data in bad_files(tmp_path).items():
        (tmp_path / name).write_bytes(data)
        more = () if command == "certify" else ("--eps", 1, "--out", tmp_path / "out.safetensors")
        line = refused(command, tmp_path / name, "--input-bound", 1, *more)
        assert name in line
        assert "; " in line
        (tmp_path / name).unlink()
        assert not list(tmp_path.iterdir())


def test_the_evil_pickle_is_evil(tmp_path):
    """The test of the test: opened the usual way, it does run."""
    pickle.loads(pickle.dumps(Evil(tmp_path / "ran")))
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize("format", ["text", "json"])
def test_truncate(call, stable_model, tmp_path, format):
    """The file holds the module and its certificate; the module is within ε of the model."""
    out = tmp_path / "short.safetensors"
    outcome = call(
        "truncate", stable_model, *TANH, "--eps", 0.01, "--out", out,
        "--format", format,
    )  # fmt: skip
    assert (outcome.code, outcome.err) == (0, "")
    module, certificate = rnnbounds.load_truncated(out), rnnbounds.load_certificate(out)
    ((eps, k),) = certificate.windows
    assert (eps, k) == (0.01, module.k)
    if format == "text":
        assert outcome.out.startswith(f"wrote {out}: k = {module.k} inputs, within 0.01")
    else:
        assert outcome.json == certificate.to_json()
    x = torch.ones(1, 30, 1)
    rnnbounds.assert_truncation(str(stable_model), x, eps=0.01, cell="rnn-tanh")
