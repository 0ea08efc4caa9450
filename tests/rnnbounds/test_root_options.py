"""What is asked without a command: the version, help by its short name, completion of words."""

import tomllib
from pathlib import Path

import pytest

import rnnbounds
from rnnbounds.cli import main


def test_version(call):
    """The same in Python and for packagers, who read it from the module."""
    outcome = call("--version")
    assert (outcome.code, outcome.out) == (0, f"rnnbounds {rnnbounds.__version__}\n")
    project = Path(rnnbounds.__file__).parents[1] / "pyproject.toml"
    if project.exists():
        assert "version" in tomllib.loads(project.read_text())["project"]["dynamic"]


def test_short_help(call):
    """-h is --help, of the program and of each command."""
    assert call("-h").out == call("--help").out
    assert call("certify", "-h").out == call("certify", "--help").out


def test_completion_script(monkeypatch, capsys):
    """Printed for the shell that is found, whatever this is run from."""
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("bash", "/bin/bash"))
    with pytest.raises(SystemExit) as ended:
        main(["--show-completion"])
    assert ended.value.code == 0
    assert "_rnnbounds_completion" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("rnnbounds cert", ["certify"]),
        ("rnnbounds certify --inp", ["--inputs"]),
        ("rnnbounds certify m --norm sp", ["spectral"]),
        ("rnnbounds certify m --cell gru", ["gru", "gru-cho"]),
    ],
)
def test_completion(monkeypatch, capsys, line, told):
    """Of commands, options, norms and cells."""
    monkeypatch.setenv("_RNNBOUNDS_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 0
    assert capsys.readouterr().out.split() == told
