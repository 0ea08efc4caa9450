"""``certify --attack``, ``--witness`` and their ``check``: the bracket, and what it speaks of."""

import json

import torch

TANH = ("--cell", "rnn-tanh", "--input-bound", 1, "--eps", "0.01")


def test_a_bracket(call, stable_model):
    """Between what was found and what is certified; without --attack nothing is said of it."""
    outcome = call("certify", stable_model, *TANH, "--attack")
    k = call("certify", stable_model, *TANH, "--format", "json").json["truncation"][0]["k"]
    assert outcome.code == 0
    line = next(line for line in outcome.out.splitlines() if line.startswith("memory at"))
    least = int(line.split()[-3])
    assert line == f"memory at ε = 0.01: between {least} and {k}"
    assert 0 < least <= k
    assert "memory at" not in call("certify", stable_model, *TANH).out


def test_the_lower_end_alone(call, save):
    """Of a model that is not certified; exit 1, as without the attack."""
    outcome = call("certify", save([[1.25]]), *TANH, "--attack", "--norm", "spectral")
    assert outcome.code == 1
    assert "memory at ε = 0.01: no k below" in outcome.out


def test_nothing_is_found(call, save):
    """No input moves the state: that says nothing, of a model that is not certified."""
    outcome = call("certify", save([[2.0]], [[0.0]]), *TANH, "--attack")
    assert "memory at ε = 0.01: no inputs were found, which says nothing" in outcome.out


def test_a_witness_replays(call, refused, stable_model, tmp_path):
    """Written with its inputs, told without them, and checked on its model alone."""
    path, page = tmp_path / "witness.json", tmp_path / "page"
    document = call(
        "certify", stable_model, *TANH, "--witness", path, "--out", page, "--format", "json"
    ).json
    (one,) = document["attacked"]["witnesses"]
    (told,) = json.loads(path.read_text())["witnesses"]
    assert {**one, "inputs": told["inputs"]} == told
    assert len(told["inputs"]) == one["length"]
    assert json.loads((page / "certificate.json").read_text())["attacked"] == document["attacked"]
    model = ("--source", stable_model, "--cell", "rnn-tanh")
    outcome = call("check", path, *model)
    assert outcome.code == 0
    assert "the witnesses hold" in outcome.out
    found = call("check", path, *model, "--format", "json").json
    assert found["holds"]
    assert [part["name"] for part in found["findings"]] == ["model", "witness", "no k below"]
    assert "name it with --source" in refused("check", path)
    assert call("check", path, "--source", stable_model, "--cell", "rnn-relu").code == 1
    path.write_text(path.read_text()[:-20])
    assert "--witness" in refused("check", path, *model)


def test_a_witness_of_a_box_names_it(call, stable_model, tmp_path):
    """The inputs that it is about are the sides that were stated, not the ball around them."""
    path = tmp_path / "witness.json"
    made = call("certify", stable_model, "--cell", "rnn-tanh", "--inputs=-1:0.5", "--witness", path)
    assert made.code == 0, made.err
    told = call("check", path, "--source", stable_model, "--cell", "rnn-tanh").out
    assert "x_t in [-1.0, 0.5]" in told


def test_a_name_that_cannot_be_written(refused, stable_model, tmp_path):
    """Said before the work, and nothing is left behind."""
    refused("certify", stable_model, *TANH, "--witness", stable_model)
    refused("certify", stable_model, *TANH, "--witness", tmp_path / "witness.safetensors")
    assert [path.name for path in tmp_path.iterdir()] == [stable_model.name]
    assert torch.load(stable_model)
