"""``compare``: the gate, on the command line."""

import json

import pytest
from msgspec.structs import replace

from rnnbounds.commands import compare
from rnnbounds.reports.files import WriteError
from rnnbounds.reports.records.codec import encode, load


def test_settings(call, refused, record, tmp_path, monkeypatch):
    """Of the current folder; a key that is unknown is refused."""
    old, new = load(record), tmp_path / "new.json"
    new.write_bytes(encode(replace(old, claims=(), expected_parts=())))
    monkeypatch.chdir(tmp_path)
    assert call("compare", record, new).code == 1
    (tmp_path / "pyproject.toml").write_text("[tool.rnnbounds]\ngone = true\n")
    assert call("compare", record, new).code == 0
    (tmp_path / "pyproject.toml").write_text("[tool.rnnbounds]\nlaw = true\n")
    assert "[tool.rnnbounds]: it has no key law; it may set tightness, " in refused(
        "compare", record, new
    )


ASKED = ("--cell", "rnn-relu", "--format", "json")
WRITERS = {
    "certify": ("--inputs", 1),
    "truncate": ("--inputs", 1, "--eps", 0.01),
    "unitary": ("--inputs", 1),
}


@pytest.mark.parametrize("command", WRITERS)
def test_what_any_command_writes_is_read(call, stable_model, tmp_path, monkeypatch, command):
    """What is printed, what `--out` keeps, and what `check` prints of the file."""
    monkeypatch.chdir(tmp_path)
    told = call(command, stable_model, *WRITERS[command], *ASKED, "--out", "kept").json
    (tmp_path / "told.json").write_text(json.dumps(told))
    source = ("kept/certificate.json", "--source", stable_model, "--cell", "rnn-relu")
    made = {"truncate": "truncated", "unitary": "unitary"}
    file = source if command == "certify" else (f"kept/{made[command]}.safetensors",)
    checked = call("check", *file, "--format", "json").json
    (tmp_path / "checked.json").write_text(json.dumps(checked))
    for pair in (("told.json", "kept/certificate.json"), ("checked.json", "checked.json")):
        outcome = call("compare", *pair)
        assert outcome.out == "nothing changed by more than the thresholds allow\n", outcome.err


def test_a_page_that_cannot_be_written(refused, record, tmp_path, monkeypatch):
    """A disk that is full by then: nothing is printed, and the exit code is no verdict."""

    def full(path, data):
        raise WriteError(path, OSError(28, "No space left on device"))

    monkeypatch.setattr(compare, "write_atomic", full)
    assert "No space left" in refused("compare", record, record, "--out", tmp_path / "page")
