"""The checker of truncated models: it needs no torch, and each part of it can fail."""

import json
import math
from dataclasses import replace
from functools import cache, partial
from types import SimpleNamespace

import checked
import numpy as np
import pytest
import torch
from cell_systems import verdict
from checked import fallen as fallen_of
from checked import fallen_of_document, source
from tampering import LESS, NEVER, UNPROVED, doubled, statements, taken_apart, written
from truths import true_of_truncated

from rnnbounds.impl.cells.table import CELLS, kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.checker import truncated
from rnnbounds.impl.checker.truncated import check_truncated
from rnnbounds.impl.convert.files import save_truncated
from rnnbounds.impl.convert.truncate import truncate, unrolled
from rnnbounds.impl.errors import FileError, InputError
from rnnbounds.impl.format.sealed import READOUT, TRUNCATED
from rnnbounds.impl.format.tensors import decoded, digest, encoded, said_format
from rnnbounds.impl.models.loaded import Readout
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


def saved(path, loaded, norm="auto"):
    """The path of the truncated model, certified in that norm."""
    if (loaded, norm) not in KNOWN:
        KNOWN[loaded, norm] = certify(loaded, inputs=1.5, eps=(EPSILON,), norm=norm)
    certificate = KNOWN[loaded, norm]
    save_truncated(unrolled(loaded, certificate.window(EPSILON)), certificate.to_dict(), path)
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
        path = saved(tmp_path / "t.safetensors", loaded, name)
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
    told = certify(loaded, inputs=1.0, eps=epsilon, norm="spectral").to_dict()
    path, k = tmp_path / "certificate.json", told["truncation"][0]["k"]
    assert k > 10**17

    def fallen(k, **more):
        document = told | {"truncation": [{"eps": epsilon, "k": k}]} | more
        return fallen_of_document(path, document, source(loaded))

    assert fallen(k) == fallen(2**64) == set()
    assert fallen(k - 1) == {"window"}
    with pytest.raises(InputError, match="holds kept, a cell of which the checker knows"):
        fallen(k, cell="kept")
    with pytest.raises(FileError):
        fallen(2**64 + 1)


@pytest.mark.parametrize("more", [{"pieces": {}}, {"norm": "iterated"}, {"steps": 1}])
def test_files_of_earlier_versions(tmp_path, more):
    """What states more than today's certificates, or another norm, is refused in a line that says
    how to write it again; so is a file of another format."""
    loaded, norm, record = model(), "diagonal", tmp_path / "certificate.json"
    file = taken_apart(saved(tmp_path / "t", loaded, norm).read_bytes())
    told = certify(loaded, inputs=1.5, eps=EPSILON, norm=norm).to_dict() | more
    with pytest.raises(FileError, match="; write it again with 'rnnbounds certify --out'"):
        fallen_of_document(record, told, source(loaded))
    for forged, words in (
        (file.stating(file.certificate | more), "; write it again"),
        (file.with_told(format="rnnbounds/truncated/4"), "not of the format .*; write it again"),
    ):
        (tmp_path / "t").write_bytes(written(forged, TRUNCATED.seal))
        with pytest.raises(FileError, match=f"{words} with 'rnnbounds truncate'"):
            check_truncated(tmp_path / "t")


def test_readouts(tmp_path):
    """C is in the file: its norm is proved, whatever is sealed, and no other map, shape or number
    takes its place; windows and gain are those of C h."""
    loaded, path = model(), tmp_path / "t"
    loaded = replace(loaded, readout=Readout("head.weight", torch.tensor([[3.0, 4.0, 0.0, 0.0]])))
    file = taken_apart(saved(path, loaded).read_bytes())
    assert fallen(path) == set()
    told = file.certificate
    stated = told["readout"]
    assert stated["norm"] < 5.0001

    def sealed(C, **changes):
        """The verdict on a file with this matrix and these changes of what is said of it."""
        tensors = tuple(one for one in file.tensors if one[0] != READOUT)
        if C is not None:
            data = C.astype("<f4").tobytes()
            tensors += ((READOUT, "F32", C.shape, data),)
            part = {"dtype": "F32", "shape": C.shape, "data": data}
            changes = {"sha256": digest("readout", {"head.weight": part}), **changes}
        other = replace(file, tensors=tensors).stating(told | {"readout": stated | changes})
        return verdict(path, other)

    C = decoded(file.parts[READOUT])
    assert sealed(C) is True
    assert sealed(C, norm=4.999) is sealed(2 * C) is False
    assert sealed(C, sha256=stated["sha256"][::-1]) is sealed(None) is None
    for wrong in (C.T, C[0], C[:, :3], np.vstack([C, C]), C + np.nan, C + np.inf):
        assert sealed(wrong) is None
        assert not checked.loads(path)
    plain = certify(replace(loaded, readout=None), inputs=1.5, eps=(EPSILON,)).to_dict()
    for part in ("truncation", "constants"):
        k = {"k": str(plain["truncation"][0]["k"])} if part == "truncation" else {}
        assert verdict(path, file.stating(told | {part: plain[part]}).with_told(**k)) is False
    bare = {name: value for name, value in told.items() if name != "readout"}
    assert verdict(path, file.stating(bare)) is None


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


