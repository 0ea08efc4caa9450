"""The pytest plugin: the same record as ``verify``, sessions that fail when the run does, and what
pipelines read: JUnit XML, settings of the ini file, a baseline."""

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from rnnbounds import properties
from rnnbounds.plugin import ATTACKS
from rnnbounds.properties.runs import parts
from rnnbounds.reports.records.codec import encode, load
from rnnbounds.reports.records.outcome import run_problems, without_environment
from rnnbounds.shell.extras import EXTRAS
from rnnbounds.theory import claim
from rnnbounds.theory.kernel.solver.client import Solver

CLAIM = "contraction-linear"
BOUNDS = Path(properties.__file__).with_name("test_bounds.py")
CHOSEN = ("-k", CLAIM, "--bounds-attacks", "random")
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
    """Run pytest here on the parts of one claim, the only one, or on a test of the project's own,
    with settings in an ini file: the exit code, and what was printed."""
    monkeypatch.setattr(parts, "CLAIMS", (claim(CLAIM),))
    project = tmp_path / "project"
    project.mkdir()

    def run(*arguments: object, settings: str = "", own: bool = False) -> tuple[int, str]:
        monkeypatch.chdir(tmp_path)
        (ini := project / "pytest.ini").write_text(f"[pytest]\n{settings}\n")
        (test := project / "test_own.py").write_text("def test_own():\n    pass\n")
        fixed = ("-c", ini, "--rootdir", tmp_path, "-p", "no:cacheprovider", "-q", *plugin)
        words = (test if own else BOUNDS, *fixed, *arguments)
        code = pytest.main([str(word) for word in words])
        told = capsys.readouterr()
        return int(code), told.out + told.err

    return run


@pytest.mark.slow
def test_the_same_record_as_verify(session, python, plugin, call, tmp_path):
    """In one process, in two, and from the command line: one record but for the environment; all
    that is imported in two, to the page's figures, is so without a warning."""
    verify = ("verify", CLAIM, "-n", 0, "--attacks", "random", "--out", tmp_path / "cli")
    assert call(*verify).code == 0
    code, told = session(*CHOSEN, "--bounds-report", tmp_path / "0")
    assert code == 0, told
    (tmp_path / "tiny_budget.py").write_text(TWO)
    fixed = ("-p", "tiny_budget", *plugin, "-p", "no:cacheprovider", "-q", "-n", 2, *CHOSEN)
    report = ("-W", "error", "--bounds-report", tmp_path / "2")
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


def test_a_failing_part_fails_the_session(session, tmp_path, monkeypatch):
    """An unproved ledger fails its test, the record and the session; so do parts that never
    reported, as all but the proof."""
    honest = parts.ledger_records
    monkeypatch.setattr(
        parts,
        "ledger_records",
        lambda *asked: tuple(replace(ledger, proved=False) for ledger in honest(*asked)),
    )
    code, told = session("-k", f"{CLAIM}/proof", "--bounds-report", tmp_path / "report")
    assert code == 1
    assert f"FAILS: {CLAIM}: not proved (form euclidean)" in told
    run = load(tmp_path / "report" / "run.json")
    assert not run.claims[0].proved
    assert f"{CLAIM}/random" in run.missing_parts
    monkeypatch.setattr(parts, "ledger_records", honest)
    code, told = session("-k", f"{CLAIM}/proof", "--bounds-report", tmp_path / "report")
    assert (code, "1 passed" in told) == (1, True)
    assert f"FAILS: the part '{CLAIM}/random' never reported" in told


def test_a_solver_that_dies_ends_the_session(session, tmp_path, monkeypatch):
    """No part is judged: exit 2, one line, and nothing is written."""
    monkeypatch.setattr(parts, "ledger_records", lambda *asked: Solver(memory=2**25).ask(""))
    code, told = session("-k", f"{CLAIM}/proof", "--bounds-report", tmp_path / "report")
    assert code == 2
    assert "Exit: rnnbounds: z3's process ended with code " in told
    assert not (tmp_path / "report").exists()


