"""The checker of models in both directions: it needs no torch, and every part of it can fail."""

import copy
import json
import subprocess
import sys

import pytest
import torch
from both_models import both
from checked import source
from tampering import taken_apart

import rnnbounds
from rnnbounds.impl.checker.bidirectional import check_bidirectional, check_both
from rnnbounds.impl.checker.readout import Readout
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.format.bidirectional import BIDIRECTIONAL
from rnnbounds.impl.format.truncated import CertificateFileError
from rnnbounds.impl.reading.adapters import load_both
from rnnbounds.impl.reading.files import as_safetensors

CASES = [("rnn-tanh", 1), ("rnn-tanh", 2), ("lstm", 1), ("gru", 2)]


def written(path, cell="gru", layers=1, **options):
    """The file of a truncated model, and the module that it was made of."""
    module = both(cell, layers, **options)
    rnnbounds.save_truncated(*rnnbounds.truncate(module, 0.3, 1.0), path)
    return module


def fallen(path, of=None):
    """The names of the findings that do not hold."""
    return {found.name for found in check_bidirectional(path, of)[1] if not found.holds}


def sealed_again(path, certificate):
    """Write the file with another certificate, sealed as it should be."""
    parts = taken_apart(path.read_bytes())
    tensors, told = rnnbounds.load_truncated(path).state_dict(), dict(parts.told)
    told["certificate"] = json.dumps(certificate, sort_keys=True)
    told["sha256"] = BIDIRECTIONAL.seal(told, parts.parts)
    path.write_bytes(as_safetensors(tensors, told))


@pytest.mark.slow
@pytest.mark.parametrize(("cell", "layers"), CASES)
def test_good_files(tmp_path, cell, layers):
    """Every certificate that is written is proved again, with its source and no other."""
    path = tmp_path / "short.safetensors"
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        module = written(path, cell, layers, dtype=dtype)
        assert fallen(path) == set()
        assert fallen(path, source(load_both(module, cell))) == set()
        other = both(cell, layers, seed=5, dtype=dtype)
        assert fallen(path, source(load_both(other, cell))) == {"source"}


@pytest.mark.slow
def test_every_claim_can_fail(tmp_path):
    """A window one shorter on either side, a smaller gain, ε, inputs of the upper layer, constants
    of a cell: each is refuted or refused, whatever the seal says."""
    path = tmp_path / "short.safetensors"
    written(path, "gru", 2)
    good, data = check_bidirectional(path)[0], path.read_bytes()
    tried = []

    def changed(change, *names):
        certificate = copy.deepcopy(good)
        change(certificate)
        path.write_bytes(data)
        sealed_again(path, certificate)
        try:
            found = fallen(path)
        except InputError:
            found = {"refused"}
        assert found
        assert not names or found & set(names), found
        tried.append(found)

    def cell(certificate, l=1, end="forward"):
        return certificate["layers"][l][end]

    changed(lambda c: c.update(gain=c["gain"] * 0.99), "gain")
    changed(lambda c: c["truncation"][0].update(eps=c["truncation"][0]["eps"] / 64), "window")
    changed(lambda c: c.update(input_bound=0.5), "refused")
    changed(lambda c: c.update(cell="bidirectional lstm, 2 layers"), "refused")
    changed(lambda c: c["layers"].pop(), "refused")
    changed(lambda c: c["layers"].reverse(), "refused")

    def halve_inputs(c):
        cell(c).update(input_bound=cell(c)["input_bound"] / 2)
        cell(c)["constants"].update(B_x=cell(c)["constants"]["B_x"] / 2)

    changed(halve_inputs, "layer 2: inputs")
    changed(lambda c: cell(c)["inputs"].update(high=[0.0] * 6), "layer 2: inputs")
    for l in (0, 1):
        for end in ("forward", "reverse"):
            name = f"layer {l + 1}, {end}: "
            changed(
                lambda c, l=l, e=end: cell(c, l, e).update({"lambda": cell(c, l, e)["lambda"] / 2}),
                name + "contraction",
                name + "window",
                "refused",
            )
            for constant in ("drive", "equivalence", "gain", "B_h"):
                changed(
                    lambda c, l=l, e=end, k=constant: cell(c, l, e)["constants"].update(
                        {k: cell(c, l, e)["constants"][k] / 2}
                    )
                )
    assert len(tried) == 28


def test_windows_are_exact(tmp_path):
    """The window that is stated is the file's; one that is not proved falls."""
    path = tmp_path / "short.safetensors"
    written(path)
    certificate = check_bidirectional(path)[0]
    certificate["truncation"].append({"eps": 1e-9, "past": 1, "future": 1})
    sealed_again(path, certificate)
    assert fallen(path) == {"window"}


@pytest.mark.slow
def test_without_torch(tmp_path):
    """The check of a file runs where torch cannot be imported."""
    path = tmp_path / "short.safetensors"
    written(path)
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from pathlib import Path\n"
        "from rnnbounds.impl.checker.bidirectional import check_bidirectional as check\n"
        f"print(all(one.holds for one in check(Path({str(path)!r}))[1]))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "True\n"


def test_whole_certificates(tmp_path):
    """What `certify` wrote is proved for its model and its readout, and for no other."""
    path, module = tmp_path / "c.json", both("rnn-tanh")
    head = torch.nn.Linear(6, 1)
    whole = torch.nn.ModuleDict({"rnn": module, "head": head})
    told = rnnbounds.certify(whole, 1.0, (0.3, 0.9), layer="rnn", readout="head").to_json()
    path.write_text(json.dumps(told))
    of = source(load_both(module))
    C = head.weight.detach().double().numpy()
    readout = Readout([("head.weight", C)], {"head.weight": ("float32", C)})
    found = check_both(path, of, readout)[1]
    assert all(one.holds for one in found)
    assert {"readout", "gain", "window"} <= {one.name for one in found}
    path.write_text(json.dumps(told | {"gain": told["gain"] / 2}))
    assert {one.name for one in check_both(path, of, readout)[1] if not one.holds} == {"gain"}
    for change, model in (
        ({}, both("rnn-tanh", seed=3)),
        ({}, both("rnn-tanh", 2)),
        ({"verdict": "undecided"}, module),
        ({"layers": []}, module),
        ({"readout": None}, module),
    ):
        path.write_text(json.dumps(told | change))
        if change == {"readout": None}:
            assert "window" in {f.name for f in check_both(path, of)[1]}
            continue
        with pytest.raises(CertificateFileError):
            check_both(path, source(load_both(model)), readout)
    path.write_text(json.dumps(rnnbounds.certify(torch.nn.RNN(1, 1), 0.1).to_json()))
    assert check_both(path, of) is None