GOOD = [
    ("rnn-tanh", "spectral", torch.float32, True),
    ("rnn-tanh", "perron", torch.float64, False),
    ("rnn-relu", "diagonal", torch.bfloat16, True),
    ("linear", "quadratic", torch.float32, True),
    ("rnn-sigmoid", "one", torch.float16, True),
    ("rnn-tanh", "quadratic-sdp", torch.float64, True),
]
SPEAKS_OF = {("input_bound",), ("truncation", 0, "eps"), ("truncation", 1, "eps")}
# By the side that runs the model.
UNREAD = ("weights", "norm", "constants", "box", "layers", "unit_gains")


def small(cell, dtype, biases, seed=3):
    """Two states and one input."""
    draw = torch.Generator().manual_seed(seed)
    shapes = {"weight_hh": (2, 2), "weight_ih": (2, 1)}
    shapes |= {"bias_ih": (2,), "bias_hh": (2,)} if biases else {}
    weights = {name: torch.randn(shape, generator=draw) for name, shape in shapes.items()}
    weights["weight_hh"] *= 0.3
    return load_model({name: part.to(dtype) for name, part in weights.items()}, cell)


@cache
def certified(cell, norm, dtype, biases):
    """A model and its certificate."""
    held = small(cell, dtype, biases)
    return held, certify(held, inputs=1.5, eps=(1e-2, 1e-5), norm=norm)


@pytest.fixture(params=GOOD, ids=lambda told: f"{told[0]}-{told[1]}")
def good(request, tmp_path):
    """A path, a good file that is taken apart, and its source."""
    if reason_to_omit(request.param[1], 1) is not None:
        pytest.skip("needs the solver")
    path, (held, certificate) = tmp_path / "t", certified(*request.param)
    save_truncated(unrolled(held, certificate.windows[0][1]), certificate.to_dict(), path)
    return path, taken_apart(path.read_bytes()), checked.source(held)


def weights_of(file):
    """The weights by role, in float64."""
    return {name.removesuffix("_l0"): decoded(part) for name, part in file.parts.items()}


@pytest.mark.slow
def test_statements(good):
    """Each statement in all its tampered forms: what holds is true, and what is less falls."""
    path, file, source = good
    assert verdict(path, file, source)
    assert true_of_truncated(file.certificate, source.weights)
    count = 0
    for place, name, tampered in statements(file):
        held = verdict(path, tampered, source)
        count += 1
        about = (place, name)
        if place and UNPROVED & set(place):
            assert held is (None if name == "extra" or name.startswith("twice") else held), about
            continue
        if held:
            assert true_of_truncated(tampered.certificate, source.weights), about
        if about == (("unit_gains",), "left out"):  # as of an earlier version
            assert held is False
            continue
        if name.startswith("twice") or (name in NEVER and place != ("truncation", 1)):
            assert held is None, about
        if name in LESS and place[-1] != "state" and place[0] != "weights":
            grown = name == "tiny" and _at(file.certificate, place) < 1e-9
            room = place[0] == "unit_gains" and name == "less"  # as much as they have
            assert not held or place in SPEAKS_OF or grown or room, about
        if held is None and place[:1] not in ((part,) for part in UNREAD):
            assert not checked.loads(path), about
    assert count > 500


def _at(told, place):
    for key in place:
        told = told[key]
    return math.inf if told is None else told


def resealed(file, weights=None, cell=None, dtype=None):
    """Other weights, another cell or dtype, and the digests that go with them."""
    told = file.certificate
    told["cell"], told["dtype"] = cell or told["cell"], dtype or told["dtype"]
    told["rounding"]["dtype"] = told["dtype"]
    numbers = weights_of(file) | (weights or {})
    parts = {role: encoded(part, told["dtype"]) for role, part in numbers.items()}
    told["sha256"] = digest(told["cell"], parts)
    tensors = tuple(
        (f"{role}_l0", part["dtype"], tuple(part["shape"]), bytes(part["data"]))
        for role, part in parts.items()
    )
    return replace(file, tensors=tensors).stating(told).with_told(cell=told["cell"])


