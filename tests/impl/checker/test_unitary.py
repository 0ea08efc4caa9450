"""The re-checker: it needs no torch, believes nothing, and every part of it can fail."""

import json
from functools import partial

import numpy as np
import pytest
import torch
from checked import fallen as fallen_of
from checked import source
from safetensors import safe_open
from safetensors.numpy import load_file, save, save_file

from rnnbounds.impl.convert.unitary import save_unitary, unitary
from rnnbounds.impl.format.sealed import UNITARY
from rnnbounds.impl.format.tensors import contents
from rnnbounds.impl.reading.adapters import load_model

fallen = partial(fallen_of, "unitary")


def model(n=3, d=2, lam=0.9, dtype=torch.float32, seed=0):
    """Weights of a random ReLU network with ‖W‖₂ near lam."""
    draw = torch.Generator().manual_seed(seed)
    shapes = {"weight_hh": (n, n), "weight_ih": (n, d), "bias_ih": (n,), "bias_hh": (n,)}
    weights = {k: torch.randn(v, dtype=dtype, generator=draw) for k, v in shapes.items()}
    weights["weight_hh"] *= lam / float(torch.linalg.matrix_norm(weights["weight_hh"].double(), 2))
    return load_model(weights, "rnn-relu")


@pytest.fixture
def path(tmp_path):
    """A good file."""
    start = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    save_unitary(unitary(model(), inputs=1.0, initial=start), tmp_path / "u.safetensors")
    return tmp_path / "u.safetensors"


def forged(path, change=None, certify=None):
    """The file with changed weights and certificate, and with a good seal."""
    with safe_open(path, framework="numpy") as file:
        told = dict(file.metadata())
    weights, certificate = load_file(path), json.loads(told["certificate"])
    if change:
        change(weights)
    if certify:
        certify(certificate)
    told["certificate"] = json.dumps(certificate)
    told["sha256"] = UNITARY.seal(told, contents(save(weights))[0])
    save_file(weights, path, told)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 30])
@pytest.mark.parametrize("lam", [0.0, 0.5, 1 - 1e-9])
def test_good_files(tmp_path, n, lam):
    """Every certificate that is written is proved again, with and without the source."""
    for seed, dtype in enumerate((torch.float32, torch.float64, torch.bfloat16)):
        loaded = model(n, 1 + n % 3, lam * (1 if dtype == torch.float64 else 0.99), dtype, seed)
        save_unitary(unitary(loaded, inputs=2.5), tmp_path / "u")
        assert fallen(tmp_path / "u") == set()
        assert fallen(tmp_path / "u", source(loaded)) == set()


def put(name, index, value):
    """A change of one entry."""

    def change(weights):
        weights[name][index] = value

    return change


def scale(*keys, factor):
    """A certificate with one number changed."""

    def certify(certificate):
        *path, last = keys
        for key in path:
            certificate = certificate[key]
        certificate[last] *= factor

    return certify


@pytest.mark.parametrize(
    ("change", "certify", "names"),
    [
        (put("weight_hh_l0", (5, 5), 0.5), None, {"defect"}),
        (put("weight_hh_l0", (0, 0), 0.5), None, {"defect"}),
        (put("weight_ih_l0", (4, 0), 1e-300), None, {"shape"}),
        (put("bias_hh_l0", 5, 1e-9), None, {"shape"}),
        (put("bias_ih_l0", 3, 0.0), None, {"killed", "killed in float64"}),
        (put("bias_ih_l0", 4, 1.0), None, {"killed", "killed in float64"}),
        (put("bias_ih_l0", 0, 50.0), None, {"states", "computed states"}),
        (put("weight_ih_l0", (0, 0), 50.0), None, {"input norm"}),
        (None, scale("input_bound", factor=1 + 1e-6), {"states"}),
        (None, scale("constants", "W_norm", factor=2), {"contraction"}),
    ],
)
def test_every_part_can_fail(path, change, certify, names):
    """A forged file with a good seal falls, at the part that was forged."""
    forged(path, change, certify)
    assert names <= fallen(path)


def test_both_networks_round(tmp_path):
    """Of a float64 model the one that is replaced drifts as far as the one that replaces it."""
    path = tmp_path / "u"
    save_unitary(unitary(model(dtype=torch.float64), inputs=1.0), path)
    assert fallen(path) == set()
    forged(path, certify=scale("difference", "own_dtype", factor=0.75))
    assert fallen(path) == {"difference (own_dtype)"}


def test_more_states_than_needed(tmp_path):
    """W = 1/2 with two further units: not the minimal dilation, and more than 2n states."""
    made = unitary({"weight_hh": torch.tensor([[0.5]]), "weight_ih": torch.ones(1, 1)}, inputs=1.0,
                   cell="rnn-relu")  # fmt: skip
    save_unitary(made, tmp_path / "u")

    def change(weights):
        weights["weight_hh_l0"] = np.pad(weights["weight_hh_l0"], (0, 1))
        weights["weight_hh_l0"][2, 2] = 1.0
        weights["weight_ih_l0"] = np.pad(weights["weight_ih_l0"], ((0, 1), (0, 0)))
        for role in ("bias_ih_l0", "bias_hh_l0"):
            weights[role] = np.pad(weights[role], (0, 1))

    forged(tmp_path / "u", change, lambda told: told.update(states=3))
    assert "shape" in fallen(tmp_path / "u")
