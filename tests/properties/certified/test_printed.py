"""Nothing printed unjudged: every number of every document that the product prints has a quantity
that some claim judges, read from the very object that is printed."""

import json
import math
from typing import Any

import pytest
import torch
from msgspec.structs import replace
from printed import (
    ATTACK,
    CERTIFY,
    CONSTANTS,
    EXCEPTIONS,
    MEND,
    SHARE,
    UNITARY_FILE,
    numbers,
    strangers,
)

from rnnbounds.impl.cells.stacks.stack import PREFIX
from rnnbounds.impl.cells.table import CELLS, kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.record import Certificate
from rnnbounds.impl.checker.unitary import check
from rnnbounds.impl.convert.truncate import truncate
from rnnbounds.impl.convert.unitary import save_unitary
from rnnbounds.properties.measures.certified.share_used import model_point
from rnnbounds.properties.measures.certified.shares import RECOMPUTATIONS, recomputed_constants
from rnnbounds.properties.systems.batch import build_batch
from rnnbounds.properties.systems.certified.constants import CERTIFICATE_READERS, UNITARY_READERS
from rnnbounds.properties.systems.certified.models import (
    certified_model,
    epsilon_index,
    unitary_network,
)
from rnnbounds.properties.systems.certified.specs import COMMON, RARE_CELLS
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import make_spec
from rnnbounds.theory import CLAIMS
from rnnbounds.theory.claims.certificate.certificate import CERTIFICATE
from rnnbounds.theory.language.vocabulary import VOCABULARY
from rnnbounds.theory.proof import Claim