def test_weights(good):
    """Other weights, with all digests in order: what holds is true of them, and never the source's;
    with the old digest they are refused."""
    path, file, source = good
    for role, part in weights_of(file).items():
        grown = {role: part * 64}
        for other in (grown, {role: -part}, {role: part[::-1].copy()}, {role: part * 0}):
            if np.array_equal(other[role], part):
                continue
            tampered = resealed(file, other)
            assert not verdict(path, tampered, source), role
            if verdict(path, tampered):
                assert true_of_truncated(tampered.certificate, weights_of(tampered)), role
            kept = replace(tampered, text=file.text)
            assert verdict(path, kept) is None, role
            assert not checked.loads(path)
        if role.startswith("weight"):
            assert verdict(path, resealed(file, grown)) is False, role


def test_other_cells_and_dtypes(good):
    """Another cell or dtype is another model: true of it at most, and never the source's."""
    path, file, source = good
    for cell in ("rnn-tanh", "rnn-relu", "linear", "rnn-sin", "rnn-sigmoid"):
        if cell == source.cell:
            continue
        tampered = resealed(file, cell=cell)
        assert not verdict(path, tampered, source), cell
        if verdict(path, tampered):
            assert true_of_truncated(tampered.certificate, source.weights), cell
        assert verdict(path, file.with_told(cell=cell)) is None
        assert not checked.loads(path)
    for dtype in ("float32", "float64"):
        if dtype != source.dtype and (dtype, source.dtype) != ("float32", "float64"):
            tampered = resealed(file, dtype=dtype)
            assert not verdict(path, tampered, source), dtype
            assert verdict(path, replace(tampered, text=file.text)) is None


def test_metadata(good):
    """The window, the cell and the format in any other form, missing, further and said twice."""
    path, file, _ = good
    k = dict(file.told)["k"]
    assert {name for name, _ in file.told} == {"format", "k", "cell", "output"}
    others = [f" {k}", f"+{k}", f"0{k}", f"{k}.0", f"{k}_0", f"-{k}", "", "x", str(int(k) + 1), "²"]
    changes = [{"k": other} for other in others]
    changes += [{"cell": other} for other in ("", "lstm", "rnn-foo", " linear", "stacked-gru")]
    changes += [{"format": other} for other in ("", "rnnbounds/truncated/1", "rnnbounds/unitary/2")]
    changes += [{"output": other} for other in ("", "last", "All", "true")]
    changes += [{name: None} for name in ("k", "cell", "format", "output")]
    changes += [{"extra": "1"}, {"λ": "0.1"}]
    tampered = [file.with_told(**change) for change in changes]
    tampered += [file.stating(file.certificate | {"cell": None}).with_told(cell=None)]
    tampered += [replace(file, told=((name, value), *file.told)) for name, value in file.told]
    tampered += [replace(file, told=(("k", "9"), *file.told))]
    told = file.certificate
    tampered += [file.stating(value) for value in (None, [], 1, "x", [told], told | {"extra": 1})]
    tampered += [replace(file, text=text) for text in (
        json.dumps(told, indent=1), file.text + " ", " " + file.text, "", "{", "[" * 10**5,
        file.text.replace("1.5", "1.50"), file.text.replace("0.01", "1e-2"),
    )]  # fmt: skip
    tampered += [replace(file, text=doubled(told, (key,), "0.1")) for key in told]
    for number, other in enumerate(tampered):
        assert verdict(path, other) is None, number
        assert not checked.loads(path), number


def test_tensors(good):
    """Names without their layer, further tensors, tensors that come twice and other shapes."""
    path, file, _ = good
    name, code, shape, data = next(entry for entry in file.tensors if entry[0] == "weight_hh_l0")
    rest = tuple(entry for entry in file.tensors if entry[0] != name)
    larger = encoded(decoded(file.parts[name]) * 64, file.certificate["dtype"])["data"]
    further = (
        "weight_hh",
        "weight_hh_l1",
        "weight_hr_l0",
        "bias",
        "bias_ih",
        "W",
        "x.weight_hh_l0",
    )
    tampered = [(*file.tensors, (other, code, shape, larger)) for other in further]
    tampered += [((other, code, shape, larger), *file.tensors) for other in further]
    tampered += [
        (*rest, (other, code, shape, data)) for other in ("weight_hh", "weight_hh_l1", "W")
    ]
    tampered += [(*file.tensors, (name, code, shape, larger)), rest, ()]
    tampered += [
        tuple((change(other), *held) for other, *held in file.tensors)
        for change in (lambda other: other.removesuffix("_l0"), lambda other: f"rnn.{other}")
    ]
    tampered += [(*rest, (name, code, other, data)) for other in ((4, 1), (1, 4), (4,), (2, 2, 1))]
    tampered += [tuple(entry for entry in file.tensors if entry[0] != gone)
                 for gone, *_ in file.tensors]  # fmt: skip
    for number, other in enumerate(tampered):
        assert verdict(path, replace(file, tensors=other)) is None, number
        assert not checked.loads(path), number
