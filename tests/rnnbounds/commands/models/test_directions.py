"""A layer in both directions on the command line: two cells, and one line about its output."""

import json

import pytest
import torch


@pytest.fixture
def model(tmp_path):
    """A file of a layer in both directions that contracts."""
    torch.manual_seed(0)
    module = torch.nn.LSTM(1, 2, bidirectional=True)
    with torch.no_grad():
        for part in module.parameters():
            part /= 4
    torch.save(module.state_dict(), tmp_path / "both.pt")
    return tmp_path / "both.pt"


@pytest.mark.slow
def test_both_cells_are_certified(call, tmp_path, model):
    """Each answers by itself, then a line speaks of the output; a folder has both certificates."""
    asked = ["certify", str(model), "--inputs", "1", "--eps", "0.1"]
    said = call(*asked, "--attack", "--out", str(tmp_path / "out"))
    assert said.code == 0
    assert said.out.count("certified: both.pt (") == 2
    assert "both: output t, of one cell beside the other, is fixed to within 0.1415 by" in said.out
    told = json.loads(call(*asked, "--format", "json").out)["directions"]
    for way, other in (("forward", "backward"), ("backward", "forward")):
        assert json.loads(call(*asked, "--direction", way, "--format", "json").out) == told[way]
        path = str(tmp_path / "out" / way / "certificate.json")
        check = ["check", path, "--source", str(model), "--direction"]
        assert call(*check, way).code == 0
        assert call(*check, other).code == 2


def test_one_cell_in_doubt(call, model):
    """The exit code is 1 unless both are certified, and nothing is said of the output."""
    state = torch.load(model)
    state["weight_hh_l0_reverse"] *= 1000
    torch.save(state, model)
    asked = ["certify", str(model), "--inputs", "1", "--eps", "0.1"]
    said = call(*asked)
    assert said.code == 1
    assert "both: output t" not in said.out
    assert call(*asked, "--direction", "forward").code == 0


def test_what_is_refused(refused, tmp_path, model):
    """The other verbs want a direction, or a model in one."""
    data = tmp_path / "x.csv"
    data.write_text("0.1\n" * 40)
    assert "--direction" in refused("measure", model, "--data", data)
    short = tmp_path / "short.safetensors"
    asked = "--inputs", 1, "--out", short
    assert "in both directions" in refused("truncate", model, "--eps", 0.1, *asked)
    assert "in both directions" in refused("unitary", model, *asked)
