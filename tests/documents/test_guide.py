"""The tutorial of a first certificate does what it says: its programs and commands are run, one
after another."""

import re
import runpy
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from rnnbounds.cli import main

GUIDE = Path(__file__).parents[2] / "docs" / "tutorials" / "first-certificate.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.slow
def test_all_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Words to the letter, numbers to 10 % or 1, since training rounds otherwise elsewhere."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    with torch.random.fork_rng(devices=[]):
        for language, block in BLOCK.findall(GUIDE.read_text()):
            if language == "python":
                name = block.splitlines()[0].removeprefix("# ")
                (tmp_path / name).write_text(block)
                if name.startswith("test_"):
                    run_tests(name)
                continue
            for command, told in commands(block):
                run(shlex.split(command))
                stands(told, capsys.readouterr().out.splitlines(), command)


def commands(block: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a block, and what it prints."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *told = part.splitlines()
        yield command, told


def run(words: list[str]) -> None:
    """A command, in this process; what is no success raises."""
    program, *rest = words
    if program == "python":
        sys.modules.pop("forecaster", None)  # as in a process of its own
        runpy.run_path(rest[0], run_name="__main__")
        sys.modules.pop("forecaster", None)
        return
    assert program == "rnnbounds"
    code = main(rest)
    assert code == (1 if rest[:2] == ["certify", "free.safetensors"] else 0)


def run_tests(name: str) -> None:
    """The tests of a file."""
    for key, test in runpy.run_path(name).items():
        if key.startswith("test_"):
            test()


def stands(told: list[str], found: list[str], command: str) -> None:
    """Whether a command printed what the guide says, where `…` stands for any lines or words."""
    rest = iter(found)
    free = False
    for line in told:
        if line == "…":
            free = True
        elif free:
            assert any(alike(line, one) for one in rest), f"{command}: {line}"
            free = False
        else:
            assert alike(line, next(rest, "")), f"{command}: {line}"
    assert free or not list(rest), command


def alike(told: str, found: str) -> bool:
    """Word by word; a `…` at the end is anything."""
    words, seen = told.split(), found.split()
    if words[-1:] == ["…"]:
        words, seen = words[:-1], seen[: len(words) - 1]
    return len(words) == len(seen) and all(map(same, words, seen))


def same(told: str, found: str) -> bool:
    """Equal, or numbers near one another."""
    near = 1.0 if told.isdecimal() else 0.0
    try:
        return told == found or float(found) == pytest.approx(float(told), rel=0.1, abs=near)
    except ValueError:
        return False
