"""The list of planted faults is kept, and what runs it tells a conviction from a survivor."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from planted import ROOT, Fault, FaultError, convicted, listed, main, planted

from rnnbounds.theory import CLAIMS

FAULT = listed()["window-one-short"]


def test_sixty_faults_can_be_planted():
    """Every old text occurs exactly once in the code as it is; claims and tests named exist."""
    faults = listed().values()
    assert len(faults) == 60
    assert all(planted(fault) for fault in faults)
    known = {claim.id for claim in CLAIMS}
    assert known >= {name for fault in faults for name in fault.claims}
    words = (ROOT / "docs" / "explanation" / "trust.md").read_text(encoding="utf-8")
    by_claim = sum(bool(fault.claims) for fault in faults)
    said = f"of the 60 faults {by_claim} are for a claim to refute and {60 - by_claim} for a named"
    assert said in " ".join(words.split())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"old": "no such text"}, "occurs 0 times in impl/norms/norm_data.py, not once"),
        ({"old": "k"}, "times in impl/norms/norm_data.py, not once"),
        ({"new": FAULT.old + "  # the same"}, "the edit changes nothing"),
        ({"new": ")"}, "is no longer Python"),
        ({"file": "impl/norms/windows.py"}, "is no file of the five rooms"),
        ({"file": "tests/conftest.py"}, "is no file of the five rooms"),
    ],
)
def test_a_fault_that_no_longer_fits_is_named(change: dict[str, str], message: str):
    """The code moved on: an error that names the fault, and what is wrong with it."""
    with pytest.raises(FaultError, match=f"^{FAULT.id}: .*{message}"):
        planted(replace(FAULT, **change))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[fault]]\nid = 1", "Expected `str`"),
        ("[[fault]\n", "Expected"),
        ('{}\nclaims = ["truncation"]\ntest = "t"', "f: say its claims, or a test"),
        ("{}", "f: say its claims, or a test"),
        ('{}\ntest = "tests/none.py"', "f: there is no tests/none.py"),
        ('{}\nclaims = ["c"]\n{}\nclaims = ["c"]', "a fault is named twice"),
        ('{}\nclaim = "c"', "unknown field"),
    ],
)
def test_a_list_that_is_wrong_is_refused(tmp_path: Path, text: str, message: str):
    """Nothing is left out of an entry, misspelt or said twice."""
    entry = '[[fault]]\nid = "f"\nfile = "impl/errors.py"\nold = "a"\nnew = "b"\nwhat = "w"'
    (tmp_path / "faults.toml").write_text(text.replace("{}", entry))
    with pytest.raises(FaultError, match=message):
        listed(tmp_path / "faults.toml")


HARMLESS = replace(FAULT, old="_PRECISION = 320", new="_PRECISION = 321")
BROKEN = replace(FAULT, old="_PRECISION = 320", new="_PRECISION = missing")
STEEP = listed()["gelu-slope-one"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "red", "told"),
    [
        (STEEP, True, "violated"),
        (FAULT, True, FAULT.test),
        (HARMLESS, False, FAULT.test),
        (replace(HARMLESS, claims=("projection",), test=""), False, "projection: 0 violated"),
        (replace(BROKEN, claims=("projection",), test=""), False, "NameError"),
    ],
    ids=["by a claim", "by a test", "harmless to a test", "harmless to a claim", "a crash"],
)
def test_what_convicts(fault: Fault, red: bool, told: str):
    """A violation, or a test that fails; never what is right, nor code that only breaks."""
    found = convicted(fault)
    assert (found[0], told in found[1]) == (red, True), found


def test_an_unknown_fault_ends_in_one_line(capsys: pytest.CaptureFixture[str]):
    """Exit 2, and no run."""
    assert main(["no-such-fault"]) == 2
    assert "no fault is named no-such-fault" in capsys.readouterr().err
