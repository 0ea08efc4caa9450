"""What docs/guides/ci.md shows is true: its snippets parse, its calls and settings exist, and what
can run here does."""

import configparser
import inspect
import re
import shlex
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

TEXT = (Path(__file__).parents[2] / "docs" / "guides" / "ci.md").read_text(encoding="utf-8")


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
    torch.manual_seed(0)
    rnn = torch.nn.LSTM(1, 4)
    with torch.no_grad():
        rnn.weight_hh_l0.mul_(0.3)
    weights = {f"rnn.{name}": part for name, part in rnn.state_dict().items()}
    for name in ("model", "free"):
        save_file(weights, f"{name}.safetensors")
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
