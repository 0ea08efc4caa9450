"""The checker on every kind of cell: what is written is proved anew, and what is false falls."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from cell_systems import SYSTEMS, good, system, verdict
from checked import fallen_of_document, source
from tampering import UNPROVED, changed, leaves, values
from window_runs import outputs

from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.checker.truncated import check_certificate
from rnnbounds.impl.convert.files import load_truncated
from rnnbounds.impl.errors import FileError
from rnnbounds.impl.format.tensors import decoded, digest, encoded
from rnnbounds.impl.reading.adapters import load_model


@pytest.mark.slow
@pytest.mark.parametrize("which", SYSTEMS)
def test_good_files(tmp_path, which):
    """Every certificate that is written is proved again, of the source and of no other."""
    held, _ = system(which)
    file = good(tmp_path / "t", which)
    assert verdict(tmp_path / "t", file, source(held))
    other = source(held)
    role = next(iter(other.weights))
    changed = replace(other, weights=other.weights | {role: other.weights[role] * 2})
    assert verdict(tmp_path / "t", file, changed) is False


def test_boxes_that_are_left(tmp_path):
    """A box that one step leaves, one that is too long, none, and a NaN in it."""
    path = tmp_path / "t"
    file = good(path, "gru")
    box = file.certificate["box"]
    for other in ([side / 4 for side in box], [0.0] * len(box)):
        assert verdict(path, file.stating(file.certificate | {"box": other})) is False
    for other in ([*box, 1.0], box[1:], None, [], [math.nan, 1.0], "box", [[1.0], [1.0]]):
        assert verdict(path, file.stating(file.certificate | {"box": other})) is None
    wide = file.certificate | {"box": [8 * side for side in box]}
    assert not verdict(path, file.stating(wide))


def test_layers_that_are_others(tmp_path):
    """Layers that are missing, that come twice, in another order or of another kind of norm."""
    path = tmp_path / "t"
    file = good(path, "lstms")
    first, second = file.certificate["layers"]
    for other in ([first], [first, second, second], [], None, {}, [first, {}], [second, first]):
        assert verdict(path, file.stating(file.certificate | {"layers": other})) is None
    told = [first, second | {"norm": second["norm"] | {"norm": "one"}}]
    assert verdict(path, file.stating(file.certificate | {"layers": told})) is None
    assert verdict(path, file.stating(file.certificate | {"box": [1.0] * 8})) is None
    alone = good(path, "lstm")
    assert verdict(path, alone.stating(alone.certificate | {"layers": [first, second]})) is None


def test_layers_move_and_feed_one_another(tmp_path):
    """A stack contracts by no less than its cascade: λ of the worst layer alone falls. Less than
    what the layer below gives, or than what it moves, falls; other inputs of the first are none of
    the model's."""
    path = tmp_path / "t"
    file = good(path, "lstms")
    told, (first, second) = file.certificate, file.certificate["layers"]
    worst = max(layer["norm"]["lambda"] for layer in told["layers"])
    assert worst < told["lambda"]
    for lam in (worst, (worst + told["lambda"]) / 2):
        assert verdict(path, file.stating(told | {"lambda": lam})) is False
    for name in ("input_bound", "coupling"):
        less = [first, second | {name: second[name] * 0.9}]
        assert verdict(path, file.stating(told | {"layers": less})) is False
        other = [first | {name: 0.1}, second]
        assert verdict(path, file.stating(told | {"layers": other})) is None


@pytest.mark.parametrize("which", ["gru", "rnns", "deep"])
def test_whole_certificates(tmp_path, which):
    """What 'certify' writes is proved for its model, and for no other; other sizes fall."""
    held, told = system(which)
    path, whole = tmp_path / "certificate.json", told.to_dict()
    fallen = partial(fallen_of_document, path, of=source(held))
    assert fallen(whole) == set()
    further = check_certificate(path, source(held))[0]["information"]["further"]
    assert {"norms_tried", "skipped", "stable"} <= set(further)
    assert not {"lambda", "truncation", "constants.drive", "model"} & set(further)
    assert fallen(whole | {"lambda": whole["lambda"] * 0.9}) >= {"contraction"}
    for other, reason in (
        (whole | {"sha256": "0" * 64}, "of another model"),
        (whole | {"verdict": "undecided", "stable": None}, "is undecided: there is no window"),
        (whole | {"cell": "lstm"}, "of another model"),
        (whole | {"readout": {}}, "no certificate that can be checked"),
        ([], "no certificate that can be checked"),
    ):
        with pytest.raises(FileError, match=reason):
            fallen(other)


CHANGES = ("half", "zero", "negative", "huge", "NaN", "null", "text", "extra")
NEVER = ("negative", "NaN", "text", "extra")
# What is spoken of, and what nobody believes.
FREE = {"eps", "input_bound", "inputs", "weights"}


