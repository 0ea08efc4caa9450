"""Gain and rounding are the least of all norms that certify, and are proved in their own norm."""

import json
from copy import deepcopy

import pytest
from cell_systems import SYSTEMS, weights_of

from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.checker.truncated import check_certificate
from rnnbounds.impl.checker.unitary import Source
from rnnbounds.impl.convert.files import load_truncated, save_truncated
from rnnbounds.impl.convert.truncate import truncate
from rnnbounds.impl.errors import FileError
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.reading.adapters import load_model

CELLS = {
    **{which: SYSTEMS[which][::2] for which in ("lstm", "deep", "grus")},
    "cho": ("gru-cho",), "tanh": ("rnn-tanh",), "rnns": ("stacked-rnn-tanh",),
}  # fmt: skip
# With weights of which a norm says more of the gain than the units do, and another norm of windows.
PROVED = {"tanh": (1.0, 4), "deep": (1.0, 4), "rnns": (1.0, 8)}


def model(which: str, scale: float = 0.25, n: int = 4) -> LoadedModel:
    """A model of that cell; stacks of two layers."""
    cell, *names = CELLS[which]
    layers = 2 if cell.startswith("stacked-") else 1
    return load_model(weights_of(cell, *names, layers=layers, n=n, scale=scale), cell)


@pytest.mark.parametrize(
    "which", [w if w != "grus" else pytest.param(w, marks=pytest.mark.slow) for w in CELLS]
)
def test_no_norm_has_less(which):
    """Each norm alone certifies no smaller gain and no smaller bound on rounding."""
    held = model(which)
    found = certify(held, inputs=1.0)
    alone = [certify(held, inputs=1.0, norm=norm) for norm, lam, _ in found.tried if lam < 1]
    assert found.constants["gain"] == min(one.constants["gain"] for one in alone)
    assert found.rounding.state == min(one.rounding.state for one in alone)
    others = found.to_json().get("other_norms", {})
    assert ("gain" in others) == (found.constants["gain"] < certify_in(held, found.norm, "gain"))
    assert all(one["norm"] != found.norm for one in others.values())


def certify_in(held: LoadedModel, norm: str, constant: str) -> float:
    """A constant in that norm."""
    return certify(held, inputs=1.0, norm=norm).constants[constant]


def source(held: LoadedModel) -> Source:
    """The weights as a checker takes them."""
    weights = {role: part.double().numpy() for role, part in held.weights.items()}
    return Source(held.name, held.dtype, weights)


def verdict(path, held: LoadedModel, document) -> bool:
    """True if each part of the document is proved; a document that is refused is not."""
    path.write_text(json.dumps(document))
    try:
        _, found = check_certificate(path, source(held))
    except FileError:
        return False
    return all(one.holds for one in found)


@pytest.mark.parametrize("which", PROVED)
def test_proved_in_their_own_norm(which, tmp_path):
    """The file of the model is read, and what it states of other norms is proved, by name."""
    held, path = model(which, *PROVED[which]), tmp_path / "c.json"
    document = certify(held, inputs=1.0).to_json()
    path.write_text(json.dumps(document))
    names = {one.name for one in check_certificate(path, source(held))[1]}
    assert {"gain", "gain: contraction", "gain: equivalence", "gain: states"} <= names
    assert ("rounding: contraction" in names) == (which == "tanh")
    assert verdict(path, held, document)
    module, record = truncate(held, eps=1e-2, inputs=1.0)
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
    held, path = model(which, *PROVED[which]), tmp_path / "c.json"
    document = certify(held, inputs=1.0).to_json()
    assert not verdict(path, held, less(document, "constants", "gain"))
    for constant in document["other_norms"] if which == "tanh" else ["gain"]:
        other = document["other_norms"][constant]
        tight = ["drive", "equivalence", "reach"]
        tight += [name for name in ("lambda", "B_h") if other["layers"] is None]
        if which == "deep":  # of which a checker proves a smaller factor
            tight.remove("lambda")
        for name in tight:
            assert not verdict(path, held, less(document, "other_norms", constant, name)), name
        if other["layers"] is not None:
            changed = less(document, "other_norms", constant, "layers", 0, "norm", "lambda")
            assert not verdict(path, held, changed)
    if which == "tanh":
        assert not verdict(path, held, less(document, "rounding", "state"))


@pytest.mark.parametrize("which", ["tanh", "rnns"])
def test_other_norms_of_another_form_are_refused(which, tmp_path):
    """Without the norm of its own the gain is not proved; keys and constants are those of the
    format."""
    held, path = model(which, *PROVED[which]), tmp_path / "c.json"
    document = certify(held, inputs=1.0).to_json()
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
