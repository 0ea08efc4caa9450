"""The plugin in people's pipelines: JUnit XML, settings of the ini file, a baseline."""

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from rnnbounds import properties
from rnnbounds.properties.runs import parts
from rnnbounds.reports.records.codec import encode, load
from rnnbounds.theory import claim

BOUNDS = Path(properties.__file__).with_name("test_bounds.py")
WORDS = ("-p", "no:cacheprovider", "-q", "-k", "contraction-linear", "--bounds-attacks", "random")
OWN = "def test_own():\n    pass\n"


@pytest.fixture
def session(plugin, tiny, tmp_path, capsys, monkeypatch) -> Callable[..., tuple[int, str]]:
    """Run the parts of one claim, the only one, here under an ini file: the exit code, and what
    was printed."""
    monkeypatch.setattr(parts, "CLAIMS", (claim("contraction-linear"),))

    def run(settings: str, *arguments: object, what: str = "") -> tuple[int, str]:
        monkeypatch.chdir(tmp_path)
        ini = tmp_path / "project" / "pytest.ini"
        ini.parent.mkdir(exist_ok=True)
        ini.write_text(f"[pytest]\n{settings}\n")
        place: Path = BOUNDS
        if what:
            place = ini.with_name("test_own.py")
            place.write_text(what)
        chosen = WORDS if not what else WORDS[:3]
        words = (place, *plugin, "-c", ini, "--rootdir", tmp_path, *chosen, *arguments)
        code = pytest.main([str(word) for word in words])
        told = capsys.readouterr()
        return int(code), told.out + told.err

    return run


def test_junit_and_settings(session, record, tmp_path):
    """A case for each part with its tallies, and no more; paths go from the ini file."""
    (tmp_path / "project").mkdir()
    record.rename(tmp_path / "project" / "main.json")
    code, told = session(
        "bounds_report = made\nbounds_baseline = main.json\nbounds_profile = quick",
        "--junitxml", tmp_path / "junit.xml",
    )  # fmt: skip
    assert code == 0, told
    assert f"wrote {tmp_path / 'project' / 'made' / 'run.json'}" in told
    assert "nothing regressed, and nothing else changed" in told
    cases = list(ElementTree.parse(tmp_path / "junit.xml").iter("testcase"))
    assert len(cases) > 1
    found = [{one.get("name"): one.get("value") for one in case.iter("property")} for case in cases]
    assert all("seconds" in one and "rnnbounds" not in one for one in found)
    steps = [one for one in found if "steps" in one]
    assert [one["failed steps"] for one in steps] == ["0"]
    judged = [one for one in found if "holds" in one]
    run = load(tmp_path / "project" / "made" / "run.json")
    assert sum(int(one["holds"]) for one in judged) == run.claims[0].tally.holds
    assert sum(int(one["violated"]) for one in judged) == 0


def test_a_regression_fails_the_session(session, record, tmp_path):
    """By an option too, without a report."""
    run = load(record)
    told = run.claims[0]
    ledgers = tuple(replace(ledger, axioms=ledger.axioms[1:]) for ledger in told.ledgers)
    record.write_bytes(encode(replace(run, claims=(replace(told, ledgers=ledgers),))))
    code, told = session("", "--bounds-baseline", record)
    assert code == 1
    assert "FAILS: regressed: contraction-linear: textbook theorems" in told
    assert "wrote" not in told


@pytest.mark.slow
def test_people_s_own_tests(session, record, tmp_path):
    """Settings are about our cases: other tests pass under them, and leave the report alone."""
    ini = "bounds_report = report\nbounds_baseline = absent.json"
    code, told = session(ini, what=OWN)
    assert (code, "1 passed" in told, "= bounds =" in told) == (0, True, False), told
    assert not (tmp_path / "project" / "report").exists()
    code, told = session(ini, "--bounds-report", tmp_path / "asked", what=OWN)
    assert code == 1
    assert (tmp_path / "asked" / "run.json").exists()
    assert "absent.json" not in told


def test_an_option_overrides_its_setting(session, tmp_path):
    """What the command line says goes."""
    code, told = session("bounds_profile = slow", "--bounds-profile", "quick", "--collect-only")
    assert code == 0, told
