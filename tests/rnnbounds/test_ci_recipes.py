"""What docs/guides/ci.md shows is true: its snippets parse, its calls and settings exist, and what
can run here does."""

import configparser
import inspect
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
import typer
import yaml
from hatchling.builders.wheel import WheelBuilder
from safetensors.torch import save_file

from rnnbounds import plugin as plugin_module
from rnnbounds.reports.gate.settings import (
    CertifyQuestion,
    MeasureQuestion,
    Thresholds,
    load_model_settings,
    load_thresholds,
)
from rnnbounds.shell.program import COMMANDS, COMMANDS_PACKAGE

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "guides" / "ci.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The snippets in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)


def strings(document: Any) -> Iterator[str]:
    """All strings of a document."""
    if isinstance(document, str):
        yield document
    elif isinstance(document, dict):
        for part in document.values():
            yield from strings(part)
    elif isinstance(document, list):
        for part in document:
            yield from strings(part)


def lines() -> list[str]:
    """Every line of a shell, wherever it stands, and the calls within the text."""
    told = [text for block in blocks("yaml") for text in strings(yaml.safe_load(block))]
    told += [line.partition("=")[2] for line in "".join(blocks("ini")).splitlines()]
    told += blocks("sh")
    return [line.strip() for text in told for line in text.splitlines()]


def calls(program: str) -> list[list[str]]:
    """The words after a program's name, redirections left out."""
    found = [line for line in lines() if line.startswith(f"{program} ")]
    return [shlex.split(line.partition(" > ")[0])[len(program.split()) :] for line in found]


def options(command: str) -> set[str]:
    """The options of a command."""
    module, _, function = COMMANDS[command].partition(":")
    app = typer.Typer()
    app.command()(getattr(import_module(f"{COMMANDS_PACKAGE}.{module}"), function))
    return {name for parameter in typer.main.get_command(app).params for name in parameter.opts}


def of_plugin() -> tuple[set[str], set[str]]:
    """The options and settings of the plugin."""
    source = inspect.getsource(plugin_module.pytest_addoption)
    return set(re.findall(r'"(--bounds-[a-z]+)"', source)), set(
        re.findall(r'"(bounds_\w+)"', source)
    )


def test_every_call_is_one_of_the_command_line():
    """Its command exists and has the options."""
    found = calls("rnnbounds")
    assert {words[0] for words in found} == {"verify", "guard"}
    for command, *words in found:
        given = {word for word in words if word.startswith("--")}
        assert given <= options(command)
    named = set(re.findall(r"`(--[a-z]+)[ `]", TEXT)) - {"--junitxml"}
    ours = options("verify") | options("compare") | options("guard") | of_plugin()[0]
    assert {name for name in named if not name.startswith("--bounds")} <= ours


def test_every_option_and_setting_of_the_plugin_is_told():
    """In the text, and no other; all settings are in the snippet."""
    asked, settings = of_plugin()
    assert asked == set(re.findall(r"`(--bounds-[a-z]+)`", TEXT))
    parser = configparser.ConfigParser(interpolation=None)
    for block in blocks("ini"):
        parser.read_string(block)
    assert set(parser["pytest"]) == settings
    for words in calls("python -m pytest"):
        given = {word for word in words if word.startswith("--bounds")}
        assert given <= asked


def test_the_settings_shown_are_the_defaults(tmp_path):
    """All of those of the gate; those of models are read, and ask what there is to ask."""
    models, gate = blocks("toml")
    path = tmp_path / "pyproject.toml"
    path.write_text(models + gate)
    assert load_thresholds(path) == Thresholds()
    names = {field.encode_name for field in msgspec.structs.fields(Thresholds)}
    assert names == set(re.findall(r"^([a-z-]+) =", gate, re.MULTILINE))
    asked = load_model_settings(path)
    assert list(map(type, asked.questions.values())) == [CertifyQuestion, MeasureQuestion]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("share = 0.95\n", "it needs the key share; it may set"),
        ('data = "data.npy"', "it needs the key data; it may set"),
        ("# window = 2 ", "window is about the baseline's k, and at-most stands in its place"),
    ],
)
def test_settings_that_say_too_little_or_too_much(line, told, tmp_path):
    """A key that is missing is named, and one that nothing would ask is refused."""
    text = blocks("toml")[0]
    assert text.count(line) == 1
    path = tmp_path / "pyproject.toml"
    path.write_text(text.replace(line, line.removeprefix("# ") if line[0] == "#" else "\n"))
    (error,) = load_model_settings(path).unreadable.values()
    assert told in str(error)


