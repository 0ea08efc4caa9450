"""``rnnbounds check`` on truncated models."""

import json

import torch

TANH = ("--cell", "rnn-tanh", "--inputs", 1)


def test_a_certificate_of_predictions(call, refused, tmp_path):
    """Of C h with the model's own C: by its norm windows and gain grow."""
    model, folder = tmp_path / "model.pt", tmp_path / "made"
    held = {"weight_hh_l0": torch.tensor([[0.5]]), "weight_ih_l0": torch.ones(1, 1)}
    torch.save(held | {"head.weight": torch.tensor([[4.0], [3.0]])}, model)
    asked = ("certify", model, *TANH, "--eps", 0.01, "--out", folder)
    assert call(*asked).code == 0
    plain = json.loads((folder / "certificate.json").read_text())
    assert call(*asked, "--readout", "head").code == 0
    path = folder / "certificate.json"
    again = ("check", path, "--source", model, "--cell", "rnn-tanh")
    told = call(*again)
    assert told.code == 0
    assert "of the linear map y = head.weight h" in told.out
    assert "‖C‖₂ ≤ 5" in told.out
    record = json.loads(path.read_text())
    for place in ("truncation", "constants"):
        path.write_text(json.dumps(record | {place: plain[place]}))
        assert call(*again).code == 1
    path.write_text(json.dumps(record | {"readout": record["readout"] | {"norm": 4.99}}))
    assert call(*again).code == 1
    path.write_text(json.dumps(record))
    torch.save(held | {"head.weight": torch.tensor([[4.0], [2.0]])}, model)
    assert "no certificate that can be checked" in refused(*again)
