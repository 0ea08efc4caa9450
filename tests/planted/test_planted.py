"""The list of planted faults is kept, and what runs it tells a conviction from a survivor."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from planted_attack import FINAL, attacked
from planted_faults import ROOT, Fault, FaultError, check, listed, plant, planted, pristine
from planted_run import LEAST, Outcome, chosen, judged, main, summary

from rnnbounds.properties.attacks import campaign
from rnnbounds.properties.errors import BoxError, DisagreementError
from rnnbounds.theory import CLAIMS

FOLDERS = ("cells", "arithmetic", "numbers", "norms", "gradients", "training", "convert")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rooms, copied and compiled."""
    target = tmp_path_factory.mktemp("planted") / "code"
    pristine(target)
    return target


def named(name: str) -> Fault:
    """A fault of the list."""
    return chosen(listed(), [name])[0]


def test_every_fault_can_be_planted():
    """Every old text occurs exactly once in the code as it is; every test named exists."""
    check(listed())


def test_the_list_is_long_and_wide():
    """At least sixty faults in all folders, nine of ten left to claims, of which most convict."""
    real = [fault for fault in listed() if not fault.benign]
    by_claim = [fault for fault in real if fault.claims]
    assert len(real) >= 60
    assert len(by_claim) >= LEAST * sum(fault.judged for fault in real)
    assert any(not fault.judged for fault in real)
    assert {fault.file.split("/")[1] for fault in real} >= {*FOLDERS, "models"}
    known = {claim.id for claim in CLAIMS}
    asked = {name for fault in by_claim for name in fault.claims}
    assert asked <= known


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"old": "no such text"}, "occurs 0 times in impl/norms/window.py, not once"),
        ({"old": "k"}, "times in impl/norms/window.py, not once"),
        ({"new": "            k += 1\n        return k"}, "the edit changes nothing"),
        ({"new": ")"}, "is no longer Python"),
        ({"file": "impl/norms/windows.py"}, "is no file of the five rooms"),
        ({"file": "tests/conftest.py"}, "is no file of the five rooms"),
        ({"test": "tests/impl/numbers/test_windows.py"}, "there is no tests/impl"),
    ],
)
def test_a_fault_that_no_longer_fits_is_named(change: dict[str, str], message: str):
    """The code moved on: an error that names the fault, and what is wrong with it."""
    fault = named("window-one-short")
    with pytest.raises(FaultError, match=f"^{fault.id}: .*{message}"):
        check([replace(fault, **change)])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[fault]]\nid = 1", "Expected `str`"),
        ("[[fault]\n", "Expected"),
        ('[[fault]]\n{}\nclaims = ["truncation"]\nbenign = "no"', "f: say its claims, or a test"),
        ("[[fault]]\n{}", "f: say its claims, or a test"),
        ('[[fault]]\n{}\ntest = "t"', "f: a test needs a reason"),
        ('[[fault]]\n{}\nclaims = ["c"]\nwhy = "w"', "f: a test needs a reason"),
        ('[[fault]]\n{}\nbenign = "b"\n[[fault]]\n{}\nbenign = "b"', "f: named 2 times"),
        ('[[fault]]\n{}\nclaim = "c"', "unknown field"),
    ],
)
def test_a_list_that_is_wrong_is_refused(tmp_path: Path, text: str, message: str):
    """Nothing is left out of an entry, misspelt or said twice."""
    entry = 'id = "f"\nfile = "impl/errors.py"\nold = "a"\nnew = "b"\nwhat = "w"'
    (tmp_path / "faults.toml").write_text(text.replace("{}", entry))
    with pytest.raises(FaultError, match=message):
        listed(tmp_path)


def test_only_the_copy_is_edited(copy: Path, tmp_path: Path):
    """The fault is in the copy, and neither in what it was copied from nor in the code."""
    fault = named("window-one-short")
    plant(fault, copy, tmp_path / "code")
    assert (tmp_path / "code" / fault.file).read_text() == planted(fault)
    assert (copy / fault.file).read_text() == (ROOT / fault.file).read_text() != planted(fault)


@pytest.mark.slow
def test_a_claim_convicts(copy: Path):
    """A fault that is convicted within seconds."""
    outcome = judged(named("norm-scaled-back-by-half"), copy)
    assert outcome.by == "claim"
    assert "VIOLATED" in outcome.line


