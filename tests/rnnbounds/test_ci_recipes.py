"""What docs/ci.md shows is true: its snippets parse, its calls and settings exist, and what can run
here does."""

import configparser
import inspect
import json
import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pytest
import typer
import yaml

from reports import load
from reports.gate.thresholds import Thresholds, thresholds
from rnnbounds import plugin as plugin_module
from rnnbounds.lazy import HOME
from rnnbounds.program import COMMANDS

TEXT = (Path(__file__).parents[2] / "docs" / "ci.md").read_text(encoding="utf-8")


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
    app.command()(getattr(import_module(f"{HOME}.{module}"), function))
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
    assert {words[0] for words in found} == {"verify", "certify", "compare"}
    for command, *words in found:
        given = {word for word in words if word.startswith("--")}
        assert given <= options(command)
    named = set(re.findall(r"`(--[a-z]+)[ `]", TEXT)) - {"--junitxml"}
    ours = options("verify") | options("compare") | of_plugin()[0]
    assert {name for name in named if not name.startswith("--bounds")} <= ours


def test_every_option_and_setting_of_the_plugin_is_told():
    """In the table, and no other; the snippet's are among them."""
    asked, settings = of_plugin()
    assert asked == set(re.findall(r"`(--bounds-[a-z]+)`", TEXT))
    assert settings == set(re.findall(r"`(bounds_[a-z]+)`", TEXT))
    parser = configparser.ConfigParser()
    for block in blocks("ini"):
        parser.read_string(block)
    assert set(parser["pytest"]) == settings
    for words in calls("python -m pytest"):
        given = {word for word in words if word.startswith("--bounds")}
        assert given <= asked


def test_the_settings_shown_are_the_defaults(tmp_path):
    """All of them."""
    (block,) = blocks("toml")
    path = tmp_path / "pyproject.toml"
    path.write_text(block)
    assert thresholds(path) == Thresholds()
    names = {field.encode_name for field in msgspec.structs.fields(Thresholds)}
    assert names == set(re.findall(r"^([a-z-]+) =", block, re.MULTILINE))


def test_pipelines_are_whole():
    """Each file that one step uses is one that another writes, or guarded."""
    github, gitlab, hooks = map(yaml.safe_load, blocks("yaml"))
    steps = github["jobs"]["bounds"]["steps"]
    (verify,) = (step["run"] for step in steps if step.get("name") == "verify")
    uses = {
        step["uses"].partition("@")[0]: step.get("with", {}) for step in steps if "uses" in step
    }
    assert f"--sarif {uses['github/codeql-action/upload-sarif']['sarif_file']}" in verify
    assert f"--out {uses['actions/upload-artifact']['path']}" in verify
    (before,) = (step["run"] for step in steps if step.get("name") == "the report of main")
    assert "--branch main --event push " in before  # a fork may call its branch main
    assert "--dir main || true" in before  # an artifact expires
    assert github["permissions"]["security-events"] == "write"
    (job,) = gitlab.values()
    assert job["artifacts"]["reports"]["junit"] == "junit.xml"
    assert "--junitxml junit.xml" in job["script"][-1]
    (hook,) = hooks["repos"][0]["hooks"]
    assert re.match(hook["files"], hook["entry"].split()[2])


@pytest.mark.slow
def test_what_runs_here(call, tiny, record, stable_model, save, tmp_path, monkeypatch):
    """The calls of verify, certify and compare, of one claim and a small model."""
    monkeypatch.chdir(tmp_path)
    for words in calls("rnnbounds verify"):
        given = [word for word in words if word != "$@"]
        few = ("certified-norm", "-n", 0, "--attacks", "random", "--baseline", record)
        assert call("verify", *given, *few).code == 0
    assert load(tmp_path / "report" / "run.json").profile == "quick"
    assert (tmp_path / "bounds.sarif").exists()
    assert (tmp_path / "history" / "index.html").exists()
    for name in ("certificate.json", "new.json"):
        (words,) = (words for words in calls("rnnbounds certify") if "--format" in words)
        document = call("certify", stable_model, *words[1:]).json
        (tmp_path / name).write_text(json.dumps(document))
    (words,) = calls("rnnbounds compare")
    assert call("compare", *words).code == 0


def test_the_assertion_is_one():
    """The example for a project's own tests holds of a stable model."""
    (block,) = blocks("python")
    known: dict[str, Any] = {}
    exec(block, known)
    import torch

    model = torch.nn.RNN(1, 2)
    with torch.no_grad():
        model.weight_hh_l0.copy_(torch.eye(2) / 4)
    known["test_the_model_forgets"](model)
