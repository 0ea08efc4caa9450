"""The checker of unitary files: it needs no torch, believes nothing, and each part can fail."""

import json
import math
from dataclasses import replace
from functools import partial

import checked
import numpy as np
import pytest
import torch
from checked import fallen as fallen_of
from checked import source
from flint import arb, arb_mat, ctx, fmpq
from safetensors import safe_open
from safetensors.numpy import load_file, save, save_file
from tampering import LESS, NEVER, doubled, statements, taken_apart, written
from truths import true_of_unitary

from rnnbounds.impl.checker.definite import below, norm_at_most
from rnnbounds.impl.checker.unitary_bounds import (
    DTYPES,
    Machine,
    System,
    computed_bound,
    drift,
    slack,
    state_bound,
    stays_off,
)
from rnnbounds.impl.convert.unitary import save_unitary, unitary
from rnnbounds.impl.format.sealed import UNITARY
from rnnbounds.impl.format.tensors import contents, decoded, digest, encoded
from rnnbounds.impl.numbers.ball_functions import float_above
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


@pytest.mark.parametrize(
    ("name", "index", "value", "names"),
    [
        ("weight_hh_l0", (5, 5), 0.5, {"defect"}),
        ("weight_hh_l0", (0, 0), 0.5, {"defect"}),
        ("weight_ih_l0", (4, 0), 1e-300, {"shape"}),
        ("bias_hh_l0", 5, 1e-9, {"shape"}),
        ("bias_ih_l0", 3, 0.0, {"killed", "killed in float64"}),
        ("bias_ih_l0", 4, 1.0, {"killed", "killed in float64"}),
        ("bias_ih_l0", 0, 50.0, {"states", "computed states"}),
        ("weight_ih_l0", (0, 0), 50.0, {"input norm"}),
    ],
)
def test_each_weight_can_fail(path, name, index, value, names):
    """A forged file with a good seal falls, at the part that was forged."""

    def change(weights):
        weights[name][index] = value

    forged(path, change)
    assert names <= fallen(path)


def test_both_networks_round(tmp_path):
    """Of a float64 model the one that is replaced drifts as far as the one that replaces it."""
    path = tmp_path / "u"
    save_unitary(unitary(model(dtype=torch.float64), inputs=1.0), path)
    assert fallen(path) == set()

    def less(told):
        told["difference"]["own_dtype"] *= 0.75

    forged(path, certify=less)
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


def test_dtypes_are_torch():
    """The table of dtypes, which the checker holds without torch, is torch's."""
    for name, numbers in DTYPES.items():
        info = torch.finfo(getattr(torch, name))
        assert numbers == (info.eps / 2, info.tiny, info.max)


def test_norms_by_pivots():
    """‖A‖₂ ≤ s is proved just above the norm and not below it, at any size and scale."""
    draw = torch.Generator().manual_seed(0)
    for shape in ((1, 1), (1, 4), (4, 1), (3, 3), (5, 2), (2, 5), (40, 40)):
        A = torch.randn(shape, dtype=torch.float64, generator=draw)
        s = float(torch.linalg.matrix_norm(A, 2))
        for power in (0, -300, 300):
            rows = [[fmpq(*(v * 2.0**power).as_integer_ratio()) for v in r] for r in A.tolist()]
            assert norm_at_most(rows, s * 2.0**power * (1 + 1e-12))
            assert not norm_at_most(rows, s * 2.0**power * (1 - 1e-12))
    assert norm_at_most([[fmpq(0)] * 2] * 2, 0.0)
    assert norm_at_most([[fmpq(3), fmpq(4)]], 5.0)
    assert not below(arb_mat([[1, 0], [0, 1]]), arb(1))
    assert not below(arb_mat([[arb.nan()]]), arb(1))


def test_constants():
    """B_h is exact where it is dyadic; NaN, which becomes infinity, where nothing is known."""
    system = System(0.5, 1.0, 0.5, 1.0, 0.0, 0.0)
    assert float_above(state_bound(system)) == 2.0
    assert float_above(state_bound(System(0.5, 1.0, 0.5, 1.0, 0.0, 7.0))) == 7.0
    assert float_above(state_bound(System(1.0, 1.0, 1.0, 1.0, 0.0, 0.0))) == math.inf
    machine = Machine(4, 1)
    computed = computed_bound(system, machine)
    assert 2 < computed < 2 * (1 + 1e-14)
    assert 0 < drift(system, machine, computed) < 1e-14
    assert float_above(computed_bound(System(1 - 2.0**-53, 1, 1, 1, 0, 0), machine)) == math.inf
    assert float_above(computed_bound(system, Machine(10**6, 1, roundoff=2.0**-11))) == math.inf
    assert float_above(drift(system, Machine(4, 1, largest=2.0), computed)) == math.inf


def test_units_stay_off():
    """At equality in real arithmetic, and with room for rounding on a machine."""
    row, states, machine = arb(0.5), arb(2), Machine(4, 1)
    assert stays_off(row, states, arb(-1), None)
    assert not stays_off(row, states, arb(-1 + 2.0**-53), None)
    assert not stays_off(row, states, arb(-1), machine)
    assert stays_off(row, states, arb(-1 - 2.0**-48), machine)
    with ctx.workprec(256):  # b₂ is rounded as well
        assert not stays_off(row, states, arb(-1 - 4 * 2.0**-52), machine)
        assert stays_off(row, states, arb(-1 - 5 * 2.0**-52), machine)
    assert not stays_off(arb(0), states, arb(-(2.0**-1022)), machine)  # four terms may underflow
    assert stays_off(arb(0), states, arb(-5 * 2.0**-1022), machine)
    assert not stays_off(row, states, arb.nan(), None)


def test_what_underflow_adds():
    """Four terms of three units: twelve of the least normal number; and a drift of that where
    nothing else is rounded."""
    machine = Machine(4, 3, roundoff=0.0)
    assert machine.eta == arb(12) * arb(2.0**-1022)
    still = System(0.5, 0.0, 0.0, 0.0, 0.0, 0.0)
    assert drift(still, machine, arb(0)) == 2 * machine.eta
    grown = System(0.5, 1.0, 0.5, 1.0, 0.0, 0.0)  # sums of 0.5 · 2 + 1
    assert float_above(drift(grown, Machine(4, 1, largest=3.9), arb(2))) == math.inf
    assert float_above(drift(grown, Machine(4, 1, largest=4.1), arb(2))) < 1e-14


def test_slack_is_rounded_up() -> None:
    """(1 + γ)/(1 − γ) and η/(1 − γ) of any number of terms, at least, and hardly more."""
    with ctx.workprec(256):
        for terms in range(1, 200):
            machine = Machine(terms, terms, *DTYPES["float32"])
            gamma = machine.gamma
            exact = (1 + gamma) / (1 - gamma), arb(machine.underflow) / (1 - gamma)
            for found, wanted in zip(slack(machine), exact, strict=True):
                assert wanted <= arb(found) <= wanted * (1 + arb(2) ** -50)


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
