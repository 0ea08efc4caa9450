import math

import pytest
import torch

from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.reading.adapters import load_model


def test_box_by_hand():
    """Without recurrence and inputs: c = σ(b_i) tanh(b_z)/(1 − σ(b_f)) at most, h = R(o tanh c)."""
    b = {"i": 0.3, "f": -0.2, "z": 0.7, "o": 0.1}
    weights = {
        "weight_ih_l0": torch.zeros(4, 1), "weight_hh_l0": torch.zeros(4, 1),
        "weight_hr_l0": torch.tensor([[-2.0]]), "bias_ih_l0": torch.tensor(list(b.values())),
    }  # fmt: skip
    b = {gate: float(torch.tensor(value)) for gate, value in b.items()}
    i, f, o = (1 / (1 + math.exp(-b[gate])) for gate in "ifo")
    c = i * math.tanh(b["z"]) / (1 - f)
    box = load_model(weights).cell.box(1.0)[0].tolist()
    assert box == pytest.approx([c, 2 * o * math.tanh(c)], rel=1e-14)
    assert box[0] >= c
    constants = certify(weights, inputs=1.0).constants
    assert constants["B_c"] == box[0]
    assert constants["h_bar"] == box[1]
    assert constants["B_h"] <= box[1] * (1 + 1e-15)
