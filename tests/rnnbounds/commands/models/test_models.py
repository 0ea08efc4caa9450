"""``certify`` and ``truncate``: good models, bad files, and nothing half-written."""

import pickle
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

import rnnbounds

NAN, INF = float("nan"), float("inf")
TANH = ("--cell", "rnn-tanh", "--input-bound", 1)
KEYS = {
    "schema", "model", "dtype", "norm", "lambda", "verdict", "stable", "input_bound", "constants",
    "truncation",
}  # fmt: skip


class Evil:
    """A pickle that writes a file when it is opened as an object."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_certify_document(call, stable_model):
    """The documented keys; certified, and k for each ε in the order asked."""
    document = call(
        "certify", stable_model, "--cell", "rnn-tanh", "--input-bound", 2,
        "--eps", "0.1", "--eps", "1e-3", "--format", "json",
    ).json  # fmt: skip
    assert set(document) >= KEYS
    assert (document["verdict"], document["stable"]) == ("certified", True)
    assert document["dtype"] == "float32"
    assert document["input_bound"] == 2.0
    assert 0 < document["lambda"] < 1
    assert document["constants"]["W_norm"] == pytest.approx(0.5)
    assert [entry["eps"] for entry in document["truncation"]] == [0.1, 1e-3]
    ks = [entry["k"] for entry in document["truncation"]]
    assert 0 < ks[0] < ks[1]


def test_certify_text(call, stable_model):
    """λ, the norm, the memory, and every norm that was tried."""
    outcome = call("certify", stable_model, *TANH, "--eps", "0.01")
    assert (outcome.code, outcome.err) == (0, "")
    assert re.match(r"certified: \S+ forgets: its last \d+ inputs fix the output h", outcome.out)
    assert "\nλ = 0." in outcome.out
    assert "rounding: float32 moves a state by at most" in outcome.out
    for norm in ("spectral", "infinity", "one", "perron", "diagonal"):
        assert f"\n{norm} " in outcome.out


@pytest.mark.parametrize(("device", "remedy"), [("tpu", "cpu or cuda"), ("cuda", "--device cpu")])
def test_certify_on_a_device_that_is_not_there(
    refused, stable_model, tmp_path, monkeypatch, device, remedy
):
    """Is refused before the model is read, and nothing is written."""
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    out = tmp_path / "told"
    told = refused("certify", stable_model, *TANH, "--device", device, "--out", out)
    assert told.endswith(f"choose {remedy}")
    assert not out.exists()


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


@pytest.mark.parametrize("format", ["text", "json"])
@pytest.mark.parametrize("command", ["certify", "truncate"])
def test_undecided(call, save, tmp_path, command, format):
    """tanh(h + x): no norm certifies it, nothing refutes it. Exit 1, stable null, norms tried."""
    model, out = save([[1.0]]), tmp_path / "out.safetensors"
    more = () if command == "certify" else ("--eps", 0.01, "--out", out)
    outcome = call(command, model, *TANH, *more, "--format", format)
    assert (outcome.code, outcome.err) == (1, "")
    assert not out.exists()
    if format == "text":
        assert outcome.out.startswith("undecided: no norm that was tried certifies model.pt, ")
        assert "where λ ≥ 1 the norm proves nothing" in outcome.out
        assert "spectral" in outcome.out
    else:
        document = outcome.json
        assert (document["verdict"], document["stable"]) == ("undecided", None)
        assert document["witness"] is None
        assert {entry["norm"] for entry in document["norms_tried"]} >= {"spectral", "diagonal"}
        assert document["lambda"] == 1.0


@pytest.mark.parametrize("format", ["text", "json"])
def test_refuted(call, save, format):
    """A linear map with an eigenvalue of modulus ≥ 1: exit 1, with the witness."""
    model = save([[0.0, 1.5], [-1.5, 0.0]])
    outcome = call("certify", model, "--cell", "linear", "--input-bound", 1, "--format", format)
    assert (outcome.code, outcome.err) == (1, "")
    if format == "text":
        assert outcome.out.startswith("refuted: model.pt does not contract: W has ")
    else:
        document = outcome.json
        assert (document["verdict"], document["stable"]) == ("refuted", False)
        assert document["witness"]["kind"] == "eigenvalue"
        assert document["witness"]["modulus"] >= 1
        assert all(entry["k"] is None for entry in document["truncation"])


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        (("--input-bound", -1), "must be a number ≥ 0"),
        (("--input-bound", NAN), "must be a number ≥ 0"),
        (("--input-bound", INF), "must be a number ≥ 0"),
        (("--input-bound", 1, "--eps", 0), "must be a number > 0"),
        (("--input-bound", 1, "--eps", -1), "must be a number > 0"),
        (("--input-bound", 1, "--eps", NAN), "must be a number > 0"),
        (("--input-bound", 1, "--eps", INF), "must be a number > 0"),
        (("--input-bound", 1, "--eps", "small"), "valid number"),
        (("--input-bound", 1, "--cell", "rnn-tahn"), "did you mean rnn-tanh"),
        (("--input-bound", 1, "--cell", "transformer"), "unknown cell 'transformer'"),
        (
            ("--input-bound", 1, "--cell", "lstm"),
            "of rnn-tanh or rnn-relu, but lstm has (4n, n)",
        ),
        (("--input-bound", 1, "--norm", "spectrl"), "did you mean spectral"),
        (("--input-bound", 1, "--norm", "quadratic"), "use the iterated norm"),
    ],
)
def test_wrong_options(refused, stable_model, options, remedy):
    """Numbers out of range and unknown names are said in one line."""
    assert remedy in refused("certify", stable_model, "--cell", "rnn-tanh", *options)


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


@pytest.mark.parametrize(
    ("weights", "fault"),
    [
        ({"W": [[NAN]]}, "weight_hh holds NaN or infinity; repair"),
        ({"W": [[0.5]], "U": [[NAN]]}, "weight_ih holds NaN"),
        ({"W": [[0.5]], "b": [-INF]}, "bias_ih holds NaN"),
        ({"W": [[0.5, 0.5]]}, "(n, n) with n ≥ 1 is needed; take the weights of one cell"),
        ({"W": [[1], [1], [1], [1]]}, "float"),
        (
            {"W": [[1.0]] * 4, "U": [[1.0]] * 3},
            "(4, d) with d ≥ 1 is needed; take the weights of one cell",
        ),
        ({"W": [[1.0]] * 3, "b": [0.0] * 4}, "(3,) is needed; take the weights of one cell"),
    ],
)
def test_bad_weights(refused, save, weights, fault):
    """NaN, infinity, integers and shapes that do not fit are named with their remedy."""
    asked = TANH if len(weights["W"]) < 3 else ("--input-bound", 1)
    assert fault in refused("certify", save(**weights), *asked)


def test_missing_models(refused, tmp_path):
    """A folder and a file that is not there."""
    assert "does not exist; name a file" in refused("certify", tmp_path / "no", "--input-bound", 1)
    assert "is no regular file; name" in refused("certify", tmp_path, "--input-bound", 1)


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


def test_truncate_keeps_what_it_cannot_replace(refused, stable_model, tmp_path):
    """A folder or a missing folder is refused, and a file that cannot be replaced stays."""
    (tmp_path / "folder").mkdir()
    for place in (tmp_path / "folder", tmp_path / "no" / "x", stable_model / "x"):
        line = refused("truncate", stable_model, *TANH, "--eps", 1, "--out", place)
        assert line.endswith("name a file in a folder that can be written")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder", stable_model.name]
    assert not list((tmp_path / "folder").iterdir())


def test_gain(call: Any, tmp_path: Path) -> None:
    """h = h/2 + 3 x: G = 6, rounded up in the line."""
    path = tmp_path / "scalar.safetensors"
    weights = {"weight_hh_l0": torch.tensor([[0.5]]), "weight_ih_l0": torch.tensor([[3.0]])}
    save_file(weights, str(path))
    outcome = call("certify", path, "--cell", "linear", "--input-bound", 1, "--norm", "spectral")
    assert (
        "gain: from one state, inputs at most δ apart drive outputs at most 6 δ apart"
        in outcome.out
    )
    record = call(
        "certify", path, "--cell", "linear", "--input-bound", 1, "--norm", "spectral",
        "--format", "json",
    ).json  # fmt: skip
    assert record["constants"]["gain"] == 6.0


def test_no_gain(call: Any, tmp_path: Path) -> None:
    """Nothing is printed of what is not certified."""
    path = tmp_path / "wide.safetensors"
    weights = {"weight_hh_l0": torch.tensor([[1.5]]), "weight_ih_l0": torch.tensor([[3.0]])}
    save_file(weights, str(path))
    outcome = call("certify", path, "--cell", "linear", "--input-bound", 1)
    assert outcome.code == 1
    assert "δ" not in outcome.out