def test_options(session, monkeypatch, tmp_path):
    """--collect-only looks at nothing, so it writes nothing. A wrong option is exit 4 and one line
    before anything is collected; what the command line says overrides a setting. The plugin does
    not name the attacks, for it must not import the rooms in every session."""
    from rnnbounds.properties.attacks.attack import attacks, chosen_attacks

    assert chosen_attacks([ATTACKS]) == tuple(attacks())
    report = ("--bounds-report", tmp_path / "report")
    assert session("--collect-only", *report)[0] == 0
    code, told = session("--bounds-profile", "slow", *report)
    assert code == pytest.ExitCode.USAGE_ERROR
    lines = [line for line in told.splitlines() if line.strip()]
    assert lines == ["ERROR: unknown profile 'slow'; choose among quick, ci, deep"]
    wrong = "bounds_profile = slow"
    assert session("--bounds-profile", "quick", "--collect-only", settings=wrong)[0] == 0
    code, told = session("--bounds-report", "", own=True)
    assert code == pytest.ExitCode.USAGE_ERROR
    assert "--bounds-report is empty; name one, or leave it out" in told
    monkeypatch.setitem(EXTRAS, "theory", ("gone_with_the_wind",))
    code, told = session(*report, own=True)
    assert code == pytest.ExitCode.USAGE_ERROR
    assert "a run of the bounds needs gone_with_the_wind; install it with: pip install" in told
    assert not (tmp_path / "report").exists()


def test_junit_and_settings(session, record, tmp_path):
    """A case for each part with its tallies, and no more; paths go from the ini file."""
    project = tmp_path / "project"
    record.rename(project / "main.json")
    settings = "bounds_report = made\nbounds_baseline = main.json\nbounds_profile = quick"
    code, told = session(*CHOSEN, "--junitxml", tmp_path / "junit.xml", settings=settings)
    assert code == 0, told
    assert f"wrote {project / 'made' / 'run.json'}" in told
    assert "nothing changed by more than the thresholds allow" in told
    cases = list(ElementTree.parse(tmp_path / "junit.xml").iter("testcase"))
    assert len(cases) > 1
    found = [{one.get("name"): one.get("value") for one in case.iter("property")} for case in cases]
    assert all("seconds" in one and "rnnbounds" not in one for one in found)
    steps = [one for one in found if "steps" in one]
    assert [one["failed steps"] for one in steps] == ["0"]
    judged = [one for one in found if "holds" in one]
    run = load(project / "made" / "run.json")
    assert sum(int(one["holds"]) for one in judged) == run.claims[0].tally.holds
    assert sum(int(one["violated"]) for one in judged) == 0


def test_a_regression_fails_the_session(session, record):
    """By an option too, without a report."""
    run = load(record)
    told = run.claims[0]
    ledgers = tuple(replace(ledger, axioms=ledger.axioms[1:]) for ledger in told.ledgers)
    record.write_bytes(encode(replace(run, claims=(replace(told, ledgers=ledgers),))))
    code, told = session(*CHOSEN, "--bounds-baseline", record)
    assert code == 1
    assert f"FAILS: regressed: {CLAIM}: textbook theorems" in told
    assert "wrote" not in told


def test_people_s_own_tests(session, tmp_path):
    """Settings are about our cases: other tests pass under them, and leave the report alone."""
    settings = "bounds_report = report\nbounds_baseline = absent.json"
    code, told = session(settings=settings, own=True)
    assert (code, "1 passed" in told, "= bounds =" in told) == (0, True, False), told
    assert not (tmp_path / "project" / "report").exists()
    code, told = session("--bounds-report", tmp_path / "asked", settings=settings, own=True)
    assert code == 1
    assert (tmp_path / "asked" / "run.json").exists()
    assert "absent.json" not in told