def drawn(told, d, count=64, T=30, seed=0):
    """Inputs of the stated set, large ones among them, constant and alternating."""
    draw = np.random.default_rng(seed)
    x = draw.standard_normal((count, T, d))
    x *= told["input_bound"] / np.linalg.norm(x, axis=2, keepdims=True)
    x *= draw.choice([0.0, 0.5, 1.0], (count, 1, 1))
    x[: count // 4] = x[: count // 4, :1]
    if (box := told["inputs"]) is not None:
        x = np.clip(x, box["low"], box["high"])
    return torch.tensor(x)


def true_on_samples(told, held):
    """True if what a certificate states is true of runs that were sampled, up to rounding."""
    named = {key: math.inf if v is None else v for key, v in told["constants"].items()}
    weights = {role: part.double() for role, part in held.weights.items()}
    run = partial(outputs, held.name, weights)
    x = drawn(told, held.d)
    h = run(x)
    more = drawn(told, held.d, seed=1) - x
    moved = (run(x + 1e-3 * more) - h).norm(dim=2).max()
    kept = [h.norm(dim=2).max() <= named["B_h"] * (1 + 1e-9) + 1e-12]
    kept.append(h[:, 0].norm(dim=1).max() <= named["S_0"] * (1 + 1e-9) + 1e-12)
    kept.append(moved <= named["gain"] * 1e-3 * more.norm(dim=2).max() * (1 + 1e-6) + 1e-12)
    for entry in told["truncation"]:
        k = min(entry["k"], x.shape[1])
        last = run(x[:, x.shape[1] - k :])[:, -1] if k else torch.zeros_like(h[:, -1])
        kept.append((h[:, -1] - last).norm(dim=1).max() <= entry["eps"] * (1 + 1e-9))
    return all(map(bool, kept)) and told["lambda"] < 1


@pytest.mark.slow
@pytest.mark.parametrize("which", ["lstm", "echo state", "lstms"])
def test_tampered_statements(tmp_path, which):
    """Each number of the record, its box and its layers in other forms: half as much falls, and
    what holds is true of the model."""
    path = tmp_path / "t"
    file, (held, _) = good(path, which), system(which)
    told = file.certificate
    assert true_on_samples(told, held)
    count = 0
    for place, value in leaves(told):
        if not place or place[0] in ("schema", "cell", "dtype", "sha256", "verdict"):
            continue
        if UNPROVED & set(place) or place == ("rounding", "state"):
            continue
        if which == "lstms" and 1 in place[2:]:  # one unit stands for both
            continue
        for name, other in values(place, value):
            if name not in (CHANGES if which != "lstms" else ("half", "NaN", "extra")):
                continue
            about, tampered = (place, name), changed(told, place, other)
            result = verdict(path, file.stating(tampered))
            count += 1
            if result:
                assert true_on_samples(tampered, held), about
            if name in NEVER and not (name == "negative" and (value == 0 or "inputs" in place)):
                assert result is None, about
            number = isinstance(value, int | float) and value
            if number and name in ("half", "zero") and not FREE & set(place):
                assert not result, about
    assert count > 50


@pytest.mark.slow
@pytest.mark.parametrize("which", ["lstm", "gru", "rnns"])
def test_tampered_weights(tmp_path, which):
    """Other weights with all digests in order are never the source's, and what holds is true of
    them; gates in another order, a cell of the same names, and grown weights fall."""
    path = tmp_path / "t"
    file, (held, _) = good(path, which), system(which)
    for entry in file.tensors:
        name, code, shape, data = entry
        part = decoded({"dtype": code, "shape": shape, "data": data})
        for other in (part * 16, part[::-1].copy(), np.roll(part, 1, 0), part * 0, part + np.nan):
            made = encoded(other, held.dtype)
            if made is None or np.array_equal(other, part):
                assert made is not None or np.isnan(other).any()
                continue
            told = file.certificate
            bytes_ = bytes(made["data"])
            parts = file.parts | {name: {"dtype": code, "shape": shape, "data": bytes_}}
            told["sha256"] = digest(held.name, roles(parts, held.name))
            tensors = tuple((n, p["dtype"], p["shape"], p["data"]) for n, p in parts.items())
            tampered = replace(file, tensors=tensors).stating(told)
            assert not verdict(path, tampered, source(held)), name
            if verdict(path, tampered):
                assert true_on_samples(told, load_truncated_model(path)), name
            assert verdict(path, replace(tampered, text=file.text)) is None
    for cell in ("lstm", "gru", "gru-cho", "leaky-tanh", "stacked-gru", "rnn-tanh"):
        if cell != held.name:
            told = file.certificate | {"cell": cell}
            told["sha256"] = digest(cell, roles(file.parts, cell))
            assert not verdict(path, file.stating(told).with_told(cell=cell), source(held)), cell


def roles(parts, cell):
    """The tensors by role."""
    suffix = kind_of(cell).suffix
    return {name.removesuffix(suffix): part for name, part in parts.items()}


def load_truncated_model(path):
    """The model in a file that the torch side takes, too."""
    module = load_truncated(path)
    return load_model({name: w.detach() for name, w in module.named_parameters()}, module.cell)
