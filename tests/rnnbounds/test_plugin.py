"""The pytest plugin: the same record as ``verify``, and sessions that fail when the run does."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import properties
from reports import comparable, load, problems
from rnnbounds.plugin import ATTACKS, PROFILE, SEED, check_options

CLAIM = "certified-norm"
BOUNDS = Path(properties.__file__).with_name("test_bounds.py")
TINY = """
from properties.attacks.budget import PROFILES, Budget
PROFILES["quick"] = Budget(random=2, targeted=1, gradient=1, ascent=4, batch=4, sequences=2)
"""
BROKEN = """
import msgspec
from properties.runs import parts
honest = parts.ledger_records
def unproved(entry, minimal):
    return tuple(msgspec.structs.replace(ledger, proved=False) for ledger in honest(entry, minimal))
parts.ledger_records = unproved
"""

Session = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def session(python, plugin, tmp_path) -> Session:
    """Run ``pytest properties`` on a tiny budget in a process of its own."""
    (tmp_path / "tiny_budget.py").write_text(TINY)
    (tmp_path / "broken_proofs.py").write_text(BROKEN)

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        fixed = ("-p", "tiny_budget", *plugin, "-p", "no:cacheprovider", "-q")
        return python("-m", "pytest", BOUNDS, *fixed, *arguments)

    return run


@pytest.mark.slow
def test_the_same_record_as_verify(session, call, tiny, tmp_path):
    """In one process, in two, and from the command line: one record but for the environment."""
    assert call("verify", CLAIM, "-n", 0, "--out", tmp_path / "cli").code == 0
    for workers in ("0", "2"):
        folder = tmp_path / workers
        result = session("-k", CLAIM, "--bounds-report", folder, "-n", workers)
        assert result.returncode == 0, result.stdout + result.stderr
        assert f"wrote {folder / 'run.json'} and {folder / 'index.html'}" in result.stdout
        assert sorted(path.name for path in folder.iterdir()) == ["index.html", "run.json"]
    runs = [load(tmp_path / name / "run.json") for name in ("cli", "0", "2")]
    assert comparable(runs[0]) == comparable(runs[1]) == comparable(runs[2])
    assert problems(runs[0]) == []
    assert runs[2].environment.workers == 2
    assert runs[2].environment.command.startswith("pytest ")


def test_a_failing_part_fails_the_session(session, tmp_path):
    """An unproved ledger fails its test, the record and the session."""
    folder = tmp_path / "report"
    result = session("-k", f"{CLAIM}/proof", "-p", "broken_proofs", "--bounds-report", folder)
    assert result.returncode == 1
    assert f"FAILS: {CLAIM}: not proved (form gate)" in result.stdout
    run = load(folder / "run.json")
    assert not run.claims[0].proved
    assert f"{CLAIM}/random" in run.missing_parts


def test_a_missing_part_fails_the_session(session, tmp_path):
    """All tests that ran pass, but the record lacks parts: that is no pass."""
    folder = tmp_path / "report"
    result = session("-k", f"{CLAIM}/proof", "--bounds-report", folder)
    assert "1 passed" in result.stdout
    assert result.returncode == 1
    assert f"FAILS: the part '{CLAIM}/random' never reported" in result.stdout


def test_without_a_report_nothing_is_written(session, tmp_path):
    """Chosen attacks run, the others are skipped; no file, no summary."""
    before = set(tmp_path.iterdir())
    chosen = f"{CLAIM}/random or {CLAIM}/targeted"
    result = session("-k", chosen, "--bounds-attacks", "random")
    assert result.returncode == 0, result.stdout
    assert "1 passed, 1 skipped" in result.stdout
    assert "wrote" not in result.stdout
    assert {path for path in tmp_path.iterdir() if path.suffix != ".py"} <= before | {
        tmp_path / name for name in ("__pycache__", ".hypothesis")
    }


def test_collecting_writes_nothing(session, tmp_path):
    """--collect-only looks at nothing, so it must not overwrite a report."""
    folder = tmp_path / "report"
    result = session("--collect-only", "--bounds-report", folder)
    assert result.returncode == 0
    assert not folder.exists()


def test_a_wrong_option_is_a_usage_error(session, tmp_path):
    """Exit 4 with one clear line, before anything is collected."""
    result = session("--bounds-profile", "slow", "--bounds-report", tmp_path / "report")
    assert result.returncode == pytest.ExitCode.USAGE_ERROR
    lines = [line for line in (result.stdout + result.stderr).splitlines() if line.strip()]
    assert lines == ["ERROR: unknown profile 'slow'; choose among quick, ci, deep"]
    assert not (tmp_path / "report").exists()


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"profile_name": "slow"}, "choose among quick, ci, deep"),
        ({"attacks": "random,brute"}, "unknown attack 'brute'; choose among random"),
        ({"attacks": ""}, "choose among random"),
        ({"seed": -1}, "choose --bounds-seed 0 or above"),
    ],
)
def test_options_are_checked(changes, fault):
    """Each wrong option is a usage error of one line."""
    right = {"profile_name": PROFILE, "seed": SEED, "attacks": ATTACKS, "folder": None}
    check_options(**right)
    with pytest.raises(pytest.UsageError, match=fault):
        check_options(**(right | changes))


def test_the_folder_is_checked(tmp_path):
    """A file in the folder's place is named before the minutes that a run takes."""
    (tmp_path / "file").touch()
    check_options(PROFILE, SEED, ATTACKS, str(tmp_path / "new"))
    with pytest.raises(pytest.UsageError, match="is a file; choose another place"):
        check_options(PROFILE, SEED, ATTACKS, str(tmp_path / "file"))


def test_the_defaults_are_the_command_line_s():
    """The plugin does not name the attacks, for it must not import the rooms in every session."""
    from properties.attacks.table import check_attacks
    from rnnbounds.commands.attacks import ALL

    assert check_attacks([ATTACKS]) == tuple(ALL.split(","))
