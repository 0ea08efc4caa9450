"""Truncated models whose k is known of recorded inputs alone: none is taken for a certified one."""

import json
from functools import cache, partial

import pytest
import torch
from draws import normal
from tampering import taken_apart, written

from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.checked import check
from rnnbounds.impl.checker.truncated import check_truncated
from rnnbounds.impl.convert.files import load_certificate, load_truncated, save_truncated
from rnnbounds.impl.convert.truncate import parsed, truncate, unrolled
from rnnbounds.impl.errors import InputError
from rnnbounds.impl.format.sealed import TRUNCATED
from rnnbounds.impl.memory.calls import measure
from rnnbounds.impl.near.again import is_proved_near
from rnnbounds.impl.reading.adapters import load_model

X, EPS = normal(12, 30, 2, seed=4).clamp(-1, 1), 0.05
BASES = {"near": {"near": 1e-3}, "seen": {}}
HEAD = {"head.weight": torch.tensor([[2.0, 1.0, 0.0]])}


def lstm():
    """The state dict of an LSTM that no norm certifies, with a head."""
    torch.manual_seed(1)
    return torch.nn.LSTM(2, 3).state_dict() | HEAD


@cache
def made(basis, readout=None):
    """Its truncated form."""
    return truncate(lstm(), eps=EPS, basis=basis, data=X, readout=readout, **BASES[basis])


def proof(path, data=X):
    """What proves the k of a file near the data again."""
    return partial(lambda model, file: is_proved_near(model, file.record, data),
                   *parsed(path.read_bytes(), path))  # fmt: skip


def verdict(path, file):
    """True if the record of a file is proved, near the data where it says so, False if it falls,
    and None if it is refused."""
    path.write_bytes(written(file, TRUNCATED.seal))
    try:
        near = proof(path) if "delta" in file.certificate else None
        return all(found.holds for found in check_truncated(path, near=near)[1])
    except InputError:
        return None


@pytest.mark.parametrize("readout", [None, "head"])
def test_near(tmp_path, readout):
    """k is that of `measure --near`; every run that was tried near the data is within ε, and it is
    proved again from these data alone."""
    told, path = made("near", readout), tmp_path / "t.safetensors"
    assert certify(lstm(), inputs=1.0).verdict == "undecided"
    assert told.k == measure(lstm(), X, eps=EPS, near=1e-3, readout=readout).near.rows[0].k
    x = X + 1e-3 * normal(*X.shape, seed=5).sign()
    model = load_model(lstm())
    with torch.no_grad():
        full, cut = (unrolled(model, k).double()(x)[:, -1] for k in (X.shape[1], told.k))
    gap = full - cut if readout is None else (full - cut) @ HEAD["head.weight"].double().T
    assert float(gap.norm(dim=1).max()) <= EPS
    save_truncated(*told, path)
    with pytest.raises(InputError, match="name them, the data, with --data"):
        check_truncated(path)
    document, found = check_truncated(path, near=proof(path))
    assert [(one.name, one.holds) for one in found] == [("window", True)]
    assert document["verdict"] == "near your data"
    with pytest.raises(InputError, match="other windows than those"):
        proof(path, X[:, :, :1])()
    with pytest.raises(InputError, match="other windows than those"):
        proof(path, X + 1e-12)()


def test_no_window_refutes_a_k_that_is_proved_near_others(monkeypatch):
    """Where the work pays for the first window alone, and others need a longer k, this is taken."""
    monkeypatch.setattr("rnnbounds.impl.near.near.WORK", 1)
    x = torch.cat([X[:1] / 100, X[1:]])
    seen = measure(lstm(), x, eps=EPS, near=1e-3)
    assert seen.near.rows[0].k < seen.window(EPS)
    told = truncate(lstm(), eps=EPS, basis="near", data=x, near=1e-3)
    assert told.k == seen.window(EPS)
    assert "proved within 0.001 of 1 of 12 windows of 30 inputs" in str(told)
    with torch.no_grad():
        full, cut = (unrolled(load_model(lstm()), k).double()(x)[:, -1] for k in (30, told.k))
    assert float((full - cut).norm(dim=1).max()) <= EPS


@pytest.mark.parametrize("basis", BASES)
def test_it_says_what_k_rests_on(tmp_path, basis):
    """In its str, its repr, its record and what is loaded; no file gives a certificate of it, and
    what `infer` gives is at exactly this k."""
    words = {"near": "near your data: proved within 0.001 of 12 windows of 30 inputs",
             "seen": "only seen on 12 windows of 30 inputs, nothing proved"}[basis]  # fmt: skip
    told, path = made(basis), tmp_path / "t.safetensors"
    save_truncated(*told, path)
    loaded = load_truncated(path)
    assert all(words in text for text in (str(told), repr(told.module), repr(loaded)))
    assert told.certificate["verdict"] == words[: len(told.certificate["verdict"])]
    assert "certified" not in json.dumps(told.certificate)
    with pytest.raises(InputError, match="certifies nothing: its k is"):
        load_certificate(path)
    x = normal(1, 400, 2, seed=6).float()
    assert torch.equal(loaded.infer(x), loaded(x))
    save_truncated(*told, tmp_path / "t.pt2")
    files = {"not-certified.json": "", "certificate.json": ""}
    torch.export.load(tmp_path / "t.pt2", extra_files=files)
    assert json.loads(files["not-certified.json"]) == told.certificate
    assert files["certificate.json"] == ""


