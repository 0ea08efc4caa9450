"""What tox runs, with arguments and without."""

import runpy
from pathlib import Path

import pytest
from cases import CASES, few

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
    """The attack, then all tests, slow ones too, which have a floor of coverage."""
    steps = commands(())
    assert [step[1] for step in steps] == ["pytest"] + ["coverage"] * 4
    assert "rnnbounds.properties" in steps[0]
    assert TESTS in steps[2]
    assert "-m" not in steps[2][steps[2].index(TESTS) :]
    assert steps[4][2] == "report"


def test_few_cases_of_many_are_traced():
    """All of up to as many; of more at most as many, from the first on."""
    many = [f"test_a.py::test_many[{i}]" for i in range(3 * CASES)]
    others = ["test_a.py::test_one", *(f"test_b.py::test_many[{i}]" for i in range(CASES))]
    found = few([*many, *others])
    assert set(others) <= found
    assert sorted(found - set(others)) == sorted(many[::3])
    assert few([f"test_c[{i}]" for i in range(CASES + 1)]) == {
        f"test_c[{i}]" for i in range(0, CASES + 1, 2)
    }
