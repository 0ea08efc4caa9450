"""Certificates read from their files: the same document, the same numbers, and lines for damage."""

import json
from dataclasses import replace

import pytest
import torch
from cell_systems import SYSTEMS, weights_of
from stack_draws import net

import rnnbounds
from rnnbounds.impl.arithmetic.inputs.sets import input_box, input_rows
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.convert.files import load_certificate
from rnnbounds.impl.models.loaded import LoadedModel
from rnnbounds.impl.reading.adapters import load_model

EPSILONS = (1e-2, 1e-4)


def loaded(cell: str, names: tuple[str, ...] = (), scale: float = 0.25) -> LoadedModel:
    """A small model of that cell; stacks of two layers."""
    layers = 2 if cell.startswith("stacked-") else 1
    return load_model(weights_of(cell, names, layers=layers, scale=scale), cell)


def scalar(weight: float, cell: str) -> LoadedModel:
    """One unit without biases."""
    weights = {"weight_hh": torch.tensor([[weight]]), "weight_ih": torch.tensor([[1.0]])}
    return load_model(weights, cell)


def latched() -> LoadedModel:
    """An LSTM whose forget gate may round to 1 in bfloat16."""
    parts = {"weight_hh": [[0.0]] * 4, "weight_ih": [[0.125]] * 4, "bias_ih": [0.0, 7.0, 0.0, 0.0]}
    weights = {name: torch.tensor(part).bfloat16() for name, part in parts.items()}
    return load_model(weights, "lstm")


def readout() -> torch.nn.Module:
    """A GRU with a linear readout."""
    return torch.nn.ModuleDict({"rnn": net("gru", 1), "head": torch.nn.Linear(5, 2)})


CASES = {
    name: lambda cell=cell, norm=norm, names=names: certify(
        loaded(cell, *names), inputs=1.0, eps=EPSILONS, norm=norm
    )
    for name, (cell, norm, *names) in SYSTEMS.items()
} | {
    "every norm": lambda: certify(loaded("rnn-tanh"), inputs=1.0, eps=EPSILONS),
    "a box": lambda: certify(loaded("gru"), inputs=input_box(-0.5, 1, 1), eps=EPSILONS),
    "rows": lambda: certify(
        loaded("gru"), inputs=input_rows(torch.tensor([[0.5], [-1.0]])), eps=EPSILONS
    ),
    "a readout": lambda: certify(readout(), inputs=1.0, eps=EPSILONS, readout="head"),
    "eigenvalue": lambda: certify(scalar(1.5, "linear"), inputs=1.0, eps=EPSILONS),
    "orbits": lambda: certify(scalar(3.0, "rnn-tanh"), inputs=1.0, eps=EPSILONS),
    "growth": lambda: certify(scalar(1.5, "rnn-relu"), inputs=0.0, eps=EPSILONS),
    "a gated cell refuted": lambda: certify(net("lstm", 1, scale=40.0), inputs=1.0, eps=EPSILONS),
    "undecided": lambda: certify(net("lstm", 1, scale=2.0), inputs=1.0, eps=EPSILONS),
    "undecided, with a reason": lambda: certify(latched(), inputs=1.0, eps=EPSILONS),
    "no witness was sought": lambda: certify(
        {"weight_hh": 1.5 * torch.eye(257), "weight_ih": torch.ones(257, 1)},
        inputs=1.0,
        eps=EPSILONS,
        norm="infinity",
        cell="rnn-tanh",
    ),
    "no bound is finite": lambda: certify(scalar(0.5, "linear"), inputs=1e308, eps=EPSILONS),
}
KNOWN: dict[str, rnnbounds.Certificate] = {}


def made(case: str) -> rnnbounds.Certificate:
    """Its certificate."""
    if case not in KNOWN:
        KNOWN[case] = CASES[case]()
    return KNOWN[case]


def written(path, document) -> str:
    """The path of a file with the document."""
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return str(path)


@pytest.mark.parametrize("case", CASES)
def test_round_trip(case, tmp_path):
    """The document comes back unchanged, and so does each field that JSON holds."""
    certificate = made(case)
    document = certificate.to_json()
    again = load_certificate(written(tmp_path / "c.json", document))
    assert type(again) is rnnbounds.Certificate
    assert again.to_json() == document
    assert again.next_steps == certificate.next_steps
    assert (again.reason, str(again)) == (certificate.reason, str(certificate))
    assert again.witness == certificate.witness
    assert again._repr_html_() == certificate._repr_html_()
    assert [again.window(eps) for eps in EPSILONS] == [k for _, k in certificate.windows]
    rebuilt = replace(again, document=None).to_json()
    unheld = {"next"} | ({"inputs"} if case == "rows" else set())
    assert {key for key in document if rebuilt.get(key) != document[key]} <= unheld


@pytest.mark.parametrize("case", ["gru", "lstms", "rnns", "every norm", "a box"])
def test_of_a_truncated_model(case, tmp_path):
    """The record of its file, as a certificate; the file can be written again with it."""
    models = {"every norm": "rnn-tanh", "a box": "gru"}
    model = loaded(models.get(case) or SYSTEMS[case][0])
    inputs = input_box(-0.5, 1, 1) if case == "a box" else 1.0
    module, record = rnnbounds.truncate(model, eps=1e-2, inputs=inputs)
    path, copy = tmp_path / "short.safetensors", tmp_path / "copy.safetensors"
    rnnbounds.save_truncated(module, record, path)
    again = load_certificate(path)
    assert again.to_json() == json.loads(json.dumps(record))
    whole = certify(model, inputs=inputs, eps=1e-2)
    for name in ("cell", "n", "d", "lam", "norm", "windows", "digest", "rounding"):
        assert getattr(again, name) == getattr(whole, name), name
    assert again.weights == whole.weights or module.cell.startswith("stacked-")
    assert (again.speaks_of, again.states) == (whole.speaks_of, whole.states)
    assert again.next_steps == []
    rnnbounds.save_truncated(module, again, copy)
    assert copy.read_bytes() == path.read_bytes()


def test_the_first_documents(tmp_path):
    """Those of the first version of schema /1, which had fewer keys."""
    first = (
        "schema model cell shape dtype sha256 norm lambda verdict stable input_bound constants "
        "truncation norms_tried weights rounding witness"
    ).split()
    for case in ("every norm", "undecided", "orbits"):
        document = {key: made(case).to_json()[key] for key in first}
        document["rounding"].pop("reason")
        again = load_certificate(written(tmp_path / "old.json", document))
        assert again.to_json() == document
        assert (again.line(), again.reason) == (made(case).line(), None)
        assert again.next_steps == []
