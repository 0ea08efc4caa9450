"""``certify --attack``, ``--witness`` and their ``check``: the bracket, and what it speaks of."""

import json

TANH = ("--cell", "rnn-tanh", "--input-bound", 1, "--eps", "0.01")


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
