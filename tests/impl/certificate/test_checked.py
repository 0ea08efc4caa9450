"""The public `check`: a file's certificate, proved anew, as a result of Python."""

import json

import pytest
import torch

import rnnbounds
from rnnbounds.cli import main
from rnnbounds.impl.certificate.checked import Checked


def network(scale: float) -> torch.nn.RNN:
    """Three states, of weights of that size."""
    torch.manual_seed(0)
    module = torch.nn.RNN(1, 3)
    with torch.no_grad():
        module.weight_hh_l0.mul_(scale)
    return module


@pytest.fixture
def short(tmp_path):
    """The file of a truncated model."""
    path = tmp_path / "short.safetensors"
    rnnbounds.save_truncated(*rnnbounds.truncate(network(0.2), inputs=1.0, eps=0.1), path)
    return path


def test_it_is_what_the_command_prints(short, capsys):
    """The record is that of ``--format json``; a check that holds is true, and says so."""
    found = rnnbounds.check(short)
    assert found
    assert repr(found) == f"<Checked: {short}: the certificate holds>"
    assert main(["check", str(short), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(found.to_dict()))
    assert found._repr_html_().count("<tr><td>") == len(found.findings) > 3


def test_what_is_not_proved_is_false(short):
    """Of another model, and where nothing was checked at all."""
    assert rnnbounds.check(short, source=network(0.2))
    found = rnnbounds.check(short, source=network(0.3))
    assert not found
    assert [part.name for part in found.findings if not part.holds] == ["source"]
    assert "FAILS" in str(found)
    assert not Checked("file", {}, ())


def test_a_certificate_in_json_needs_its_model(tmp_path):
    """It is the object that `certify` returns, written by `to_dict`."""
    model, path = network(0.2), tmp_path / "certificate.json"
    path.write_text(json.dumps(rnnbounds.certify(model, inputs=1.0, eps=0.1).to_dict()))
    assert rnnbounds.check(path, source=model)
    with pytest.raises(rnnbounds.InputError, match=r"name it as source \(--source\)"):
        rnnbounds.check(path)
    with pytest.raises(rnnbounds.InputError, match="another model"):
        rnnbounds.check(path, source=network(0.3))
