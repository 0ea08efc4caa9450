"""What certifies, measures and serves a model needs no extra; what does says which, at once."""

import json
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from rnnbounds.shell.extras import EXTRAS
from rnnbounds.shell.program import THEORY_COMMANDS

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
# A library that is None in sys.modules is not found by an import, nor by who looks for it.
WITHOUT = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
sys.modules |= dict.fromkeys(json.loads(sys.argv[1]))
import torch
import rnnbounds
from rnnbounds.cli import main

def call(*arguments):
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
        code = main(list(arguments))
    print(json.dumps([code, said.getvalue()]))

torch.manual_seed(0)
model = torch.nn.LSTM(1, 3, batch_first=True)
model.weight_hh_l0.data /= 4
torch.save(model.state_dict(), "model.pt")
x = torch.rand(60, 20, 1) * 2 - 1
assert rnnbounds.certify(model, inputs=1.0, eps=0.1).verdict == "certified"
assert rnnbounds.measure(model, x, eps=0.1).windows == 60
assert rnnbounds.attack(model, inputs=1.0, eps=0.1).line()
for arguments in json.loads(sys.argv[2]):
    call(*arguments)
assert rnnbounds.check("short.safetensors")
assert rnnbounds.load_truncated("short.safetensors").infer(x).shape == (60, 20, 3)
try:
    import rnnbounds.strategies
except ImportError as error:
    print(json.dumps([2, str(error)]))
"""
SERVES = (
    ("certify", "model.pt", "--inputs=-1:1", "--eps", "0.1"),
    ("truncate", "model.pt", "--inputs=-1:1", "--eps", "0.1", "--out", "short.safetensors"),
    ("check", "short.safetensors"),
    ("claims",),
    ("verify", "--help"),
)
NEEDS_PLOT = (
    ("certify", "model.pt", "--inputs=-1:1", "--out", "page"),
    ("report", "run.json", "--out", "page"),
)
NEEDS_THEORY = (("claims", "--now"), *((name,) for name in THEORY_COMMANDS))
ARGUMENTS = {"prove": ("truncation",), "attack": ("h_gap <= 1",), "replay": ("{}",)}
ARGUMENTS |= {"experiment": ("urnn",)}


@pytest.mark.slow
def test_without_the_extras(python, tmp_path):
    """Models are answered and served; all else is a line with the remedy, exit 2, and no work."""
    needing = [*NEEDS_PLOT, *((*one, *ARGUMENTS.get(one[0], ())) for one in NEEDS_THEORY)]
    libraries = ["sympy", *{library for one in EXTRAS.values() for library in one}]
    done = python("-c", WITHOUT, json.dumps(libraries), json.dumps([*SERVES, *needing]))
    assert done.stderr == ""
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert found[: len(SERVES)] == [[0, ""]] * len(SERVES)
    plot, theory = found[len(SERVES) :][:2], found[len(SERVES) :][2:-1]
    for code, said in (*plot, *theory):
        assert code == 2
        assert said.count("\n") == 1
    assert {said for _, said in plot} == {
        "rnnbounds: a page needs matplotlib; install it with: pip install 'rnnbounds[plot]'\n"
    }
    for (_, said), (name, *_) in zip(theory, NEEDS_THEORY, strict=True):
        what = "--now" if name == "claims" else f"rnnbounds {name}"
        assert said == (
            f"rnnbounds: {what} needs z3; install it with: pip install 'rnnbounds[theory]'\n"
        )
    assert found[-1][1].endswith("needs hypothesis; install it with: pip install 'rnnbounds[test]'")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.pt", "short.safetensors"]


def test_the_extras_are_those_of_the_project():
    """Each brings the libraries that it is asked for, and `all` brings every extra of a user."""
    stated = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["optional-dependencies"]
    distributions = packages_distributions()
    for extra, libraries in EXTRAS.items():
        named = {line.partition(">=")[0] for line in stated[extra]}
        assert named == {distributions[library][0] for library in libraries}
    (everything,) = stated["all"]
    others = ",".join(sorted(stated.keys() - {"all", "cuda-test"}))
    assert everything == f"rnnbounds[{others}]"
