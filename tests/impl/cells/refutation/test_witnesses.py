"""What a witness speaks of, and where the search for one ends."""

import json

import pytest
import torch
from gated_draws import draw, lstm

from rnnbounds.impl.cells.refutation import periodic as work
from rnnbounds.impl.cells.refutation import refute
from rnnbounds.impl.cells.refutation.refute import ALL, SIZE, refute_gated
from rnnbounds.impl.certificate import certify as certify_module
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.numbers.spectra import eigenvalues
from rnnbounds.impl.reading.adapters import load_model
from rnnbounds.impl.reading.sources import Source


def latch(forget: float = 9.0) -> dict[str, torch.Tensor]:
    """One LSTM unit that keeps the sign of its cell; the larger the bias, the larger c may be."""
    W, b = [[0.0], [0.0], [6.0], [0.0]], [9.0, forget, 0.0, 9.0]
    return {
        "weight_hh": torch.tensor(W).double(),
        "weight_ih": torch.ones(4, 1).double() / 8,
        "bias_ih": torch.tensor(b).double(),
    }


def test_points_outside_of_the_box_are_of_no_account():
    """The same two fixed points, of a box that holds one of them, which repels, or none inside."""
    cell = load_model(latch()).cell
    box = cell.proved_box(0.5).box[0]
    assert refute_gated(cell, box, 0.5) is not None
    assert refute_gated(cell, box / 4096, 0.5).points == ((0.0, 0.0),)
    assert refute_gated(cell, box * 0, 0.5) is None
    assert refute_gated(cell, torch.full_like(box, torch.inf), 0.5).states == ALL


def test_what_is_not_sought_is_listed(monkeypatch):
    """Above 256 numbers in a state no witness is sought: listed with its reason."""
    n = SIZE // 2 + 1
    cell = draw(lstm, n, scale=30.0, seed=1)
    held = {name: part[0] for name, part in cell.parameters.items()}
    told = certify(held, inputs=1.0, norm="infinity")
    assert told.verdict == "undecided"
    reason = {one.what: one.reason for one in told.skipped}["refutation"]
    assert reason == f"the state has {2 * n} numbers, more than {SIZE}"
    assert {"what": "refutation", "reason": reason} in told.to_dict()["skipped"]
    assert all(entry["norm"] != "refutation" for entry in told.to_dict()["norms_tried"])
    wide = {"weight_hh": 3 * torch.eye(SIZE + 1), "weight_ih": torch.ones(SIZE + 1, 1)}
    told = certify(wide, inputs=1.0, norm="infinity", cell="rnn-tanh")
    assert "refutation" in {one.what: one.reason for one in told.skipped}
    told = certify(wide, inputs=1.0, norm="infinity", cell="linear")
    assert (told.verdict, told.skipped) == ("refuted", ())
    for home in (refute, eigenvalues):
        monkeypatch.setattr(home, "FLOAT_SIZE", SIZE)
    told = certify(wide, inputs=1.0, norm="infinity", cell="linear")
    assert (
        f"numbers, more than {SIZE}" in {one.what: one.reason for one in told.skipped}["refutation"]
    )


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
    told = json.loads(json.dumps(found.to_dict()))
    assert {"what": "refutation", "reason": work.LIMIT_REACHED} in told["skipped"]


def test_what_exceeds_the_limit_is_not_done():
    """And outside of a search nothing is limited."""
    with work.limit_work(limit=10.0) as counted:
        work.spend(4.0)
        with pytest.raises(work.ExhaustedError):
            work.spend(7.0)
    assert counted.exhausted
    assert counted.remaining == 6
    work.spend(1e12)
