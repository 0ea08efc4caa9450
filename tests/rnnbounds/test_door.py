"""Light at the door: what only reads, shows or checks imports nothing that proves or attacks."""

import json
from shutil import copy

import pytest
import torch

from rnnbounds.cli import main

OURS = ("rnnbounds.theory", "rnnbounds.properties")
OTHER = "rnnbounds.theory.claims.contraction.lstm"  # a claim on which `truncation` does not rest
HEAVY = ("torch", "torch._dynamo", "z3", "sympy", "hypothesis", "matplotlib", OTHER, *OURS)
# Several calls in one process: what one of them loads stays loaded.
PROGRAM = f"""
import contextlib, io, json, sys
from rnnbounds.cli import main
for call in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(call)
    loaded = sorted(set({HEAVY}) & set(sys.modules))
    print(json.dumps([code, bool(out.getvalue()), err.getvalue(), loaded]))
"""
TRUNCATED = "truncate.safetensors"
TANH = ("--cell", "rnn-tanh", "--inputs", "1")
RELU = ("--cell", "rnn-relu", "--inputs", "1")


@pytest.fixture
def made(recorded, tmp_path):
    """A run's record, a truncated model and a unitary one."""
    weights = {"weight_hh_l0": torch.full((2, 2), 0.25), "weight_ih_l0": torch.ones(2, 1)}
    torch.save(weights, tmp_path / "model.pt")
    copy(recorded / "run.json", tmp_path)
    for command in ("truncate", *TANH, "--eps", "0.1"), ("unitary", *RELU):
        name, *options = command
        model, out = (str(tmp_path / file) for file in ("model.pt", f"{name}.safetensors"))
        assert main([name, model, *options, "--out", out]) == 0


def test_what_is_not_loaded(python, made):
    """Neither the libraries that take seconds to import, nor the rooms that need them; errors of
    the rooms that are loaded are one line as well. A page's figures alone load matplotlib."""
    good = (
        "--help",
        "compare run.json run.json", "check truncate.safetensors",
        "check unitary.safetensors --format json",
    )  # fmt: skip
    bad = ("check absent", "report absent --out page", "compare a b")
    calls = [call.split() for call in (*good, *bad, "report run.json --out page")]
    told = run(python, calls)
    for code, printed, errors, loaded in told[: len(good)]:
        assert (code, printed, errors, loaded) == (0, True, "", [])
    for code, printed, errors, loaded in told[len(good) : -1]:
        assert (code, printed, loaded, errors.count("\n")) == (2, False, [], 1)
        assert errors.startswith("rnnbounds: ")
        assert "does not exist" in errors
    *rest, loaded = told[-1]
    assert rest == [0, True, ""]
    assert loaded in ([], ["matplotlib"])  # a page without curves needs none


def test_models_need_torch_alone(python, made, tmp_path):
    """Neither its compiler nor SymPy, in two seconds of CPU each."""
    weights = torch.nn.LSTM(2, 3).state_dict()
    torch.save({name: weight / 4 for name, weight in weights.items()}, tmp_path / "lstm.pt")
    calls = [["certify", "lstm.pt", "--inputs", "1"], ["certify", "model.pt", *TANH]]
    for code, printed, errors, loaded in run(python, calls):
        assert (code, printed, errors, loaded) == (0, True, "", ["torch"])


def test_proofs_need_no_system(python):
    """Neither torch nor the attack; of one claim, what it rests on alone. A list of the claims is
    read from their files."""
    needed = {"rnnbounds.properties", "rnnbounds.theory", "sympy"}
    told = run(python, [["claims"], ["prove", "truncation"]])
    assert [one[:3] for one in told] == [[0, True, ""]] * 2
    assert [set(one[3]) for one in told] == [set(), needed]


def run(python, calls):
    """What each call came to, and what was loaded then."""
    ran = python("-c", PROGRAM, json.dumps(calls))
    assert (ran.returncode, ran.stderr) == (0, "")
    return [json.loads(line) for line in ran.stdout.splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "words", "what"),
    [
        (
            "from dataclasses import replace; from rnnbounds.impl.cells import gated;"
            "gated.GRU_KIND = replace(gated.GRU_KIND, name='lstm')",
            "certify {0} --inputs 1",
            "two cells are named 'lstm'; give one of them another name",
        ),
        ("sys.modules['flint'] = None", "prove", "install rnnbounds again, with what it needs"),
    ],
)
def test_what_goes_wrong_while_loading_is_one_line(python, before, words, what, tmp_path):
    """Two cells of one name, of which one would be read for the other; a package that is gone."""
    program = f"import sys; {before}; from rnnbounds.cli import main; sys.exit(main())"
    path = tmp_path / "m.pt"
    torch.save(torch.nn.LSTM(2, 3).state_dict(), path)
    result = python("-c", program, *words.format(path).split())
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("rnnbounds: ")
    assert result.stderr.endswith(f"{what}\n")
    assert result.stderr.count("\n") == 1
