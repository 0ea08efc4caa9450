"""Unitary files: read as they were written, by torch too, and written whole or not at all."""

import json

import torch
from draws import doubles
from relu_networks import inputs, model
from safetensors.torch import load_file

from rnnbounds.impl.convert.unitary import load_unitary, save_unitary, unitary
from rnnbounds.impl.reading.adapters import load_model


def test_round_trip(tmp_path):
    """Written and read again bit for bit; the file loads into torch.nn.RNN and as a model."""
    path, recurrent = tmp_path / "u.safetensors", model(3)
    start = doubles([1.0, -2.0, 3.5])
    made = unitary(recurrent, 1.0, initial=start)
    save_unitary(made, path)
    again = load_unitary(str(path))
    assert again.certificate == json.loads(json.dumps(made.certificate))
    assert torch.equal(again.initial, made.initial)
    assert all(torch.equal(again.weights[name], made.weights[name]) for name in made.weights)
    plain = torch.nn.RNN(2, 6, nonlinearity="relu", batch_first=True, dtype=torch.float64)
    plain.load_state_dict(load_file(path))
    x = inputs(2, 9, 2)
    h = recurrent(x, start.expand(1, 2, 3).contiguous())[0]
    s = plain(x, made.initial.expand(1, 2, 6).contiguous())[0]
    assert torch.allclose(h, s[..., :3], rtol=0, atol=made.certificate["difference"]["float64"])
    assert load_model(path).name == "rnn-relu"
    assert [entry.name for entry in tmp_path.iterdir()] == ["u.safetensors"]
