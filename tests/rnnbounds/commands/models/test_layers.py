"""Parts of bigger models from the command line: listed, chosen, certified, truncated, checked."""

import pytest
import torch

import rnnbounds


@pytest.fixture
def whole(tmp_path):
    """A file of an encoder that contracts, a decoder in two directions, and a head."""
    torch.manual_seed(0)
    model = torch.nn.ModuleDict(
        {"encoder": torch.nn.GRU(2, 3), "decoder": torch.nn.LSTM(3, 3, bidirectional=True)}
    )
    with torch.no_grad():
        for part in model["encoder"].parameters():
            part /= 8
    torch.save(model.state_dict(), tmp_path / "whole.pt")
    return tmp_path / "whole.pt"


def test_old_names_warn(whole):
    """They work until 0.3, and the warning has the new one."""
    with pytest.warns(DeprecationWarning, match=r"certify\(epsilons=…\) .* write eps="):
        old = rnnbounds.certify(whole, 1.0, epsilons=(0.1,), layer="encoder")
    with pytest.warns(DeprecationWarning, match=r"truncate\(epsilon=…\)"):
        assert rnnbounds.truncate(whole, epsilon=0.1, input_bound=1.0, layer="encoder").eps == 0.1
    with pytest.warns(DeprecationWarning, match=r"assert_remembers\(epsilon=…\)"):
        rnnbounds.assert_remembers(
            whole, at_most=10**6, epsilon=0.1, input_bound=1.0, layer="encoder"
        )
    assert old.windows == rnnbounds.certify(whole, 1.0, eps=0.1, layer="encoder").windows
    one = rnnbounds.certify(whole, 1.0, eps=0.1, layer="encoder")
    assert one.windows == rnnbounds.certify(whole, 1.0, (0.1,), layer="encoder").windows
