"""Certificates travel: files, pickles, copies, tables and pictures; damage is a line."""

import copy
import json
import pickle
import sys

import matplotlib
import pytest
import torch
from cell_systems import SYSTEMS, weights_of
from stack_draws import net

import rnnbounds
from rnnbounds.impl.arithmetic.inputs.sets import input_box, input_rows
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.convert.files import load_certificate
from rnnbounds.impl.errors import InputError
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
    document = certificate.to_dict()
    again = load_certificate(written(tmp_path / "c.json", document))
    assert type(again) is rnnbounds.Certificate
    assert again.to_dict() == document
    assert again.next_steps == certificate.next_steps
    assert (again.reason, str(again)) == (certificate.reason, str(certificate))
    assert again.witness == certificate.witness
    assert again._repr_html_() == certificate._repr_html_()
    assert [again.window(eps) for eps in EPSILONS] == [k for _, k in certificate.windows]
    assert again == certificate or certificate.next is not None


@pytest.mark.parametrize("case", ["gru", "lstms", "rnns", "every norm", "a box"])
def test_of_a_truncated_model(case, tmp_path):
    """The certificate in its file; the file can be written again with it."""
    models = {"every norm": "rnn-tanh", "a box": "gru"}
    model = loaded(models.get(case) or SYSTEMS[case][0])
    inputs = input_box(-0.5, 1, 1) if case == "a box" else 1.0
    module, record = rnnbounds.truncate(model, eps=1e-2, inputs=inputs)
    path, copy = tmp_path / "short.safetensors", tmp_path / "copy.safetensors"
    rnnbounds.save_truncated(module, record, path)
    again = load_certificate(path)
    assert again.to_dict() == json.loads(json.dumps(record))
    whole = certify(model, inputs=inputs, eps=1e-2)
    assert again.constants.items() <= whole.constants.items()
    assert again == whole.replaced(constants=again.constants)
    rnnbounds.save_truncated(module, again, copy)
    assert copy.read_bytes() == path.read_bytes()


def test_documents_of_other_versions(tmp_path):
    """Each key is asked for, and no other is read; and the line says how to write it again."""
    document = made("every norm").to_dict()
    needed = document.keys() - {"other_norms", "unit_gains"}
    others = [{k: v for k, v in document.items() if k != gone} for gone in sorted(needed)]
    for other in (document | {"training": None}, *others):
        with pytest.raises(InputError, match="; write it again with 'rnnbounds certify"):
            load_certificate(written(tmp_path / "old.json", other))


COPIES = {"pickled": lambda found: pickle.loads(pickle.dumps(found)), "copied": copy.deepcopy}
EACH = pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)


def module(size: float) -> torch.nn.RNN:
    """Two units with a diagonal W of that norm."""
    made = torch.nn.RNN(1, 2)
    with torch.no_grad():
        made.weight_hh_l0.copy_(torch.diag(torch.tensor([size, 0.5])))
        made.bias_hh_l0.fill_(2.0)
    return made


@EACH
@pytest.mark.parametrize("size", [0.5, 1.05])
def test_a_certificate(copied, size):
    """With its advice, where it is undecided; of a ball and of a box of inputs."""
    for asked in (0.5, input_box(-0.5, 0.5, 1)):
        found = rnnbounds.certify(module(size), inputs=asked, eps=0.1)
        assert (found.advice is None) == (size < 1)
        told = copied(found)
        assert told.to_dict() == found.to_dict()
        assert told == found
    assert told.input_set.holds([0.5])
    assert not told.input_set.holds([0.7])


@EACH
def test_a_measurement(copied):
    """With its model."""
    found = rnnbounds.measure(module(0.5), torch.rand(60, 4, 1), eps=[0.1])
    assert copied(found).to_dict() == found.to_dict()


matplotlib.use("Agg")


@pytest.fixture(scope="module")
def results():
    """A certificate, a measurement and an attack of one small network."""
    torch.manual_seed(0)
    model = torch.nn.RNN(1, 3)
    with torch.no_grad():
        model.weight_hh_l0.mul_(0.2)
    x = torch.rand(10, 12, 1, generator=torch.Generator().manual_seed(0))
    return (
        rnnbounds.certify(model, inputs=1.0, eps=(0.1, 0.01)),
        rnnbounds.measure(model, x, eps=0.1),
        rnnbounds.attack(model, inputs=1.0, eps=0.1, work=2**20),
    )


def test_records_and_tables(results):
    """The record of each result is JSON as it stands, and a notebook shows its rows."""
    for result in results:
        record = result.to_dict()
        assert json.loads(json.dumps(record, allow_nan=False)) == record
        assert result._repr_html_().count("<tr>") == 1 + len(result.rows())
        assert repr(result) == f"<{type(result).__name__}: {result}>"


def test_pictures(results, monkeypatch):
    """Of matplotlib, or one line that says to install it."""
    for result in results:
        axes = result.plot()
        assert axes.get_title() == str(result)
        assert axes.lines
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"plot\(\) needs matplotlib; .*'rnnbounds\[plot\]'$"):
        results[0].plot()
