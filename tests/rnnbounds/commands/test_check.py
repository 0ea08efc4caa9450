"""``rnnbounds check`` on truncated models."""

import json

import pytest
import torch

import rnnbounds
import rnnbounds.impl.norms.solver.client

TANH = ("--cell", "rnn-tanh", "--input-bound", 1)


@pytest.fixture
def files(call, tmp_path):
    """A model that no single step certifies in the plain norms, and its truncated form."""
    source, short = tmp_path / "model.pt", tmp_path / "short.safetensors"
    weights = {"weight_hh_l0": torch.tensor([[0.2, 1.4], [-0.2, -0.7]])}
    torch.save(weights | {"weight_ih_l0": torch.ones(2, 1)}, source)
    made = call("truncate", source, *TANH, "--eps", 0.01, "--out", short)
    assert made.code == 0
    return source, short


def test_truncated(call, files):
    """The certificate is proved anew, and the weights are the source's."""
    source, short = files
    told = call("check", short, "--source", source, "--cell", "rnn-tanh")
    assert told.code == 0
    assert f"{short}: the certificate holds" in told.out
    assert {"contraction", "drive", "equivalence", "states", "window", "source"} <= {
        line.split()[0] for line in told.out.splitlines() if line
    }
    document = call("check", short, "--format", "json").json
    assert document["holds"]
    assert document["certificate"]["norm"] == "iterated"


def test_the_certificate_beside_a_page(call, refused, files, tmp_path):
    """It is proved of the model that is named, or of its truncated form, and refused alone."""
    source, short = files
    page = tmp_path / "page"
    again = tmp_path / "again.safetensors"
    assert call("truncate", source, *TANH, "--eps", 0.01, "--out", again, "--page", page).code == 0
    written = page / "certificate.json"
    assert "a model, which is not in the file; name it with --source" in refused("check", written)
    for model in (source, short):
        told = call("check", written, "--source", model, "--cell", "rnn-tanh")
        assert (told.code, told.err) == (0, "")
        assert "the certificate holds" in told.out
    kept = rnnbounds.load_certificate(written)
    assert kept.windows == rnnbounds.load_certificate(again).windows
    other = tmp_path / "other.pt"
    torch.save({"weight_hh_l0": torch.zeros(2, 2), "weight_ih_l0": torch.ones(2, 1)}, other)
    told = refused("check", written, "--source", other, "--cell", "rnn-tanh")
    assert "is the certificate of another model" in told


def test_a_certificate_of_predictions(call, refused, tmp_path):
    """Of C h with the model's own C: by its norm windows and gain grow."""
    model, folder = tmp_path / "model.pt", tmp_path / "made"
    held = {"weight_hh_l0": torch.tensor([[0.5]]), "weight_ih_l0": torch.ones(1, 1)}
    torch.save(held | {"head.weight": torch.tensor([[4.0], [3.0]])}, model)
    asked = ("certify", model, *TANH, "--eps", 0.01, "--out", folder)
    assert call(*asked).code == 0
    plain = json.loads((folder / "certificate.json").read_text())
    assert call(*asked, "--readout", "head").code == 0
    path = folder / "certificate.json"
    again = ("check", path, "--source", model, "--cell", "rnn-tanh")
    told = call(*again)
    assert told.code == 0
    assert "of predictions head.weight h" in told.out
    assert "‖C‖₂ ≤ 5" in told.out
    record = json.loads(path.read_text())
    for place in ("truncation", "constants"):
        path.write_text(json.dumps(record | {place: plain[place]}))
        assert call(*again).code == 1
    path.write_text(json.dumps(record | {"readout": record["readout"] | {"norm": 4.99}}))
    assert call(*again).code == 1
    path.write_text(json.dumps(record))
    torch.save(held | {"head.weight": torch.tensor([[4.0], [2.0]])}, model)
    assert "no certificate that can be checked" in refused(*again)


def test_another_source(call, files, tmp_path):
    """Weights of another model fall, exit 1."""
    _, short = files
    other = tmp_path / "other.pt"
    torch.save({"weight_hh_l0": torch.zeros(2, 2), "weight_ih_l0": torch.ones(2, 1)}, other)
    told = call("check", short, "--source", other, "--cell", "rnn-tanh")
    assert told.code == 1
    assert "the certificate FAILS" in told.out


def test_norms_by_name(call, refused, files, monkeypatch):
    """`--norm` names one norm; without the solver one line says so, and auto goes on."""
    source, _ = files
    told = call("certify", source, *TANH, "--norm", "iterated")
    assert told.code == 0
    assert "in the iterated norm" in told.out
    monkeypatch.setattr(rnnbounds.impl.norms.solver.client, "find_spec", lambda name: None)
    line = refused("certify", source, *TANH, "--norm", "diagonal-sdp")
    assert "pip install 'rnnbounds[sdp]'" in line
    told = call("certify", source, *TANH)
    assert told.code == 0
    assert "diagonal-sdp: not tried: the diagonal-sdp norm needs clarabel" in told.out
