"""What tox runs, with arguments and without."""

import runpy
from pathlib import Path

import pytest

SUITE = runpy.run_path(str(Path(__file__).with_name("suite.py")))
commands, TESTS = SUITE["commands"], SUITE["TESTS"]


@pytest.mark.parametrize(
    ("chosen", "last"),
    [
        (("tests/test_suite.py", "-k", "last"), (f"{TESTS}/test_suite.py", "-k", "last")),
        ((f"{TESTS}/test_suite.py::test_all", "-q"), (f"{TESTS}/test_suite.py::test_all", "-q")),
        (("-k", "truncation"), ("-k", "truncation", TESTS)),
        (("--pyargs", "rnnbounds.properties"), ("--pyargs", "rnnbounds.properties")),
    ],
)
def test_a_selection(chosen, last):
    """It is run by itself: nothing is measured, and no other suite follows."""
    (command,) = commands(chosen)
    assert command[:2] == ("-m", "pytest")
    assert command[-len(last) :] == last


def test_all():
    """The attack at quick and the tests that are not slow; in full the attack at ci and all tests,
    which have a floor of coverage."""
    attack, tests = commands(())
    assert attack[-1] == "quick"
    assert tests[-2:] == ("-m", "not slow")
    attack, _, tests, _, report = commands(["--full"])
    assert attack[-1] == "ci"
    assert "rnnbounds.properties" in attack
    assert TESTS in tests
    assert "-m" not in tests[tests.index(TESTS) :]
    assert report[2] == "report"