@pytest.mark.slow
def test_a_unit_test_convicts(copy: Path):
    """What no claim reads is left to a unit test, which runs against the copy."""
    assert judged(named("window-one-short"), copy).by == "test"


@pytest.mark.slow
def test_nobody_convicts_what_is_right(copy: Path):
    """A bit of precision more survives its claim, and its unit test."""
    fault = named("window-one-short")
    harmless = replace(fault, old="_PRECISION = 320", new="_PRECISION = 321")
    assert judged(harmless, copy).by == "nobody"
    attacked = replace(harmless, test="", why="", claims=("certified-norm",), attacks=("extremal",))
    outcome = judged(attacked, copy)
    assert (outcome.by, outcome.told.split()[0]) == ("nobody", "HOLDS")


@pytest.mark.slow
@pytest.mark.parametrize("error", [DisagreementError(*"abcd"), BoxError(*"abc")])
def test_readings_that_disagree_convict(error: Exception, monkeypatch: pytest.MonkeyPatch):
    """Float64 and balls that differ, and boxes that do not hold, convict what the fault is in."""

    def attack(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(campaign, "attack_claim", attack)
    told = attacked("vanishing-gradient", "extremal")
    assert told["verdict"] == type(error).__name__
    assert told["verdict"] in FINAL


@pytest.mark.slow
def test_code_that_breaks_is_no_conviction(copy: Path):
    """An attack that raises says so: it judged nothing."""
    fault = replace(named("norm-scaled-back-by-half"), new="bound = missing")
    outcome = judged(fault, copy)
    assert outcome.by == "nobody"
    assert "NameError" in outcome.told


@pytest.mark.parametrize(
    ("claims", "tests", "lost", "code"), [(9, 1, 0, 0), (9, 0, 1, 0), (8, 2, 0, 1), (0, 0, 1, 1)]
)
def test_counts(claims: int, tests: int, lost: int, code: int):
    """Nine of ten by a claim pass, unless a unit test fails to convict."""
    fault = named("drive-without-bias")
    ways = ["claim"] * claims + ["test"] * tests + ["nobody"] * lost
    told, found = summary([Outcome(fault, by, "", 0.0) for by in ways])
    assert found == code
    assert told.startswith(f"{len(ways)} faults: {claims} convicted by a claim")


def test_faults_of_the_checker_are_counted_by_themselves():
    """Nine of ten of the others fall to a claim; the words say of how many."""
    fault, proved = named("drive-without-bias"), named("checker-box-that-is-left")
    outcomes = [Outcome(fault, "claim", "", 0.0)] * 9 + [Outcome(fault, "test", "", 0.0)]
    told, code = summary([*outcomes, *[Outcome(proved, "test", "", 0.0)] * 10])
    assert told.startswith(
        "20 faults: 9 convicted by a claim (90 % of the 10 that claims may judge), 11 by a unit "
    )
    assert code == 0
    by_claim = [Outcome(proved, "claim", "", 0.0)] * 2
    assert summary([*outcomes[1:], *by_claim])[1] == 1


def test_the_documentation_counts_them():
    """So many that count, left to a claim, to a unit test, of these of the checker, and benign."""
    faults = listed()
    real = [fault for fault in faults if not fault.benign]
    tests = [fault for fault in real if not fault.claims]
    words = " ".join(
        (ROOT / "docs" / "how-to" / "attack-a-bound.md").read_text(encoding="utf-8").split()
    )
    assert (
        f"Of the {len(real)} faults that count, {len(real) - len(tests)} are for a claim" in words
    )
    apart = sum(not fault.judged for fault in tests)
    assert f"{len(tests)} for a named unit test" in words
    assert f"{apart} of these are in the checker or around recorded data" in words
    assert f"{len(faults) - len(real)} more are benign" in words


def test_a_test_that_does_not_convict_fails_the_run():
    """However many claims convict the others."""
    by_claim, by_test = named("drive-without-bias"), named("window-one-short")
    outcomes = [Outcome(by_claim, "claim", "", 0.0)] * 99 + [Outcome(by_test, "nobody", "", 0.0)]
    assert summary(outcomes)[1] == 1


def test_an_unknown_fault_ends_in_one_line(capsys: pytest.CaptureFixture[str]):
    """Exit 2, and no run."""
    assert main(["no-such-fault"]) == 2
    assert "no fault is named no-such-fault" in capsys.readouterr().err
