"""Gain and rounding are the least of all norms that certify, and are proved in their own norm."""

import itertools
import json
import math
from copy import deepcopy

import pytest
from cell_systems import SYSTEMS, weights_of

from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.checker.truncated import check_certificate
from rnnbounds.impl.checker.unitary import Source
from rnnbounds.impl.convert.files import load_truncated, save_truncated
from rnnbounds.impl.convert.truncate import truncate, unrolled
from rnnbounds.impl.errors import at_least
from rnnbounds.impl.format.text import strict
from rnnbounds.impl.format.truncated import CertificateFileError
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.reading.adapters import load_model

CELLS = {
    **{which: (cell, *names) for which, (cell, _, *names) in SYSTEMS.items()},
    "tanh": ("rnn-tanh",),
    "relu": ("rnn-relu",),
}
PROVED = ["tanh", "lstm", "gru", "lstms", "rnns", "grus"]


def model(which: str, scale: float = 0.25, n: int = 4) -> LoadedModel:
    """A model of that cell; stacks of two layers."""
    cell, *names = CELLS[which]
    layers = 2 if cell.startswith("stacked-") else 1
    return load_model(weights_of(cell, *names, layers=layers, n=n, scale=scale), cell)


@pytest.mark.parametrize("which", CELLS)
def test_no_norm_has_less(which):
    """Each norm alone certifies no smaller gain and no smaller bound on rounding."""
    held = model(which)
    found = certify(held, 1.0)
    alone = [certify(held, 1.0, norm=norm) for norm, lam, _ in found.tried if lam < 1]
    assert found.constants["gain"] == min(one.constants["gain"] for one in alone)
    assert found.rounding == min(one.rounding for one in alone)
    others = found.to_json().get("other_norms", {})
    assert ("gain" in others) == (found.constants["gain"] < certify_in(held, found.norm, "gain"))
    assert all(one["norm"] != found.norm for one in others.values())


def certify_in(held: LoadedModel, norm: str, constant: str) -> float:
    """A constant in that norm."""
    return certify(held, 1.0, norm=norm).constants[constant]


@pytest.mark.parametrize("which", ["tanh", "relu", "lstm", "gru"])
def test_smaller_recurrent_weights_never_print_more(which):
    """Gain and rounding as they are printed, of recurrent weights times less and less."""
    weights = model(which, n=3).weights
    printed = []
    for power in range(0, 16, 3):
        smaller = {
            role: part * (0.9**power if role == "weight_hh" else 1.0)
            for role, part in weights.items()
        }
        found = certify(load_model(smaller, CELLS[which][0]), 1.0)
        assert found.verdict == "certified"
        printed.append(
            [float(at_least(size)) for size in (found.constants["gain"], found.rounding)]
        )
    for before, after in itertools.pairwise(printed):
        assert all(new <= old for old, new in zip(before, after, strict=True))


def test_none_where_none_certifies():
    """An undecided model states no norm of a gain."""
    found = certify(model("tanh", scale=8.0), 1.0)
    assert found.verdict != "certified"
    assert found.constants["gain"] == math.inf
    assert "other_norms" not in found.to_json()


def source(held: LoadedModel) -> Source:
    """The weights as a checker takes them."""
    weights = {role: part.double().numpy() for role, part in held.weights.items()}
    return Source(held.name, held.dtype, weights)


def verdict(path, held: LoadedModel, document) -> bool:
    """True if each part of the document is proved; a document that is refused is not."""
    path.write_text(json.dumps(document))
    try:
        _, found = check_certificate(path, source(held))
    except CertificateFileError:
        return False
    return all(one.holds for one in found)


@pytest.mark.parametrize("which", PROVED)
def test_proved_in_their_own_norm(which, tmp_path):
    """The file of the model is read, and what it states of other norms is proved, by name."""
    held, path = model(which), tmp_path / "c.json"
    document = certify(held, 1.0).to_json()
    path.write_text(json.dumps(document))
    names = {one.name for one in check_certificate(path, source(held))[1]}
    assert {"gain", "gain: contraction", "gain: equivalence", "gain: states"} <= names
    assert ("rounding: contraction" in names) == (which == "tanh")
    assert verdict(path, held, document)
    module, record = truncate(held, 1e-2, 1.0)
    assert record["other_norms"].keys() == {"gain", *(["rounding"] if which == "tanh" else [])}
    save_truncated(module, record, tmp_path / "short.safetensors")
    assert load_truncated(tmp_path / "short.safetensors").k == module.k


def less(document, *path: str | int):
    """The document with that number a thousandth less."""
    changed = deepcopy(document)
    *way, last = path
    inner = changed
    for key in way:
        inner = inner[key]
    inner[last] *= 1 - 1e-3
    return changed


@pytest.mark.parametrize("which", PROVED)
def test_no_number_of_the_other_norm_can_be_less(which, tmp_path):
    """The gain, and each constant of its norm that bounds something from above."""
    held, path = model(which), tmp_path / "c.json"
    document = certify(held, 1.0).to_json()
    assert not verdict(path, held, less(document, "constants", "gain"))
    for constant in document["other_norms"] if which == "tanh" else ["gain"]:
        other = document["other_norms"][constant]
        tight = ["drive", "equivalence", "reach"]
        tight += [name for name in ("lambda", "B_h") if other["layers"] is None]
        for name in tight:
            assert not verdict(path, held, less(document, "other_norms", constant, name)), name
        if other["layers"] is not None:
            changed = less(document, "other_norms", constant, "layers", 0, "norm", "lambda")
            assert not verdict(path, held, changed)
    if which == "tanh":
        assert not verdict(path, held, less(document, "rounding", "state"))


@pytest.mark.parametrize("which", ["tanh", "lstms"])
def test_other_norms_of_another_form_are_refused(which, tmp_path):
    """Without the norm of its own the gain is not proved; keys and constants are those of the
    format."""
    held, path = model(which), tmp_path / "c.json"
    document = certify(held, 1.0).to_json()
    gain = document["other_norms"]["gain"]
    for others in (
        None,
        {},
        {"gain": None},
        {"gain": []},
        {"B_h": gain},
        {"gain": gain | {"more": 1}},
        {"gain": {key: value for key, value in gain.items() if key != "drive"}},
        {"gain": gain | {"norm": "perron"}},
        {"gain": gain | {"lambda": 1.0}},
        {"gain": gain | {"layers": [] if gain["layers"] else [gain]}},
        [],
    ):
        assert not verdict(path, held, document | {"other_norms": others}), others


@pytest.mark.parametrize("which", ["tanh", "lstm", "lstms"])
def test_a_certificate_without_them_is_proved_as_ever(which, tmp_path):
    """As each was before, with the gain of the norm of its windows."""
    held = model(which)
    norm = certify(held, 1.0).norm
    document = certify(held, 1.0, norm=norm).to_json()
    assert "other_norms" not in document
    assert verdict(tmp_path / "c.json", held, document)


def test_files_of_old_certificates_load(tmp_path):
    """A record without the key is read as ever, and written without it."""
    held = model("tanh")
    whole = certify(held, 1.0, 1e-2, "spectral")
    path = tmp_path / "short.safetensors"
    save_truncated(unrolled(held, whole.window(1e-2)), whole, path)
    header = path.read_bytes()
    kept = strict(header[8 : 8 + int.from_bytes(header[:8], "little")].decode())
    assert "other_norms" not in kept["__metadata__"]["certificate"]
    assert load_truncated(path).k == whole.window(1e-2)