def spec_of(cell: str, norm: str = "auto", **fields: Any) -> SystemSpec:
    """A small model of the kind."""
    deep = cell.startswith((PREFIX, "deep-"))
    return make_spec(
        "certified", cell=cell, norm=norm, regime="driven", n=2, T=4, K=4, lam=0.125,
        bias=0.5, seed=3, layers=2 if deep else 1, dtype="float32", **fields,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("cell", [*COMMON, *RARE_CELLS])
def test_every_number_of_a_certificate(cell: str) -> None:
    """Of a model of each kind, in the best norm; and JSON has each number of the object."""
    _, certificate = certified_model(spec_of(cell), 0)
    document = certificate.to_json()
    assert certificate.verdict == "certified"
    assert strangers(document, CERTIFY) == []
    told = {value for _, value in numbers(document)}
    held = (value for _, value in numbers([list(vars(certificate).values())]))
    assert {v for v in held if math.isfinite(v)} <= told


@pytest.mark.parametrize("over", ["box", "rows"])
def test_sets_of_inputs(over: str) -> None:
    """The ends of a box, and what else is printed of a set, are judged."""
    spec = spec_of("rnn-tanh", over=over)
    _, certificate = certified_model(spec, 0)
    assert certificate.inputs is not None
    assert strangers(certificate.to_json(), CERTIFY) == []
    used = recomputed_constants(model_point(build_batch(replace(spec, member=0)), 0, 0))
    assert "inputs 0" in used


@pytest.mark.slow
@pytest.mark.parametrize("cell", COMMON)
def test_every_norm(cell: str) -> None:
    """Each offered norm prints true numbers, and its λ stands among those tried, with its k."""
    spec = spec_of(cell)
    _, best = certified_model(spec, 0)
    tried = {name: (lam, k) for name, lam, k in best.tried}
    for norm in kind_of(cell).norms:
        _, one = certified_model(spec_of(cell, norm), 0)
        assert strangers(one.to_json(), CERTIFY) == []
        if norm in tried:
            smallest = min(one.windows)[1] if one.verdict == "certified" else None
            assert (one.lam, smallest) == tried[norm]


def spoken_of(claim: Claim) -> set[str]:
    """The names in what the forms of a claim state and assume."""
    return {
        symbol.name
        for form in claim.forms
        for statement in (
            form.statement,
            *(a.condition for a in form.assumptions if a.condition is not None),
        )
        for symbol in statement.symbols
    }


def test_the_quantities_are_judged() -> None:
    """Each is in the vocabulary, and a form of the claim speaks of it."""
    spoken = spoken_of(CERTIFICATE)
    assert {*CERTIFY.values(), *UNITARY_FILE.values(), *ATTACK.values()} <= spoken & set(VOCABULARY)
    assert {*CERTIFICATE_READERS, *UNITARY_READERS} <= spoken | {"beta_rho"}
    assert CERTIFICATE in CLAIMS
    assert len(EXCEPTIONS) <= 6


def of_place(certificate: Certificate, place: str) -> float | None:
    """The number that is printed there."""
    value: Any = certificate.to_json()
    for name in place.split("."):
        value = value.get(name)
    return value


@pytest.mark.parametrize("cell", COMMON)
def test_what_is_judged_is_what_is_printed(cell: str) -> None:
    """To the last bit: from the certificate, and not computed again."""
    spec = spec_of(cell, member=0)
    batch = build_batch(spec)
    _, certificate = certified_model(spec, 0)
    constants = certificate.to_json()["constants"]
    for place, name in CERTIFY.items():
        if place in ("lambda", "rounding.state") or place.removeprefix("constants.") in constants:
            told = of_place(certificate, place)
            if name != SHARE:
                read = batch.constant(name).hi.item()
                assert read == (math.inf if told is None else told), place
    window = certificate.to_json()["truncation"][epsilon_index(spec, 0)]
    assert batch.constant("eps_told").hi.item() == window["eps"]
    assert batch.constant("k_told").hi.item() == window["k"]
    used = recomputed_constants(model_point(batch, 0, 0))
    own = {name for name, value in constants.items() if value is not None and "_l" not in name}
    assert own & set(RECOMPUTATIONS) <= set(used)
    assert all(told == constants[name] for name, (_, told) in used.items() if name in own)


def test_a_readout() -> None:
    """ε of what is read from the state: the norm, and how many numbers that are."""
    eye = torch.eye(2)
    tensors = {"weight_hh_l0": eye / 2, "weight_ih_l0": eye, "out.weight": eye.repeat(2, 1)}
    document = certify(tensors, 1.0, cell="rnn-tanh", readout="out").to_json()
    assert document["readout"]["norm"] > 0
    assert strangers(document, CERTIFY) == []


@pytest.mark.parametrize("over", ["ball", "box", "rows"])
def test_an_attack(over: str) -> None:
    """Attack numbers of a model are read as shares of what is certified."""
    p = model_point(build_batch(spec_of("gru", over=over)), 0, 0)
    assert p.attack is not None
    assert strangers(p.attack.to_json(), ATTACK) == []
    assert {"k 0", "gap 0", "eps 0", "witness 0"} <= set(recomputed_constants(p))


def test_a_truncated_model() -> None:
    """Its record says what the certificate says, and no more; k is that of the certificate."""
    model, certificate = certified_model(spec_of("rnn-tanh"), 0)
    epsilon, k = certificate.windows[0]
    module, record = truncate(model, epsilon, certificate.input_bound)
    assert strangers(record, CERTIFY) == []
    assert module.k == record["truncation"][0]["k"] == k


def test_a_unitary_network(tmp_path: Any) -> None:
    """The certificate of its file, and what the checker finds of it."""
    spec = spec_of("rnn-relu")
    made = unitary_network(spec, 0)
    assert made is not None
    assert strangers(made.certificate, UNITARY_FILE) == []
    for name, read in UNITARY_READERS.items():
        assert read(made) in {value for _, value in numbers(made.certificate)}, name
    save_unitary(made, tmp_path / "unitary.safetensors")
    certificate, findings = check(tmp_path / "unitary.safetensors", None)
    assert strangers(certificate, UNITARY_FILE) == []
    assert strangers({"findings": [vars(found) for found in findings]}, UNITARY_FILE) == []


def test_layers_are_told_as_their_constants_are() -> None:
    """To the last bit, so that what judges the constants judges what the checker is told."""
    told = certified_model(spec_of("stacked-lstm"), 0)[1].to_json()
    for l, layer in enumerate(told["layers"]):
        names = {(layer["norm"][place], name) for place, name in CONSTANTS.items()}
        for value, name in names | {(layer["coupling"], "mu"), (layer["input_bound"], "B_x")}:
            assert value == told["constants"][f"{name}_l{l}"], name


def test_a_refutation() -> None:
    """A model that is refuted prints a witness, and no constant that is not judged."""
    model = {"weight_hh_l0": torch.tensor([[1.5]]), "weight_ih_l0": torch.tensor([[1.0]])}
    document = certify(model, 1.0, cell="linear").to_json()
    assert document["verdict"] == "refuted"
    assert strangers(document, CERTIFY) == []


def test_a_new_number_is_noticed() -> None:
    """A constant that nobody judges fails with what to do about it."""
    document = certified_model(spec_of("gru"), 0)[1].to_json()
    document["constants"]["memory_most"] = 3.0
    document["bonus"] = [{"score": 1}]
    told = strangers(json.loads(json.dumps(document)), CERTIFY)
    assert told == [MEND.format("constants.memory_most"), MEND.format("bonus[].score")]


def test_every_kind_is_drawn() -> None:
    """All cells that can be named."""
    assert set(CELLS) <= {*COMMON, *RARE_CELLS}
