"""What to do next about an undecided model: each change that is said to certify does."""

import json

import pytest
import torch

from rnnbounds.impl.arithmetic.inputs.sets import input_box
from rnnbounds.impl.cells.analysis import ProgramAnalysis
from rnnbounds.impl.cells.stacks.stack_analysis import StackAnalysis
from rnnbounds.impl.cells.vanilla import VanillaAnalysis
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.certificate.contraction import contraction
from rnnbounds.impl.certificate.stable_module import stable_
from tests.impl.shared.draws import normal
from tests.impl.shared.stack_draws import net

B = 0.7


@pytest.fixture(autouse=True)
def _no_witness(monkeypatch):
    """Without a search for witnesses, which would take seconds."""
    for analysis in (ProgramAnalysis, VanillaAnalysis, StackAnalysis):
        monkeypatch.setattr(analysis, "refute", lambda self, given=None: None)


def undecided(name, layers=1):
    """A module and its certificate."""
    module = net(name, layers, scale=1.0)
    certificate = certify(module, inputs=B)
    assert certificate.verdict == "undecided"
    return module, certificate


def by(module, scale):
    """The module with its recurrent weights times that."""
    with torch.no_grad():
        for name, part in module.named_parameters():
            if "weight_hh" in name:
                part.mul_(scale)
    return module


@pytest.mark.parametrize(
    ("name", "layers"),
    [
        ("lstm", 1),
        ("gru", 1),
        pytest.param("lstm-projected", 1, marks=pytest.mark.slow),
        pytest.param("gru", 2, marks=pytest.mark.slow),
    ],
)
def test_what_is_said_to_certify_does(name, layers):
    """The scaled model, as torch scales it, has that very λ and k; a little more has none."""
    module, certificate = undecided(name, layers)
    advice = certificate.advice
    found = certify(by(module, advice.weights.size), inputs=B, eps=(1e-2,))
    told = (advice.weights.norm, advice.weights.lam, advice.weights.k)
    assert (found.norm, found.lam, found.window(1e-2)) == told
    assert contraction(by(module, 1.1), inputs=B) > 1 or layers > 1
    if advice.inputs is not None:
        fresh = net(name, layers, scale=1.0)
        found = certify(fresh, inputs=advice.inputs.size, eps=(1e-2,))
        assert (found.lam, found.window(1e-2)) == (advice.inputs.lam, advice.inputs.k)
        assert advice.inputs.size < B


def test_what_drives_it():
    """λ of the model without one gate's recurrent weights, and the one that matters most first."""
    module, certificate = undecided("lstm")
    gates = ("input gate", "forget gate", "candidate", "output gate")
    drivers = dict(certificate.advice.drivers)
    assert list(drivers.values()) == sorted(drivers.values())
    for place, gate in enumerate(gates):
        rest = net("lstm", 1, scale=1.0)
        with torch.no_grad():
            rest.weight_hh_l0.chunk(4)[place].zero_()
        # One λ is of a batch of models, and the order of its sums is the processor's choice.
        assert drivers[gate] == pytest.approx(contraction(rest, inputs=B).item(), rel=2**-48)
    assert module.weight_hh_l0.abs().min() > 0


@pytest.mark.slow
def test_stacks_and_vanilla():
    """Layers have a λ each; of a vanilla model nothing but its weights can be made smaller."""
    _, stacked = undecided("gru", 2)
    assert len(stacked.advice.layers) == 2
    assert all(part.endswith(("in layer 1", "in layer 2")) for part, _ in stacked.advice.drivers)
    W = normal(6, 6)
    model = {"weight_hh_l0": W, "weight_ih_l0": normal(6, 2)}
    certificate = certify(model, inputs=1.0, cell="rnn-relu")
    assert certificate.advice.inputs is None
    assert certificate.advice.drivers == ()
    scaled = model | {"weight_hh_l0": W * certificate.advice.weights.size}
    assert certify(scaled, inputs=1.0, cell="rnn-relu").lam == certificate.advice.weights.lam < 1


def test_nothing_is_sought_in_large_models(monkeypatch):
    """What keeps the state is told, and what was left out."""
    monkeypatch.setattr("rnnbounds.impl.certificate.advice._ROWS", 16)
    advice = undecided("lstm")[1].advice
    assert (advice.weights, advice.inputs, advice.drivers) == (None, None, ())
    assert "no smaller weights or inputs were tried" in advice.skipped
    assert advice.kept is not None


@pytest.mark.parametrize(("layers", "where"), [(1, ""), (2, "in layer 2 ")])
def test_a_forget_gate_that_rounds_to_one(layers, where):
    """Its owner is told of the gate, of the inputs and what to do, and of no box() to mend."""
    module = torch.nn.LSTM(2, 3, layers)
    with torch.no_grad():
        for part in module.parameters():
            part.fill_(0.1)
        module.get_parameter(f"bias_ih_l{layers - 1}")[3:6] = 40.0
    for inputs in (1.0, input_box(-1, 1, 2)):
        found = certify(module, inputs=inputs)
        assert found.verdict == "undecided"
        assert found.reason.startswith(f"for {found.speaks_of}, {where}the forget gate of unit ")
        assert "of 1, and no bound on c is then proved; take smaller inputs" in found.reason
        assert found.reason.endswith("rnnbounds.stable_, or measure it on recorded inputs")
    assert certify(stable_(module, 0.95, inputs=1.0), inputs=1.0).verdict == "certified"


@pytest.mark.parametrize("make", [torch.nn.GRU, torch.nn.LSTM])
def test_weights_whose_slopes_overflow(make):
    """Nothing certifies them, and what is told of it is JSON."""
    module = make(1, 1, bias=False).double()
    with torch.no_grad():
        module.weight_hh_l0.fill_(torch.finfo(torch.float64).max)
        module.weight_ih_l0.zero_()
    found = certify(module, inputs=1.0)
    assert found.verdict == "undecided"
    assert json.dumps(found.to_dict(), allow_nan=False)
