"""Certificates of cells that were tampered with: none that is false of the model may hold.

A judge of its own runs the tampered certificate against the model itself: sampled states and inputs
of the stated sets. What holds has to be true of them.
"""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from cell_systems import good, system, verdict
from checked import source
from tampering import UNPROVED, changed, leaves, values
from window_runs import outputs

from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.convert.files import load_truncated
from rnnbounds.impl.format.tensors import decoded, digest, encoded
from rnnbounds.impl.reading.adapters import load_model

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
