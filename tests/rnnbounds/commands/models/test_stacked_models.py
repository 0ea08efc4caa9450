"""``certify`` and ``truncate`` on layers of torch's modules: good ones, and files that lie."""

import pytest
import torch
from safetensors.torch import save_file

import rnnbounds


@pytest.fixture
def stack(tmp_path):
    """A file of an LSTM of two layers with projections, made stable."""
    torch.manual_seed(0)
    net = torch.nn.LSTM(2, 4, num_layers=2, proj_size=2)
    with torch.no_grad():
        for part in net.parameters():
            part.mul_(0.6)
    save_file(net.state_dict(), tmp_path / "net.safetensors")
    return tmp_path / "net.safetensors"


@pytest.mark.slow
def test_certify_and_truncate(call, stack, tmp_path):
    """One λ and one k for the whole stack; the file that is written is such a stack again."""
    document = call("certify", stack, "--input-bound", 1, "--format", "json").json
    assert (document["cell"], document["verdict"]) == ("stacked-lstm-projected", "certified")
    assert document["constants"]["layers"] == 2
    assert document["constants"]["lam_l0"] <= document["lambda"] < 1
    assert document["constants"]["B_h"] <= document["constants"]["B_h_l1"]
    assert {entry["norm"] for entry in document["norms_tried"]} >= {"perron", "cascade"}
    out = tmp_path / "short.safetensors"
    outcome = call("truncate", stack, "--input-bound", 1, "--eps", 0.01, "--out", out)
    assert outcome.code == 0
    assert f"k = {document['truncation'][0]['k']} inputs" in outcome.out
    module = rnnbounds.load_truncated(out)
    assert module(torch.ones(1, 4, 2)).shape == (1, 4, 2)
    text = call("certify", out, "--input-bound", 1, "--cell", "stack", "--norm", "cascade").out
    assert "\nλ = 0." in text
    assert "in the cascade norm" in text