def test_guard_and_the_assertions(call, tmp_path, monkeypatch):
    """Every call of guard, and every test that is shown, on models that keep what is asked."""
    monkeypatch.chdir(tmp_path)
    write_models(0.3)
    np.save("data.npy", np.random.default_rng(0).uniform(-2, 2, (200, 16, 1)))
    (tmp_path / "pyproject.toml").write_text(blocks("toml")[0])
    for words in sorted({*map(tuple, calls("rnnbounds guard"))}, key=lambda w: "--update" not in w):
        assert call("guard", *words).code == 0
    fixture, block = blocks("python")
    assert "def test_the_forecaster(guarded):" in fixture
    known: dict[str, Any] = {}
    exec(block, known)
    tests = [value for name, value in known.items() if name.startswith("test_")]
    assert len(tests) == 3
    for test in tests:
        test()


@pytest.fixture
def checkout(call, tmp_path, monkeypatch):
    """A repository with the settings, two models that keep them, and their baseline; a function
    that carries out lines of a shell there, with the built wheel in place of an installation."""
    monkeypatch.chdir(tmp_path)
    wheel = next(WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"]))
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "rnnbounds").write_text(f'#!/bin/sh\nexec {sys.executable} -m rnnbounds "$@"\n')
    (tools / "rnnbounds").chmod(0o755)
    environment = os.environ | {
        "PATH": f"{tools}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(tmp_path / "site"), "GITHUB_STEP_SUMMARY": str(tmp_path / "step.md"),
        "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    folder = tmp_path / "checkout"
    folder.mkdir()
    monkeypatch.chdir(folder)
    write_models(0.3)
    np.save("data.npy", np.random.default_rng(0).uniform(-2, 2, (200, 16, 1)))
    Path("pyproject.toml").write_text(blocks("toml")[0])
    assert call("guard", "--update").code == 0

    def carried_out(lines: list[str]) -> int:
        install, *others = lines
        assert install.startswith("python -m pip install ")
        unpack = f"python -m zipfile -e {shlex.quote(wheel)} {shlex.quote(str(tmp_path / 'site'))}"
        script = "\n".join(("set -eu", unpack, *others))
        done = subprocess.run(
            ["bash", "-c", script], cwd=folder, env=environment, timeout=300, check=False,
            capture_output=True, text=True,
        )  # fmt: skip
        assert "Traceback" not in done.stderr
        return done.returncode

    return carried_out


def write_models(scale: float) -> None:
    """The two models of the settings, of recurrent weights that large."""
    torch.manual_seed(0)
    rnn = torch.nn.LSTM(1, 4)
    with torch.no_grad():
        rnn.weight_hh_l0.mul_(scale)
    weights = {f"rnn.{name}": part for name, part in rnn.state_dict().items()}
    for name in ("model", "free"):
        save_file(weights, f"{name}.safetensors")


def shell_lines(recipe: Any) -> list[str]:
    """The lines that a job carries out, on GitHub or on GitLab."""
    (job,) = recipe.get("jobs", recipe).values()
    return job.get("script") or [step["run"] for step in job["steps"] if "run" in step]


@pytest.mark.slow
@pytest.mark.parametrize("place", ["GitHub", "GitLab"])
def test_a_recipe_as_pasted(checkout, place):
    """Green on models that keep what is asked; red on a regression, with what fails in the file
    that is kept; red on a baseline that certifies nothing."""
    recipe = yaml.safe_load(blocks("yaml")[("GitHub", "GitLab").index(place)])
    lines = shell_lines(recipe)
    assert checkout(lines) == 0
    assert Path("models.md").read_text().startswith("## rnnbounds: all pass")
    write_models(1.2)
    assert checkout(lines) == 1
    assert "**fails**" in Path("models.md").read_text()
    write_models(0.3)
    kept = Path("forecaster.json").read_text()
    Path("forecaster.json").write_text(kept.replace('"certified"', '"undecided"', 1))
    assert checkout(lines) == 2
    assert "forecaster.json" in Path("models.md").read_text()


HELD = """#!/bin/sh
case "$2" in
  list) echo 7 ;;
  download) test "$3" = 7 && mkdir main && echo {} > main/run.json ;;
esac
"""


@pytest.mark.parametrize("program", [HELD, "#!/bin/sh\n", "#!/bin/sh\ntest $2 = list && echo 7\n"])
def test_the_report_of_main_is_the_baseline(tmp_path, program):
    """If there is one; a first run, and one whose report is gone, has none."""
    for name, text in {"gh": program, "rnnbounds": '#!/bin/sh\necho "$@" > called\n'}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    recipe = yaml.safe_load(blocks("yaml")[2])
    _, *lines = shell_lines(recipe)
    environment = os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    for line in lines:
        subprocess.run(["bash", "-euc", line], cwd=tmp_path, env=environment, check=True)
    baseline = " --baseline main/run.json" if program is HELD else ""
    called = (tmp_path / "called").read_text()
    assert called == f"verify --profile quick --out report{baseline}\n"
