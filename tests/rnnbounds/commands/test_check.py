"""``rnnbounds check`` on truncated models."""

import json

import torch

TANH = ("--cell", "rnn-tanh", "--input-bound", 1)


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


def test_a_certificate_of_a_chain(call, refused, tmp_path):
    """Each stage is proved again, and their product; other biases are another readout."""
    model, folder = tmp_path / "model.pt", tmp_path / "made"
    held = {
        "weight_hh_l0": torch.tensor([[0.5]]), "weight_ih_l0": torch.ones(1, 1),
        "a.weight": torch.tensor([[4.0], [3.0]]), "a.bias": torch.ones(2),
        "b.weight": torch.tensor([[0.6, 0.8], [-0.8, 0.6]]),
    }  # fmt: skip
    torch.save(held, model)
    asked = ("certify", model, *TANH, "--eps", 0.01, "--out", folder, "--readout", "a,sigmoid,b")
    told = call(*asked, "--attack")
    assert told.code == 0
    assert "linear map" not in told.out
    assert "map y = b.weight ∘ sigmoid ∘ a.weight h" in told.out
    path = folder / "certificate.json"
    again = ("check", path, "--source", model, "--cell", "rnn-tanh")
    told = call(*again)
    assert told.code == 0
    for part in ("of the map y = b.weight ∘ sigmoid ∘ a.weight h", "‖C‖₂ ≤ 5 of C = a.weight",
                 "sup |ρ′| ≤ 0.25 of ρ = sigmoid", "of C = b.weight", "L ≤ 1.25"):  # fmt: skip
        assert part in told.out
    record = json.loads(path.read_text())
    norms = record["readout"]["norms"]
    lowered = [[4.99, *norms[1:]], [norms[0], 0.2499, norms[2]], [*norms[:2], 0.99]]
    for change in ({"norm": 1.2}, *({"norms": one} for one in lowered)):
        path.write_text(json.dumps(record | {"readout": record["readout"] | change}))
        assert call(*again).code == 1
    for change in ({"norms": norms[:2]}, {"tensor": "a.weight"}, {"chain": ["a.weight", "tanh"]}):
        path.write_text(json.dumps(record | {"readout": record["readout"] | change}))
        assert "no certificate that can be checked" in refused(*again)
    path.write_text(json.dumps(record))
    torch.save(held | {"a.bias": torch.zeros(2)}, model)
    assert "no certificate that can be checked" in refused(*again)


def test_windows_by_slopes_on_the_ball_of_states(call, tmp_path):
    """Where biases keep a tanh flat its L is less there, by which windows are, and is proved."""
    model, folder = tmp_path / "model.pt", tmp_path / "made"
    held = {
        "weight_hh_l0": torch.tensor([[0.5]]), "weight_ih_l0": torch.ones(1, 1),
        "a.weight": torch.tensor([[0.4], [0.3]]), "a.bias": torch.full((2,), 2.0),
        "norm.weight": torch.tensor([1.0, -2.0]), "b.weight": torch.eye(2),
    }  # fmt: skip
    torch.save(held, model)
    for chain in ("a,tanh,b", "a,rms-norm-1e-05:norm,b"):
        asked = ("certify", model, *TANH, "--eps", 0.01, "--out", folder, "--readout", chain)
        told = call(*asked)
        assert told.code == 0
        assert "its Lipschitz constant on all ‖h‖₂ ≤" in told.out
        path = folder / "certificate.json"
        again = ("check", path, "--source", model, "--cell", "rnn-tanh")
        assert call(*again).code == 0
        record = json.loads(path.read_text())
        near = record["readout"]["reached"]
        assert near["norm"] < 0.5 * record["readout"]["norm"]
        assert near["radius"] == record["constants"]["B_h"]
        for name in ("norm", "radius"):
            changed = record["readout"] | {"reached": near | {name: near[name] * 0.9}}
            path.write_text(json.dumps(record | {"readout": changed}))
            assert call(*again).code == 1
        without = {key: value for key, value in record["readout"].items() if key != "reached"}
        path.write_text(json.dumps(record | {"readout": without}))
        assert call(*again).code == 1
