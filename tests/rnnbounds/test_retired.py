"""Names that the version before had: each is refused in a line that says what to do instead."""

import pytest
import torch

import rnnbounds
from rnnbounds.shell.retired import COMMANDS, NAMES, OPTIONS


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(refused, command):
    """Whatever follows."""
    assert refused(command, "--format", "json").startswith(
        f"rnnbounds: the command {command} is gone; "
    )


@pytest.mark.parametrize(
    ("command", "option"), [(command, option) for command in OPTIONS for option in OPTIONS[command]]
)
def test_options(refused, command, option):
    """Whatever the model is."""
    line = refused(command, "x.pt", option, "1")
    assert line.startswith(f"rnnbounds: {command} has no {option}; ")


@pytest.mark.parametrize("name", NAMES)
def test_public_names(name):
    """They are not listed, either."""
    assert name not in rnnbounds.__all__
    with pytest.raises(AttributeError, match=f"rnnbounds.{name} is gone; "):
        getattr(rnnbounds, name)


def test_old_keywords() -> None:
    """They work for a version more, with a warning that has the new one; then they are refused."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = {name: part / 8 for name, part in torch.nn.GRU(2, 3).state_dict().items()}
    with pytest.warns(DeprecationWarning, match=r"certify\(input_bound=…\) .* write inputs="):
        old = rnnbounds.certify(model, input_bound=1.0, eps=0.1)
    assert old.windows == rnnbounds.certify(model, inputs=1.0, eps=0.1).windows
    for call, name in (
        (rnnbounds.certify, "epsilons"), (rnnbounds.truncate, "epsilon"),
        (rnnbounds.assert_remembers, "epsilon"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"no argument '{name}'.*write eps="):
            call(model, inputs=1.0, **{name: 0.1})
