"""The re-checker of truncated models: it needs no torch, and every part of it can fail."""

import json
import math
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest
import torch
from checked import fallen as fallen_of
from checked import seal_of, source
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from rnnbounds.impl.cells.table import CELLS, kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.checker import truncated
from rnnbounds.impl.checker.truncated import check_certificate, check_truncated
from rnnbounds.impl.convert.files import save_truncated
from rnnbounds.impl.convert.truncate import truncate, unrolled
from rnnbounds.impl.errors import FileError, InputError
from rnnbounds.impl.format.sealed import TRUNCATED
from rnnbounds.impl.format.tensors import said_format
from rnnbounds.impl.norms.metric import reason_to_omit
from rnnbounds.impl.norms.state_norms import NORMS
from rnnbounds.impl.reading.adapters import load_model

EPSILON = 1e-3
fallen = partial(fallen_of, "truncated")


def model(n=4, cell="rnn-tanh", dtype=torch.float32, scale=0.4, seed=0):
    """A random model."""
    draw = torch.Generator().manual_seed(seed)
    shapes = {"weight_hh": (n, n), "weight_ih": (n, 2), "bias_ih": (n,), "bias_hh": (n,)}
    weights = {k: torch.randn(v, generator=draw).to(dtype) for k, v in shapes.items()}
    weights["weight_hh"] = weights["weight_hh"] * (scale / n**0.5)
    return load_model(weights, cell)


KNOWN = {}  # certificates by model and norm


def written(path, loaded, norm="auto"):
    """The path of the truncated model, certified in that norm."""
    if (loaded.digest, norm) not in KNOWN:
        KNOWN[loaded.digest, norm] = certify(loaded, inputs=1.5, eps=(EPSILON,), norm=norm)
    certificate = KNOWN[loaded.digest, norm]
    save_truncated(unrolled(loaded, certificate.window(EPSILON)), certificate.to_json(), path)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize("cell", ["linear", "rnn-silu", "rnn-sigmoid"])
def test_good_files(tmp_path, name, cell):
    """Every certificate that is written is proved again, with and without the source."""
    if name not in kind_of(cell).norms or reason_to_omit(name, 1) is not None:
        return
    scale = {"infinity": 0.15, "one": 0.15}.get(name, 0.4)
    for seed, dtype in enumerate((torch.float32, torch.float64, torch.bfloat16, torch.float16)):
        loaded = model(1 + 2 * seed, cell, dtype, scale, seed)
        path = written(tmp_path / "t.safetensors", loaded, name)
        assert said_format(path) == TRUNCATED.format
        assert fallen(path) == set()
        assert fallen(path, source(loaded)) == set()
        assert fallen(path, source(model(1 + 2 * seed, cell, dtype, seed=99))) == {"source"}


@pytest.mark.parametrize(("fed", "epsilon"), [(1.0, 1e-2), (1e300, 5e-324)])
def test_the_longest_windows(tmp_path, fed, epsilon):
    """Those of the greatest λ < 1 are proved too, and none that is shorter by one."""
    weights = {"weight_hh": [[1 - 2.0**-53]], "weight_ih": [[fed]]}
    held = {name: torch.tensor(w, dtype=torch.float64) for name, w in weights.items()}
    loaded = load_model(held, "linear")
    told = certify(loaded, inputs=1.0, eps=epsilon, norm="spectral").to_json()
    path, k = tmp_path / "certificate.json", told["truncation"][0]["k"]
    assert k > 10**17

    def fallen(k):
        path.write_text(json.dumps(told | {"truncation": [{"eps": epsilon, "k": k}]}))
        found = check_certificate(path, source(loaded))[1]
        return {finding.name for finding in found if not finding.holds}

    assert fallen(k) == fallen(2**64) == set()
    assert fallen(k - 1) == {"window"}
    path.write_text(json.dumps(told | {"cell": "kept"}))
    with pytest.raises(InputError, match="holds kept, a cell of which the checker knows"):
        check_certificate(path, source(loaded))
    with pytest.raises(FileError):
        fallen(2**64 + 1)


@pytest.mark.parametrize("more", [{"pieces": {}}, {"norm": "iterated"}, {"steps": 1}])
def test_files_of_earlier_versions(tmp_path, more):
    """What states more than today's certificates, or another norm, is refused in a line that says
    how to write it again; so is a file of another format."""
    loaded, norm = model(), "diagonal"
    path, record = written(tmp_path / "t", loaded, norm), tmp_path / "certificate.json"
    record.write_text(
        json.dumps(certify(loaded, inputs=1.5, eps=EPSILON, norm=norm).to_json() | more)
    )
    with pytest.raises(FileError, match="; write it again with 'rnnbounds certify --out'"):
        check_certificate(record, source(loaded))
    forged(path, lambda certificate: certificate.update(more))
    with pytest.raises(FileError, match="; write it again with 'rnnbounds truncate'"):
        check_truncated(path)
    forged(path, lambda certificate: None, format="rnnbounds/truncated/4")
    with pytest.raises(FileError, match=r"not of the format .*; write it again with 'rnnbounds tr"):
        check_truncated(path)


def forged(path, certify, **changes):
    """The file with a changed certificate and other metadata, and with good seals."""
    with safe_open(path, framework="pt") as file:
        told = dict(file.metadata()) | changes
    weights, certificate = load_file(path), json.loads(told["certificate"])
    certify(certificate)
    told["certificate"] = json.dumps(certificate)
    told["k"] = str(certificate["truncation"][0]["k"])
    save_file(weights, path, told | {"sha256": seal_of(told, weights)})
    return path


def test_other_cells(tmp_path, monkeypatch):
    """A cell that is registered elsewhere is refused in one line: nothing is known of it here."""
    monkeypatch.setitem(CELLS, "kept", replace(CELLS["gru"], name="kept"))
    torch.manual_seed(0)
    layer = torch.nn.GRU(1, 2)
    with torch.no_grad():
        layer.weight_hh_l0.mul_(0.1)
    kept = truncate(load_model(layer.state_dict(), "kept"), eps=1e-2, inputs=1.0)
    save_truncated(*kept, tmp_path / "t")
    with pytest.raises(InputError, match="holds kept, a cell of which the checker knows"):
        check_truncated(tmp_path / "t")


def test_an_infinite_bound_states_nothing():
    """Neither of gains, nor of states, nor of rounding: there is nothing to prove."""
    none = SimpleNamespace(state=math.inf)
    constants = {"gain": math.inf, "B_h": math.inf}
    record = SimpleNamespace(constants=constants, unit_gains=None, rounding=none)
    record.of = lambda part: record
    file = SimpleNamespace(record=record)
    assert truncated._gain(file, None, None) == truncated._held(record, None) == []
    assert truncated._rounding(file, None) == []
