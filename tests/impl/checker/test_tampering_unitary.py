"""Unitary files that were tampered with, and sealed anew: none that is false may hold."""

import json
from dataclasses import replace

import checked
import numpy as np
import pytest
import torch
from tampering import LESS, NEVER, doubled, statements, taken_apart, written
from truths import true_of_unitary

from rnnbounds.impl.convert.unitary import save_unitary, unitary
from rnnbounds.impl.format.sealed import UNITARY
from rnnbounds.impl.format.tensors import decoded, digest, encoded
from rnnbounds.impl.reading.adapters import load_model

ROLES = ("weight_hh", "weight_ih", "bias_ih", "bias_hh")
# What a certificate speaks of, rather than states: other numbers make another statement.
SPEAKS_OF = ("input_bound", "initial_state")


@pytest.fixture(params=["plain", "no biases", "bfloat16"])
def good(request, tmp_path):
    """A path, a good file that is taken apart, and its source."""
    draw = torch.Generator().manual_seed(5)
    dtype = torch.bfloat16 if request.param == "bfloat16" else torch.float32
    weights = {
        "weight_hh": torch.tensor([[0.5, -0.25], [0, 0.5]]),
        "weight_ih": torch.randn(2, 1, generator=draw),
    }
    if request.param != "no biases":
        weights |= {role: torch.randn(2, generator=draw) for role in ("bias_ih", "bias_hh")}
    held = load_model({role: part.to(dtype) for role, part in weights.items()}, "rnn-relu")
    start = torch.tensor([1.0, -2.0], dtype=torch.float64)
    path = tmp_path / "u"
    save_unitary(unitary(held, inputs=1.5, initial=start), path)
    return path, taken_apart(path.read_bytes()), checked.source(held)


def verdict(path, file, of=None):
    """Of the file, sealed anew; see `checked`."""
    return checked.verdict("unitary", path, written(file, UNITARY.seal), of)


def tensors(file):
    """V, U and both biases."""
    return [decoded(file.parts[f"{role}_l0"]) for role in ROLES]


@pytest.mark.slow
def test_statements(good):
    """Each statement in all its tampered forms: what holds is true, and what is less falls."""
    path, file, source = good
    assert verdict(path, file, source)
    assert true_of_unitary(file.certificate, *tensors(file))
    count = 0
    for place, name, tampered in statements(file):
        held = verdict(path, tampered, source)
        count += 1
        about = (place, name)
        if place and place[0] == "information":
            assert held is (None if name == "extra" or name.startswith("twice") else held), about
            continue
        if held:
            assert true_of_unitary(tampered.certificate, *tensors(file)), about
        if name.startswith("twice") or name in NEVER:
            assert held is None, about
        if name in LESS and place[0] not in SPEAKS_OF:
            nothing = at(file, place) < 1e-200  # room for rounding where there is none
            assert not held or nothing or at(tampered, place) >= at(file, place), about
    assert count > 350


def at(file, place):
    """A number of the certificate."""
    told = file.certificate
    for key in place:
        told = told[key]
    return told


def test_weights(good):
    """Other weights with a good seal, with the old digest and with their own."""
    path, file, source = good
    for number, (name, code, shape, _) in enumerate(file.tensors):
        part = decoded(file.parts[name])
        for other in (part * 1.5, -part, part[::-1].copy(), part * 0, np.nextafter(part, 9)):
            if np.array_equal(part, other):
                continue
            data = bytes(encoded(other, "float64")["data"])
            listed = [*file.tensors]
            listed[number] = (name, code, shape, data)
            tampered = replace(file, tensors=tuple(listed))
            held = verdict(path, tampered, source)
            if held:  # of the further units alone, of which the source knows nothing
                assert true_of_unitary(file.certificate, *tensors(tampered)), name
                assert name in ("bias_ih_l0", "weight_hh_l0"), name


def test_digests(good):
    """The digest, the dtype and the cell of another source."""
    path, file, source = good
    told = file.certificate
    n = told["shape"]["n"]
    parts = {role: encoded(part, source.dtype) for role, part in source.weights.items()}
    assert told["sha256"] == digest("rnn-relu", parts)
    parts["weight_hh"] = encoded(source.weights["weight_hh"] * 0.5, source.dtype)
    for other in (digest("rnn-relu", parts), digest("rnn-tanh", parts), "", "0" * 64):
        assert verdict(path, file.stating(told | {"sha256": other})) is False
    for dtype in ("float64", "float16"):
        changed = told | {"dtype": dtype}
        assert verdict(path, file.stating(changed)) is False
        parts = {role: encoded(part, dtype) for role, part in source.weights.items()}
        if None not in parts.values():
            changed["sha256"] = digest("rnn-relu", parts)
            assert not verdict(path, file.stating(changed), source)
    assert n == 2
    for cell in ("rnn-tanh", "linear", "rnn-leaky-relu"):
        assert verdict(path, file, replace(source, cell=cell)) is False
        assert verdict(path, file.with_told(cell=cell)) is None


def test_metadata_and_tensors(good):
    """Other metadata, missing, further and twice; further tensors, and some that come twice."""
    path, file, _ = good
    told = file.certificate
    tampered = [file.with_told(**change) for change in (
        {"cell": ""}, {"cell": None}, {"format": None}, {"format": "rnnbounds/unitary/1"},
        {"k": "1"},
    )]  # fmt: skip
    tampered += [replace(file, told=((name, value), *file.told)) for name, value in file.told]
    tampered += [replace(file, text=text) for text in (
        json.dumps(told, indent=1), file.text + " ", "", "{", "[" * 10**5, "null",
    )]  # fmt: skip
    tampered += [replace(file, text=doubled(told, (key,), "0.1")) for key in told]
    name, code, shape, data = file.tensors[0]
    for other in ("weight_hh", "weight_hh_l1", "bias", name):
        tampered.append(replace(file, tensors=(*file.tensors, (other, code, shape, data))))
        tampered.append(replace(file, tensors=((other, code, shape, data), *file.tensors[1:])))
    for number, other in enumerate(tampered):
        same = other.tensors == file.tensors and other.told == file.told and other.text == file.text
        assert same or verdict(path, other) is None, number
