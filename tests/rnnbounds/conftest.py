"""The command line in this process, models on disk, and a budget for tests."""

import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import torch

import rnnbounds
from rnnbounds.cli import main
from rnnbounds.properties.attacks.budget import PROFILES, Budget
from rnnbounds.shell import output

HOUSE = Path(rnnbounds.__file__).resolve().parent.parent
TINY = Budget(random=4, targeted=1, gradient=1, ascent=4, batch=4, sequences=2)


@dataclass(frozen=True)
class Outcome:
    """What a call printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which is one JSON document and nothing else."""
        assert self.err == ""
        return json.loads(self.out)


@pytest.fixture(autouse=True)
def no_lines_of_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """What commands say does not depend on how fast this machine is."""
    monkeypatch.setattr(output, "PAUSE", math.inf)
    monkeypatch.setattr(output, "NO_PAUSE", math.inf)


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run the command line: call("certify", path) -> Outcome."""

    def run(*arguments: object) -> Outcome:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return Outcome(code, *capsys.readouterr())

    return run


@pytest.fixture
def refused(call: Callable[..., Outcome]) -> Callable[..., str]:
    """Run the command line with bad input: exit 2, one line on standard error: the result."""

    def run(*arguments: object) -> str:
        outcome = call(*arguments)
        assert outcome.code == 2
        assert outcome.out == ""
        assert outcome.err.startswith("rnnbounds: ")
        assert outcome.err.endswith("\n")
        assert len(outcome.err.splitlines()) == 1
        return outcome.err.strip()

    return run


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few and small batches under the name of the quick profile."""
    monkeypatch.setitem(PROFILES, "quick", TINY)


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of one claim by one attack, which passes: to be read, not changed."""
    folder = tmp_path_factory.mktemp("recorded")
    arguments = ("contraction-linear", "-n", "0", "--attacks", "random", "--out", str(folder))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PROFILES, "quick", TINY)
        assert main(["verify", *arguments]) == 0
    return folder


@pytest.fixture
def verified(recorded: Path, tmp_path: Path) -> Path:
    """A copy of that folder."""
    return Path(shutil.copytree(recorded, tmp_path / "verified"))


@pytest.fixture
def record(verified: Path) -> Path:
    """The record in it."""
    return verified / "run.json"


@pytest.fixture
def save(tmp_path: Path) -> Callable[..., Path]:
    """Write a state dict: save(W, U=…, b=…, name=…) -> its path."""

    def write(W: object, U: object = None, b: object = None, name: str = "model.pt") -> Path:
        recurrent = torch.as_tensor(W)
        state = {
            "weight_hh_l0": recurrent,
            "weight_ih_l0": torch.ones(len(recurrent), 1) if U is None else torch.as_tensor(U),
        }
        if b is not None:
            state["bias_ih_l0"] = torch.as_tensor(b)
        torch.save(state, tmp_path / name)
        return tmp_path / name

    return write


@pytest.fixture
def stable_model(save: Callable[..., Path]) -> Path:
    """tanh, three states, ‖W‖₂ = 1/2."""
    return save([[0.5, 0.0, 0.0], [0.0, 0.25, 0.0], [0.0, 0.125, 0.125]])


@pytest.fixture
def plugin() -> tuple[str, ...]:
    """The options that load the plugin where nothing has installed it."""
    installed = any(entry.value == "rnnbounds.plugin" for entry in entry_points(group="pytest11"))
    return () if installed else ("-p", "rnnbounds.plugin")


@pytest.fixture
def python(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run Python elsewhere, with the house on its path after ``first`` folders."""

    def run(*arguments: object, first: Path | None = None) -> subprocess.CompletedProcess[str]:
        path = [str(tmp_path if first is None else first), str(HOUSE)]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(path), "OMP_NUM_THREADS": "1"}
        return subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip

    return run
