"""Light at the door: what only reads, shows or checks imports nothing that proves or attacks."""

from shutil import copy

import pytest
import torch

from rnnbounds.cli import main

OURS = ("rnnbounds.theory", "rnnbounds.properties")
HEAVY = ("torch", "z3", "sympy", "hypothesis", "matplotlib", *OURS)
PROGRAM = f"""
import sys
from rnnbounds.cli import main
code = main(sys.argv[1:])
print(sorted(set({HEAVY}) & set(sys.modules)), file=sys.stderr)
sys.exit(code)
"""
TANH = ("--cell", "rnn-tanh", "--input-bound", "1")
RELU = ("--cell", "rnn-relu", "--input-bound", "1")


@pytest.fixture(scope="module")
def made(recorded, tmp_path_factory):
    """A run's record, a truncated model and a unitary one."""
    folder = tmp_path_factory.mktemp("made")
    weights = {"weight_hh_l0": torch.full((2, 2), 0.25), "weight_ih_l0": torch.ones(2, 1)}
    torch.save(weights, folder / "model.pt")
    copy(recorded / "run.json", folder)
    for command in ("truncate", *TANH, "--eps", "0.1"), ("unitary", *RELU):
        name, *options = command
        model, out = (str(folder / file) for file in ("model.pt", f"{name}.safetensors"))
        assert main([name, model, *options, "--out", out]) == 0
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        "--help",
        "claims",
        "claims --matrix",
        "claims --format json",
        "claims --run run.json",
        "report run.json --out page",
        "compare run.json run.json",
        "check truncate.safetensors",
        "check unitary.safetensors --format json",
    ],
)
def test_what_is_not_loaded(python, made, arguments):
    """Neither the libraries that take seconds to import, nor the rooms that need them."""
    words = [str(made / word) if "." in word else word for word in arguments.split()]
    ran = python("-c", PROGRAM, *words)
    draws = ["matplotlib"] if "page" in words else []  # a page's figures, and nothing else
    assert (ran.returncode, ran.stderr) == (0, f"{draws}\n")
    assert ran.stdout


@pytest.mark.parametrize("arguments", ["check absent", "report absent --out page", "compare a b"])
def test_errors_of_the_rooms_that_are_loaded(python, arguments):
    """One line and exit code 2, as from the rooms that are not."""
    ran = python("-c", PROGRAM, *arguments.split())
    line, loaded = ran.stderr.splitlines()
    assert (ran.returncode, ran.stdout, loaded) == (2, "", "[]")
    assert line.startswith("rnnbounds: ")
    assert "does not exist" in line


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "what"),
    [
        (
            "from rnnbounds.impl.cells.gated import gru, lstm; gru.GRU_KIND = lstm.LSTM_KIND",
            "two cells are named 'lstm'; give one of them another name",
        ),
        ("sys.modules['z3'] = None", "install rnnbounds again, with what it needs"),
    ],
)
def test_what_goes_wrong_while_loading_is_one_line(python, before, what):
    """Two cells of one name, of which one would be read for the other; a package that is gone."""
    program = f"import sys; {before}; from rnnbounds.cli import main; sys.exit(main())"
    result = python("-c", program, "claims", "--now")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("rnnbounds: ")
    assert result.stderr.endswith(f"{what}\n")
    assert result.stderr.count("\n") == 1
