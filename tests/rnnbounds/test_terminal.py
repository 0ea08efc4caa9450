"""What reaches the terminal: printable lines, whoever chose the names, and whoever reads them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

import rnnbounds
from rnnbounds.reports.pages.run import render_run
from rnnbounds.reports.records.codec import encode, load
from rnnbounds.shell.output import print_json, print_table
from rnnbounds.shell.terminal import echo

HOUSE = Path(rnnbounds.__file__).resolve().parent.parent
HOSTILE = "x\ncertified: all is well\x1b[2J\x9b31m\u202e\u200b"
QUICK = ("--inputs", 1, "--cell", "linear", "--norm", "spectral")
RUN = "from rnnbounds.cli import main; import sys; sys.exit(main())"


def printed(text: str) -> bool:
    """Whether nothing but printable lines reaches the terminal."""
    return all(line.isprintable() for line in text.split("\n"))


@pytest.fixture
def program(tmp_path):
    """The whole program in another process: program(*arguments, **environment)."""

    def run(*arguments, stdout=subprocess.PIPE, **environment):
        environment = os.environ | {"PYTHONPATH": str(HOUSE), "OMP_NUM_THREADS": "1"} | environment
        return subprocess.run(
            [sys.executable, "-c", RUN, *map(str, arguments)],
            cwd=tmp_path, env=environment, stdout=stdout, stderr=subprocess.PIPE,
            timeout=300, check=False,
        )  # fmt: skip

    return run


def test_a_file_name_cannot_add_a_verdict(call, save, tmp_path):
    """The lines of a refuted model are its own, whatever the file is called."""
    path = save([[2.0]], name="model").rename(tmp_path / HOSTILE)
    outcome = call("certify", path, "--inputs", 1, "--cell", "linear")
    assert outcome.code == 1
    assert printed(outcome.out)
    assert not any(line.startswith("certified") for line in outcome.out.splitlines())
    document = call("certify", path, "--inputs", 1, "--cell", "linear", "--format", "json")
    assert printed(document.out)
    assert document.json["model"] == str(path)  # the escapes are JSON's


@pytest.mark.parametrize("command", ["certify", "check", "report", "compare", "replay", "prove"])
def test_errors_name_what_is_hostile_in_escapes(call, tmp_path, command):
    """Missing files, unknown names, unknown fields: one printable line."""
    more = {
        "certify": ("--inputs", 1),
        "report": ("--out", tmp_path / "out"),
        "compare": (tmp_path,),
        "replay": ("--claim", HOSTILE),
    }
    outcome = call(command, HOSTILE, *more.get(command, ()))
    assert (outcome.code, outcome.out) == (2, "")
    assert printed(outcome.err)
    assert outcome.err.count("\n") == 1


def test_a_record_s_names_on_every_output(call, record):
    """Claims, variants and forms of a record, in tables, documents and on the page."""
    data = record.read_bytes().replace(b'"contraction-linear"', json.dumps(HOSTILE).encode())
    record.write_bytes(
        data.replace(b'"contraction-linear/', json.dumps(HOSTILE).encode()[:-1] + b"/")
    )
    for options in ((), ("--markdown",), ("--format", "json")):
        outcome = call("claims", "--run", record, *options)
        assert outcome.out
        assert printed(outcome.out)
    run = load(record)
    assert printed(render_run(run).decode())
    assert run.claims[0].id == HOSTILE
    unproved = replace(run, missing_parts=())
    assert encode(unproved)


def test_lines_tables_and_documents(capsys):
    """The three ways to print, each one line for one."""
    echo(HOSTILE)
    print_table(("a",), [(HOSTILE,)])
    print_json({HOSTILE: "λ 𝕏"})
    told = capsys.readouterr().out
    assert printed(told)
    assert len(told.splitlines()) == 1 + 2 + 3
    assert "λ 𝕏" in told


@pytest.mark.slow
def test_a_reader_that_leaves_changes_no_verdict(program, save):
    """Nobody reads standard output any more, as after ``head``: the exit code is the verdict's."""
    refuted = ("certify", save([[2.0]]), *QUICK)
    for call, unbuffered, code in (
        (("claims",), "1", 0), (refuted, "", 1), (("--help",), "1", 0), (("check", "-h"), "", 0),
    ):  # fmt: skip
        reader, writer = os.pipe()
        os.close(reader)
        done = program(*call, stdout=writer, PYTHONUNBUFFERED=unbuffered)
        os.close(writer)
        assert (done.returncode, done.stderr) == (code, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
def test_a_full_disk_is_said(program):
    """What could not be printed is no verdict: one line, exit 2."""
    with Path("/dev/full").open("wb") as full:
        done = program("claims", stdout=full)
    assert done.returncode == 2, done.stderr
    assert done.stderr.decode().endswith(
        "rnnbounds: standard output: No space left on device; choose another path\n"
    )
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize(("stream", "left"), [("stdout", "err"), ("stderr", "out")])
def test_what_is_closed_is_not_said_elsewhere(call, monkeypatch, stream, left):
    """`2>&-`: an error is no output, and the exit code says it still."""
    with monkeypatch.context() as patch:
        patch.setattr(sys, stream, None)
        for arguments, code in ((("nope",), 2), (("--version",), 0)):
            outcome = call(*arguments)
            assert outcome.code == code
            assert bool(getattr(outcome, left)) == ((code == 2) == (stream == "stdout"))


CLOSED = """
import os, sys
from rnnbounds.cli import main
from rnnbounds.shell import signals
signals.signal.set_wakeup_fd = lambda number, **_: print("wake", number > 2)
sys.argv = ["rnnbounds", "--version"]
code = main()
held = os.open(os.devnull, os.O_RDONLY)
print(held > 2, sys.stderr.fileno(), os.get_inheritable(2))
sys.exit(code)
"""


def test_no_file_takes_the_place_of_a_closed_stream():
    """What a library writes to standard error would go into the file, or the pipe, that has it."""
    ran = subprocess.run(
        [sys.executable, "-c", CLOSED], env=os.environ | {"PYTHONPATH": str(HOUSE)},
        stdout=subprocess.PIPE, preexec_fn=lambda: (os.close(0), os.close(2)), text=True,
        timeout=300, check=True,
    )  # fmt: skip
    assert ran.stdout.splitlines() == [
        "wake True",
        f"rnnbounds {rnnbounds.__version__}",
        "True 2 True",
    ]


@pytest.mark.slow
def test_a_terminal_of_few_characters(program, save):
    """In the locale C all of a certificate is printed, and the exit code is the verdict's."""
    few = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": ""}
    done = program("certify", save([[0.5]]), *QUICK, **few)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii()
    assert b"norm tried" in done.stdout
