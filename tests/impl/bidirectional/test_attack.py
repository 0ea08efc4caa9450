"""Lower bounds on windows in both directions, and their witnesses."""

import pytest
import torch
from both_models import both, by_windows

import rnnbounds
from rnnbounds.impl.bidirectional.attack import LayersError, bracket_both
from rnnbounds.impl.bidirectional.windows import Around
from rnnbounds.impl.memory.adversary.attack import ContradictionError

WORK = 2**24


@pytest.mark.slow
@torch.no_grad()
def test_witnesses_are_torchs():
    """In a sequence that ends with t no window with fewer inputs of the past is within ε, and in
    one that begins with it none of the future."""
    module = both("rnn-tanh", dtype=torch.float64, scale=0.8)
    found = rnnbounds.attack(module, 1.0, 0.1, work=WORK)
    least = found.least(0.1)
    assert found.windows == ((0.1, least),)
    forward, reverse = found.forward.witnesses[0].inputs, found.reverse.witnesses[0].inputs
    for x, t, (past, future) in (
        (forward, len(forward) - 1, Around(least.past - 1, 0)),
        (reverse.flip(0), 0, Around(0, least.future - 1)),
    ):
        gaps = (module(x[None])[0] - by_windows(module, x[None], past, future))[0]
        assert float(gaps[t].norm()) > 0.1
    certificate = rnnbounds.certify(module, 1.0, 0.1)
    ((eps, low, high),) = bracket_both(certificate, found)
    assert eps == 0.1
    assert low.past <= high.past
    assert low.future <= high.future
    assert found.to_json(inputs=False)["no_window_below"][0]["past"] == least.past


@pytest.mark.slow
def test_a_contradiction_is_told():
    """A certified window below a witness is an error of ours."""
    module = both("rnn-tanh", scale=0.6)
    found = rnnbounds.attack(module, 1.0, 0.05, work=WORK)
    certificate = rnnbounds.certify(module, 1.0, 0.05)
    wrong = type(certificate)(**vars(certificate) | {"windows": ((0.05, Around(0, 99)),)})
    with pytest.raises(ContradictionError, match="one of the two proofs is wrong"):
        bracket_both(wrong, found)


def test_stacks_are_refused():
    """A second layer reads both directions, of which no witness is sought."""
    with pytest.raises(LayersError, match="takes one layer in both directions, and this has 2"):
        rnnbounds.attack(both(layers=2), 1.0, 0.1)
