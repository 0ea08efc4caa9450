"""What a model in both directions remembers of recorded windows."""

import json

import pytest
import torch
from both_models import both, by_windows, inputs

import rnnbounds
from rnnbounds.impl.errors import InputError


@torch.no_grad()
@pytest.mark.parametrize(("cell", "layers"), [("lstm", 1), ("gru", 2)])
def test_gaps_are_torchs(cell, layers):
    """The gap at k is that of torch's module on 2k + 1 inputs around the middle one."""
    module, x = both(cell, layers, dtype=torch.float64), inputs(40, 9, dtype=torch.float64)
    seen = rnnbounds.measure(module, x, eps=(0.3, 1e-3))
    assert (seen.position, seen.ks) == (4, (0, 1, 2, 3, 4))
    for i, k in enumerate(seen.ks):
        gaps = (module(x)[0] - by_windows(module, x, k, k))[:, 4].norm(dim=1)
        assert torch.allclose(seen.gaps[:, i], gaps, atol=1e-13)
    assert float(seen.gaps[:, -1].max()) == 0
    line = seen.statement.lines[0]
    assert line.k == seen.window(0.3)
    assert (line.beyond, line.undecided) == (0, 0)
    assert json.loads(json.dumps(seen.to_json(), allow_nan=False))["memory"][0]["k"] == line.k
    assert "k either side" in str(seen).replace(f"k = {line.k}", "k")


def test_certified_is_longer():
    """A certified window fixes what is seen; a share of windows within ε is stated."""
    module = both()
    certificate = rnnbounds.certify(module, 1.0, 0.3)
    seen = rnnbounds.measure(module, inputs(200, 20), eps=0.3, input_bound=1.0)
    assert seen.window(0.3) <= max(certificate.window(0.3))
    assert seen.statement.lines[0].share > 0.9


@torch.no_grad()
def test_a_readout():
    """Gaps of predictions."""
    module, head = both(), torch.nn.Linear(6, 2)
    whole = torch.nn.ModuleDict({"rnn": module, "head": head})
    x = inputs(30, 5)
    seen = rnnbounds.measure(whole, x, layer="rnn", readout="head", eps=0.3)
    gaps = (head(module(x)[0]) - head(by_windows(module, x, 1, 1)))[:, 2].norm(dim=1)
    assert torch.allclose(seen.gaps[:, 1], gaps.double(), atol=1e-5)


def test_refusals():
    """Data of another width, beyond the bound, and what is of one direction."""
    x = inputs(30, 5)
    for call, told in (
        (lambda: rnnbounds.measure(both(), x[..., :1]), "has 1 channels per input"),
        (lambda: rnnbounds.measure(both(), x, input_bound=0.5), "are beyond"),
        (lambda: rnnbounds.measure(both(), x, near=0.1), "leave out near, states and pasts"),
        (lambda: rnnbounds.measure(both(), x, share=0.999), "too few"),
    ):
        with pytest.raises(InputError, match=told):
            call()
