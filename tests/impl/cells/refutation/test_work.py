"""A search for witnesses ends at a count of its work, and what was not tried is said."""

import json
from contextlib import nullcontext

import pytest
import torch

from rnnbounds.impl.cells.refutation import periodic as work
from rnnbounds.impl.certificate import certify as certify_module
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.sources import Source


def rotating() -> Source:
    """tanh of a rotation that grows: its fixed point 0 repels."""
    W = torch.tensor([[0.9, -1.2], [1.2, 0.9]], dtype=torch.float64)
    return load_model({"weight_hh": W, "weight_ih": torch.ones(2, 1).double()}, "rnn-tanh")


def bistable() -> Source:
    """A GRU of one unit with two fixed points: its candidate is tanh(4h), nearly."""
    gru = torch.nn.GRU(1, 1).double().requires_grad_(False)
    for part in gru.parameters():
        part.zero_()
    gru.weight_hh_l0[2] = gru.bias_ih_l0[0] = 4
    return gru


@pytest.mark.parametrize("make", [rotating, bistable])
def test_a_search_that_is_cut_is_undecided_and_says_so(monkeypatch, make):
    """Without its limit it finds a witness."""
    assert certify(make(), inputs=0.0).verdict == "refuted"
    monkeypatch.setattr(certify_module, "limit_work", lambda: work.limit_work(limit=1.0))
    found = certify(make(), inputs=0.0)
    assert found.verdict == "undecided"
    assert {one.what: one.reason for one in found.skipped} == {"refutation": work.LIMIT_REACHED}
    told = json.loads(json.dumps(found.to_json()))
    assert {"what": "refutation", "reason": work.LIMIT_REACHED} in told["skipped"]


def test_work_is_counted_by_size_alone():
    """A Newton step from one state and a proof about one point, of periods 1 and 2."""
    with work.limit_work(limit=1e9) as counted:
        for period in (1, 2):
            work.count_newton(10, 1, period)
            work.count_proof(10, period)
    assert 1e9 - counted.remaining == 1000 * (2 + 3 + 200 * (1 + 2))
    assert not counted.exhausted


def test_what_exceeds_the_limit_is_not_done():
    """And outside of a search nothing is limited."""
    with work.limit_work(limit=10.0) as counted, pytest.raises(work.ExhaustedError):
        work.count_proof(2, 1)
    assert counted.exhausted
    assert counted.remaining == 10
    with nullcontext():
        work.count_proof(1000, 4)
