"""The call itself: exit codes, one line for what is wrong, help."""

import errno
import os

import pytest
import typer

from rnnbounds.commands import compare
from rnnbounds.impl.errors import InputError as ImplError
from rnnbounds.properties.errors import InputError as PropertiesError
from rnnbounds.properties.runs.executors import THREAD_COUNTS
from rnnbounds.reports.errors import InputError as ReportsError
from rnnbounds.theory.claims import table
from rnnbounds.theory.errors import InputError as TheoryError

COMPARED = ("compare", "old.json", "new.json")


@pytest.mark.parametrize("command", ["verify", "attack", "replay"])
def test_what_judges_has_one_thread(call, monkeypatch, command):
    """In libraries too, so that a replay has the bits of the run that printed it."""
    for name in THREAD_COUNTS:
        monkeypatch.setenv(name, "2")
    call(command, "--help")
    assert {os.environ[name] for name in THREAD_COUNTS} == {"1"}


@pytest.mark.parametrize("base", [ImplError, PropertiesError, ReportsError, TheoryError])
def test_input_errors_of_every_room(refused, monkeypatch, base):
    """Each room's InputError becomes its own message on one line."""

    def fail(*records):
        raise base("one\nthing is\twrong; do another")

    monkeypatch.setattr(compare, "compare_files", fail)
    assert refused(*COMPARED) == "rnnbounds: one thing is wrong; do another"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "line"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "x"), "x: Permission denied; choose"),
        (OSError(errno.ENOSPC, "No space left on device"), "a file: No space left on device; choo"),
        (MemoryError(), "not enough memory for this; take a smaller system"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "start"), "a file is not UTF-8; save"),
        (UnicodeEncodeError("utf-8", "\udcff", 0, 1, "surrogates"), "not valid text here; rename"),
        (typer.Abort(), "interrupted; run it again"),
    ],
)
def test_what_the_machine_refuses(call, monkeypatch, error, line):
    """A full disk, too little memory, no terminal to ask: one line as well."""

    def fail(*records):
        raise error

    monkeypatch.setattr(compare, "compare_files", fail)
    outcome = call(*COMPARED)
    assert outcome.code == 2
    assert outcome.out == ""
    assert line in outcome.err.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("from rnnbounds.theory.proof import Clam", "cannot import name 'Clam' from "),
        ("import rnnbounds.theory.prof", "No module named 'rnnbounds.theory.prof'"),
        ("import gone_with_the_wind", "No module named 'gone_with_the_wind'"),
    ],
)
def test_a_wrong_import_in_a_claim(refused, monkeypatch, tmp_path, line, what):
    """Every command that loads the theory imports it: its file, its line and the name are said."""
    from rnnbounds.shell import terminal

    file = tmp_path / "brand_new_claim.py"
    file.write_text(f'"""A claim."""\n\n{line}\n')
    monkeypatch.setattr(table.package, "__path__", [str(tmp_path)])
    monkeypatch.setattr(terminal, "PACKAGE_FOLDER", tmp_path)
    monkeypatch.setattr(
        compare, "compare_files", lambda *records: table.claims_by_module.__wrapped__()
    )
    said = refused(*COMPARED)
    assert said.startswith(f"rnnbounds: {file}, line 3: {what}")
    assert said.endswith("; correct that import, or install rnnbounds again, with what it needs")


def test_a_current_folder_that_was_removed(refused, tmp_path, monkeypatch):
    """Said before a library that looks for its files there ends the program."""
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    line = "rnnbounds: the current folder was removed; change to another one and run it again"
    assert refused("claims") == line


def test_an_interrupt_is_the_shell_s(call, monkeypatch):
    """Ctrl-C is neither a verdict nor a wrong call: 130, as shells have it."""

    def fail(*records):
        raise KeyboardInterrupt

    monkeypatch.setattr(compare, "compare_files", fail)
    assert call(*COMPARED).code == 130


def test_a_mistake_of_ours_is_no_input_error(call, monkeypatch):
    """A plain ValueError is a bug: it is not dressed up as the user's."""

    def fail(*records):
        raise ValueError("a bug")

    monkeypatch.setattr(compare, "compare_files", fail)
    with pytest.raises(ValueError, match="a bug"):
        call(*COMPARED)


def test_names_that_are_no_text(call, refused, stable_model):
    """A file name of arbitrary bytes has no JSON form: one line, not a traceback."""
    options = ("--cell", "rnn-tanh", "--inputs", 1, "--format", "json")
    odd = stable_model.rename(stable_model.with_name("\udcff.pt"))
    assert "not valid text" in refused("certify", odd, *options)