def test_nothing_is_proved_of_what_was_seen(tmp_path):
    """Not even of a k at which all is well."""
    save_truncated(*made("seen"), tmp_path / "t")
    (found,) = check_truncated(tmp_path / "t")[1]
    assert (found.name, found.holds) == ("window", False)
    assert "nothing proved" in found.detail


@pytest.mark.parametrize("basis", BASES)
def test_tampering(tmp_path, basis):
    """A record that is changed and sealed anew is refused or falls, or is proved of the data all
    the same; it is a certificate in no case."""
    path = tmp_path / "t"
    save_truncated(*made(basis), path)
    file = taken_apart(path.read_bytes())
    told, k = file.certificate, int(dict(file.told)["k"])
    assert verdict(path, file) is (basis == "near")
    plain = truncate({n: w / 9 for n, w in lstm().items()}, eps=EPS, inputs=1.0)[1]
    near = {"verdict": "near your data", "delta": 1e-3}
    data, window = told["data"], told["truncation"][0]
    for change in (
        {"verdict": "certified"}, {"verdict": "all"}, {"verdict": None}, {"basis": "all"},
        {"schema": "rnnbounds/certificate/1"}, {"verdict": "certified", "lambda": 0.5},
        plain, plain | {"sha256": told["sha256"]}, {"sha256": "0" * 64}, {"cell": "gru"},
        {"data": data | {"windows": 0}}, {"data": data | {"of": 1}}, {"data": data | {"length": 1}},
        {"truncation": []}, {"truncation": [window] * 2}, {"readout": {"tensor": "head.weight"}},
        {"truncation": [window | {"k": None}]}, {"truncation": [window | {"k": k + 1}]},
    ):  # fmt: skip
        assert verdict(path, file.stating(told | change)) is None, change
    for change in (
        near | {"truncation": [window | {"eps": EPS / 1e3}]}, near | {"delta": 1.0},
    ):  # fmt: skip
        assert verdict(path, file.stating(told | change)) is False, change
    for change in (
        near | {"data": data | {"windows": 11}}, near | {"data": data | {"sha256": "0" * 64}},
        near | {"data": data | {"length": 15}}, near | {"data": data | {"of": 13}},
        near | {"delta": None}, near | {"delta": -1e-3}, {**near, "verdict": "only seen"},
    ):  # fmt: skip
        assert verdict(path, file.stating(told | change)) is None, change
    shorter = near | {"truncation": [window | {"k": k - 1}]}
    assert verdict(path, file.stating(told | shorter).with_told(k=str(k - 1))) is False


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"basis": "near"}, "the basis 'near' needs data; give it too"),
        ({"basis": "near", "data": X}, "the basis 'near' needs near; give it too"),
        ({"basis": "seen", "data": X, "near": 0.1}, "'seen' does not read near; leave it out"),
        ({"basis": "seen", "data": X, "inputs": 1.0}, "'seen' does not read inputs; leave it out"),
        ({"data": X, "inputs": 1.0}, "'all' does not read data; leave it out, or choose another"),
        ({"basis": "proved"}, "unknown basis 'proved'"),
        ({"basis": "seen", "data": X[:, :3]}, "windows of 3 inputs can show; record longer"),
        ({"basis": "seen", "data": X, "window": 2}, "can show; take --window 8"),
        ({"basis": "near", "data": X, "near": 9.0}, "no k is proved near all .*; take a smaller"),
    ],
)  # fmt: skip
def test_where_there_is_no_such_basis(asked, words):
    """One line, with what to do."""
    with pytest.raises(InputError, match=words) as caught:
        truncate(lstm(), eps=EPS, **asked)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("basis", BASES)
def test_no_cell_that_reads_backwards(tmp_path, basis):
    """Its windows begin where those of the data end: it has no such record, nor is it the source of
    one."""
    layer = torch.nn.LSTM(2, 3, bidirectional=True)
    told, path = made(basis), tmp_path / "t.safetensors"
    backward = load_model(layer, direction="backward")
    with pytest.raises(InputError, match=r"reads them forwards; truncate it for all inputs$"):
        truncate(backward, eps=EPS, basis=basis, data=X, **BASES[basis])
    save_truncated(*told, path)
    for source in ({"source": layer, "direction": "backward"}, {"source": backward}):
        with pytest.raises(InputError, match="reads them forwards"):
            check(path, data=X, **source)


def test_a_record_of_another_basis_is_not_saved(tmp_path):
    """Neither with a module that says more, nor with one that says less."""
    (near, proved), (seen, only) = made("near"), made("seen")
    assert near.k == seen.k
    for module, record in ((near, only), (seen, proved)):
        with pytest.raises(InputError, match="certificate of another model"):
            save_truncated(module, record, tmp_path / "t")
    assert list(tmp_path.iterdir()) == []
