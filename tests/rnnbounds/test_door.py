"""Light at the door: what only reads, shows or checks imports nothing that proves or attacks."""

from dataclasses import replace

import pytest
import torch

from properties.attacks.budget import PROFILES
from rnnbounds.cli import main

HEAVY = ("torch", "z3", "sympy", "matplotlib", "hypothesis", "theory", "properties")
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
def made(tmp_path_factory):
    """A run's record, a truncated model and a unitary one."""
    folder = tmp_path_factory.mktemp("made")
    weights = {"weight_hh_l0": torch.full((2, 2), 0.25), "weight_ih_l0": torch.ones(2, 1)}
    torch.save(weights, folder / "model.pt")
    with pytest.MonkeyPatch.context() as patch:
        few = replace(PROFILES["quick"], random=2, targeted=1, batch=4, sequences=2)
        patch.setitem(PROFILES, "quick", few)
        one = ("certified-norm", "-n0", "--attacks", "random")
        assert main(["verify", *one, "--out", str(folder)]) == 0
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
    assert (ran.returncode, ran.stderr) == (0, "[]\n")
    assert ran.stdout


@pytest.mark.parametrize("arguments", ["check absent", "report absent --out page", "compare a b"])
def test_errors_of_the_rooms_that_are_loaded(python, arguments):
    """One line and exit code 2, as from the rooms that are not."""
    ran = python("-c", PROGRAM, *arguments.split())
    line, loaded = ran.stderr.splitlines()
    assert (ran.returncode, ran.stdout, loaded) == (2, "", "[]")
    assert line.startswith("rnnbounds: ")
    assert "does not exist" in line
