"""Names that the version before had: each is refused in a line that says what to do instead."""

import pytest

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
    assert line.startswith(f"rnnbounds: {command} {option} is gone; ")


@pytest.mark.parametrize("name", NAMES)
def test_public_names(name):
    """They are not listed, either."""
    assert name not in rnnbounds.__all__
    with pytest.raises(AttributeError, match=f"rnnbounds.{name} is gone; "):
        getattr(rnnbounds, name)
