"""--eps 5%: a share of the certified bound on the output, or a line where there is none."""

import json

import numpy as np
import pytest
import torch

import rnnbounds


@pytest.fixture
def net(tmp_path):
    """A tanh RNN that contracts, with a head, and windows of inputs within 1."""
    torch.manual_seed(0)
    parts = {"rnn": torch.nn.RNN(1, 2), "head": torch.nn.Linear(2, 3)}
    with torch.no_grad():
        parts["rnn"].weight_hh_l0.mul_(0.25)
    torch.save(torch.nn.ModuleDict(parts).state_dict(), tmp_path / "net.pt")
    np.save(tmp_path / "x.npy", np.random.default_rng(0).uniform(-1, 1, (8, 12, 1)))
    return tmp_path / "net.pt", "--layer", "rnn", "--cell", "rnn-tanh"


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (("x%", "%", "5%%", "five", "٥%", "٠.٥"), "is neither a number nor a share as 5%"),
        (
            ("-5%", "0%", "100.5%", "500%", "nan%", "inf%"),
            "give one above 0% and up to 100%, beyond which no input is needed",
        ),
    ],
)
def test_what_is_no_share(refused, net, texts, told):
    """Digits are those of ASCII; of none of the bound, and of more than all of it, nothing is
    asked."""
    for text in texts:
        assert told in refused("certify", *net, "--inputs", 1, f"--eps={text}")


@pytest.mark.parametrize("readout", [(), ("--readout", "head")])
def test_of_the_certified_bound(call, net, readout):
    """ε is at most that share of B_h, times ‖C‖₂; no output is beyond what it is of."""
    asked = ("certify", *net, *readout, "--inputs", 1, "--format", "json")
    found = json.loads(call(*asked, "--eps", "5%", "--eps", 0.01).out)
    bound = found["constants"]["B_h"] * found.get("readout", {"norm": 1.0})["norm"]
    share, number = (row["eps"] for row in found["truncation"])
    assert 0.0499 * bound <= share < 0.05 * bound
    assert number == 0.01
    whole = torch.load(net[0])
    rnn, head = torch.nn.RNN(1, 2), torch.nn.Linear(2, 3)
    rnn.load_state_dict({k[4:]: v for k, v in whole.items() if k.startswith("rnn")})
    head.load_state_dict({k[5:]: v for k, v in whole.items() if k.startswith("head")})
    f = head if readout else lambda h: h
    with torch.no_grad():
        h = rnn(torch.randn(30, 64, 1).sign())[0].flatten(0, 1)
        assert float((f(h) - f(torch.zeros(1, 2))).norm(dim=1).max()) <= bound
    again = rnnbounds.certify(net[0], inputs=1.0, eps=share, layer="rnn", cell="rnn-tanh",
                              readout=readout[1] if readout else None)  # fmt: skip
    assert again.window(share) == found["truncation"][0]["k"]


def test_where_no_bound_is_known(refused, tmp_path):
    """A linear cell that grows."""
    grows = {"weight_hh_l0": torch.full((1, 1), 1.5), "weight_ih_l0": torch.ones(1, 1)}
    torch.save(grows, tmp_path / "grows.pt")
    asked = ("--cell", "linear", "--inputs", 1, "--eps", "5%")
    assert "give ε as a number" in refused("certify", tmp_path / "grows.pt", *asked)
