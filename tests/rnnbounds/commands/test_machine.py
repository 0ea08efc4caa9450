"""The commands refuse a processor on whose arithmetic no bound can rest."""

import subprocess
import sys

import pytest
import torch

UPWARD = "import ctypes; ctypes.CDLL('libm.so.6').fesetround(0x800)"
TINY = {"weight_hh_l0": [[0.5]], "weight_ih_l0": [[1e-40]]}
COMMANDS = (
    ("certify", "m.pt", "--inputs", "1e38", "--cell", "linear"),
    ("truncate", "m.pt", "--inputs=1", "--eps=0.01", "--out=t.safetensors", "--cell=linear"),
    ("check", "good.safetensors"),
    ("verify", "truncation", "--profile", "quick", "--workers", "1"),
    ("prove", "truncation"),
)


@pytest.fixture
def folder(call, tmp_path, monkeypatch):
    """A model whose input weights are tiny, and its truncated form."""
    monkeypatch.chdir(tmp_path)
    weights = {name: torch.tensor(value, dtype=torch.float64) for name, value in TINY.items()}
    torch.save(weights, "m.pt")
    asked = ("--cell", "linear", "--inputs", 1e38, "--eps", 0.01)
    assert call("truncate", "m.pt", *asked, "--out", "good.safetensors").code == 0
    return tmp_path


@pytest.mark.slow
def test_commands_refuse(folder):
    """One line and exit code 2, whatever is asked for, and nothing is written; a worker, which is
    asked by itself, raises what the parent prints."""
    code = (
        "import sys\nfrom rnnbounds.cli import main\n"
        "from rnnbounds.impl.checker.machine import MachineError\n"
        "from rnnbounds.properties.runs.parts import Part\n"
        "from rnnbounds.properties.runs.run import remote_part\n"
        f"{UPWARD}\n"
        f"for words in {COMMANDS!r}: print(main(list(words)), file=sys.stderr)\n"
        "for part in (Part('proof', ('truncation',)),\n"
        "        Part('random', ('truncation',), 'cell-16x2'),\n"
        "        Part('extremal', ('truncation',), 'cell-16x2')):\n"
        "    try: remote_part(part, 'quick', 0, 'cpu')\n"
        "    except MachineError as error: print(error, 2, sep='\\n', file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    told = done.stderr.partition("nanobind:")[0]  # what Triton says at its end, if it is there
    lines = told.splitlines()
    assert lines[1::2] == ["2"] * (len(COMMANDS) + 3)
    assert all("so that no bound computed here is sound" in line for line in lines[::2])
    assert sorted(entry.name for entry in folder.iterdir()) == ["good.safetensors", "m.pt"]
    assert "not rounded once, to nearest even" in lines[0]


@pytest.mark.slow
def test_no_bytecode_of_other_numbers_is_kept(tmp_path, monkeypatch):
    """Python reads 0.999 as another number while numbers are rounded upwards: a later process would
    find it in the cache."""
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path))
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    code = (
        f"from rnnbounds.cli import main\n{UPWARD}\n"
        "main(['check', 'none'])\nimport rnnbounds.reports.pages.figures"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert [*tmp_path.rglob("cli.*.pyc")]
    assert [*tmp_path.rglob("figures.*.pyc")] == [*tmp_path.rglob("check.*.pyc")] == []
