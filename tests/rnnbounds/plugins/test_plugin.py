"""The pytest plugin: the same record as ``verify``, and sessions that fail when the run does."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from rnnbounds import properties
from rnnbounds.plugin import ATTACKS
from rnnbounds.properties.runs import parts
from rnnbounds.reports.records.codec import load
from rnnbounds.reports.records.outcome import run_problems, without_environment
from rnnbounds.theory import claim
from rnnbounds.theory.kernel.solver.client import Solver

CLAIM = "contraction-linear"
BOUNDS = Path(properties.__file__).with_name("test_bounds.py")
# The budget of `tiny` and the claim alone in the processes of pytest-xdist.
TWO = """
from rnnbounds.properties.attacks.budget import PROFILES, Budget
from rnnbounds.properties.runs import parts
parts.CLAIMS = parts.chosen_claims(["contraction-linear"])
PROFILES["quick"] = Budget(random=4, targeted=1, gradient=1, ascent=4, batch=4, sequences=2)
"""

Session = Callable[..., tuple[int, str]]


@pytest.fixture
def session(plugin, tiny, tmp_path, capsys, monkeypatch) -> Session:
    """Run ``pytest properties`` here, on a tiny budget: its exit code and what it printed."""

    def run(*arguments: object, what: Path = BOUNDS) -> tuple[int, str]:
        monkeypatch.chdir(tmp_path)
        fixed = (*plugin, "-c", "/dev/null", "--rootdir", tmp_path, "-p", "no:cacheprovider", "-q")
        code = pytest.main([str(word) for word in (what, *fixed, *arguments)])
        told = capsys.readouterr()
        return int(code), told.out + told.err

    return run


@pytest.mark.slow
def test_the_same_record_as_verify(session, python, plugin, call, tiny, tmp_path):
    """In one process, in two, and from the command line: one record but for the environment; all
    that is imported in two, to the page's figures, is so without a warning."""
    attacks = ("--bounds-attacks", "random")
    verify = ("verify", CLAIM, "-n", 0, "--attacks", "random", "--out", tmp_path / "cli")
    assert call(*verify).code == 0
    code, told = session("-k", CLAIM, *attacks, "--bounds-report", tmp_path / "0")
    assert code == 0, told
    (tmp_path / "tiny_budget.py").write_text(TWO)
    fixed = ("-p", "tiny_budget", *plugin, "-p", "no:cacheprovider", "-q", "-n", 2, "-k", CLAIM)
    report = ("-W", "error", *attacks, "--bounds-report", tmp_path / "2")
    result = python("-m", "pytest", BOUNDS, *fixed, *report)
    assert (result.returncode, result.stderr) == (0, ""), result.stdout + result.stderr
    for folder, text in ((tmp_path / "0", told), (tmp_path / "2", result.stdout)):
        assert f"wrote {folder / 'run.json'} and {folder / 'index.html'}" in text
        assert sorted(path.name for path in folder.iterdir()) == ["index.html", "run.json"]
    runs = [load(tmp_path / name / "run.json") for name in ("cli", "0", "2")]
    assert (
        without_environment(runs[0]) == without_environment(runs[1]) == without_environment(runs[2])
    )
    assert run_problems(runs[0]) == []
    assert runs[2].environment.workers == 2
    assert runs[2].environment.command.startswith("pytest ")


@pytest.fixture
def alone(monkeypatch) -> None:
    """The claim is the only one: a session collects no other's parts."""
    monkeypatch.setattr(parts, "CLAIMS", (claim(CLAIM),))


@pytest.mark.slow
def test_a_failing_part_fails_the_session(session, alone, tmp_path, monkeypatch):
    """An unproved ledger fails its test, the record and the session."""
    honest = parts.ledger_records
    monkeypatch.setattr(
        parts,
        "ledger_records",
        lambda *asked: tuple(replace(ledger, proved=False) for ledger in honest(*asked)),
    )
    folder = tmp_path / "report"
    code, told = session("-k", f"{CLAIM}/proof", "--bounds-report", folder)
    assert code == 1
    assert f"FAILS: {CLAIM}: not proved (form euclidean)" in told
    run = load(folder / "run.json")
    assert not run.claims[0].proved
    assert f"{CLAIM}/random" in run.missing_parts


@pytest.mark.slow
def test_a_solver_that_dies_ends_the_session(session, alone, tmp_path, monkeypatch):
    """No part is judged: exit 2, one line, and nothing is written."""
    monkeypatch.setattr(parts, "ledger_records", lambda *asked: Solver(memory=2**25).ask(""))
    code, told = session("-k", f"{CLAIM}/proof", "--bounds-report", tmp_path / "report")
    assert code == 2
    assert "Exit: rnnbounds: z3's process ended with code " in told
    assert not (tmp_path / "report").exists()


@pytest.mark.slow
def test_a_missing_part_fails_the_session(session, alone, tmp_path):
    """All tests that ran pass, but the record lacks parts: that is no pass."""
    code, told = session("-k", f"{CLAIM}/proof", "--bounds-report", tmp_path / "report")
    assert "1 passed" in told
    assert code == 1
    assert f"FAILS: the part '{CLAIM}/random' never reported" in told


def test_collecting_writes_nothing(session, alone, tmp_path):
    """--collect-only looks at nothing, so it must not overwrite a report."""
    folder = tmp_path / "report"
    assert session("--collect-only", "--bounds-report", folder)[0] == 0
    assert not folder.exists()


def test_a_wrong_option_is_a_usage_error(session, tmp_path):
    """Exit 4 with one clear line, before anything is collected, and nothing is written."""
    code, told = session("--bounds-profile", "slow", "--bounds-report", tmp_path / "report")
    assert code == pytest.ExitCode.USAGE_ERROR
    lines = [line for line in told.splitlines() if line.strip()]
    assert lines == ["ERROR: unknown profile 'slow'; choose among quick, ci, deep"]
    assert not (tmp_path / "report").exists()
    own = tmp_path / "test_own.py"
    own.write_text("def test_own():\n    pass\n")
    code, told = session("--bounds-report", "", what=own)
    assert code == pytest.ExitCode.USAGE_ERROR
    assert "--bounds-report is empty; name one, or leave it out" in told


def test_the_defaults_are_the_command_line_s():
    """The plugin does not name the attacks, for it must not import the rooms in every session."""
    from rnnbounds.commands.attacks import ALL_ATTACKS
    from rnnbounds.properties.attacks.attack import chosen_attacks

    assert chosen_attacks([ATTACKS]) == tuple(ALL_ATTACKS.split(","))
