"""Certificates in both directions: against torch's outputs, and for what they say of themselves."""

import json

import pytest
import torch
from both_models import MODULES, both, by_windows, inputs

import rnnbounds
from rnnbounds.impl.bidirectional.record import BidirectionalCertificate
from rnnbounds.impl.bidirectional.windows import Around
from rnnbounds.impl.errors import InputError, RangeError
from rnnbounds.impl.reading.adapters import load_both

EPS = 0.05


@pytest.mark.slow
@torch.no_grad()
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("cell", MODULES)
def test_windows_against_torch(cell, layers):
    """Torch's own module, on whole sequences and on windows: within ε, and inputs apart within the
    gain, but for what float32 moves."""
    module = both(cell, layers)
    certificate = rnnbounds.certify(module, 1.0, (EPS, 1.0))
    assert certificate.verdict == "certified"
    x = inputs(T=24)
    whole, rounding = module(x)[0], certificate.rounding
    for eps in (EPS, 1.0):
        window = certificate.window(eps)
        gaps = (whole - by_windows(module, x, *window)).norm(dim=2)
        assert float(gaps.max()) <= eps + 2 * rounding
    moved = module(x * 0.9)[0] - whole
    delta = float((0.1 * x).norm(dim=2).max())
    assert float(moved.norm(dim=2).max()) <= certificate.gain * delta * 1.001 + 2 * rounding
    exact = both(cell, layers, dtype=torch.float32).double()(x.double())[0]
    assert float((whole.double() - exact).norm(dim=2).max()) <= rounding * 1.001


def test_the_record():
    """What a certificate says is what its document says, and reads back as."""
    module = both("gru")
    certificate = rnnbounds.certify(module, 1.0, (0.5, 1.0))
    assert isinstance(certificate, BidirectionalCertificate)
    assert (certificate.cell, certificate.n, certificate.d) == ("bidirectional gru", 6, 2)
    assert certificate.digest == load_both(module).digest
    assert certificate.stable is True
    assert certificate.reason is None
    document = json.loads(json.dumps(certificate.to_json(), allow_nan=False))
    assert document["truncation"][0].keys() == {"eps", "past", "future"}
    assert [name for name, _ in certificate.parts] == ["layer 1, forward", "layer 1, reverse"]
    assert isinstance(certificate.window(0.5), Around)
    with pytest.raises(RangeError, match=r"ε = 0.3, but it must be one of 0.5, 1;"):
        certificate.window(0.3)
    assert "output t is fixed by inputs t − " in str(certificate)


@torch.no_grad()
def test_a_readout():
    """ε and the gain are those of C (h→, h←)."""
    module = both("rnn-tanh")
    head = torch.nn.Linear(6, 1)
    whole = torch.nn.ModuleDict({"rnn": module, "head": head})
    plain, read = (
        rnnbounds.certify(whole, 1.0, 0.1, layer="rnn", readout=readout)
        for readout in (None, "head")
    )
    assert read.readout["tensor"] == "head.weight"
    assert read.gain <= plain.gain * float(head.weight.norm()) * 1.001
    x, (past, future) = inputs(), read.window(0.1)
    apart = head(module(x)[0]) - head(by_windows(module, x, past, future))
    assert float(apart.abs().max()) <= 0.1 + 1e-5


def test_refuted_and_undecided():
    """A witness against a cell of the lowest layer refutes the model; one above it does not."""
    module = both("rnn-tanh", layers=2, scale=0.3)
    with torch.no_grad():
        module.weight_hh_l0_reverse.copy_(torch.eye(3) * -4)
        module.bias_hh_l0_reverse.zero_(), module.bias_ih_l0_reverse.zero_()
    found = rnnbounds.certify(module, 1.0, 0.1)
    assert (found.verdict, found.window(0.1), found.stable) == ("refuted", None, False)
    assert found.reason.startswith("layer 1, reverse: ")
    module = both("rnn-tanh", layers=2, scale=0.3)
    with torch.no_grad():
        module.weight_hh_l1.copy_(torch.eye(3) * -4)
    found = rnnbounds.certify(module, 1.0, 0.1)
    assert (found.verdict, found.stable) == ("undecided", None)
    wide = rnnbounds.certify(both("lstm", 2, scale=8), 1.0, 0.1)
    assert (wide.cell, wide.n, len(wide.layers)) == ("bidirectional lstm, 2 layers", 6, 1)
    assert wide.digest == load_both(both("lstm", 2, scale=8)).digest
    assert found.reason.startswith("layer 2, forward: ")


def test_arguments():
    """What is of one direction alone is refused in one line."""
    module = both()
    for call, told in (
        (lambda: rnnbounds.certify(module, -1.0), "the input bound B"),
        (lambda: rnnbounds.certify(module, 1.0, eps=0.0), "ε = 0.0"),
        (lambda: rnnbounds.certify(module, 1.0, norm="cascade"), "the cascade norm certifies"),
        (lambda: rnnbounds.certify(module, rnnbounds.input_box(-1, 1, 5)), "has 5 channels"),
        (lambda: rnnbounds.monitor(module, 1.0), "both directions"),
        (lambda: rnnbounds.assert_contractive(module, 1.0), "in both directions"),
    ):
        with pytest.raises((InputError, TypeError), match=told):
            call()
