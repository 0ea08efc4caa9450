"""Each numbered sentence of the soundness argument has a test, and each test a sentence."""

import ast
import re
from pathlib import Path

import pytest
from falsehoods.every import ATTACKS

from soundness.references import FORBIDDEN, REFERENCES

HERE = Path(__file__).parent
TESTS = HERE.parents[2]
PAGE = TESTS.parent / "docs" / "explanation" / "soundness.md"
OWN = re.compile(r"test_s(\d+)_(\d+)_")


def functions(path: Path) -> set[str]:
    """The test functions of a module."""
    return {
        one.name for one in ast.parse(path.read_text()).body if isinstance(one, ast.FunctionDef)
    }


def _tested() -> list[str]:
    """The numbers of all tests: those here, and those elsewhere."""
    own = (OWN.match(name) for path in HERE.glob("test_*.py") for name in functions(path))
    numbers = {f"S{found[1]}.{found[2]}" for found in own if found}
    return [*numbers, *REFERENCES, *FORBIDDEN]


@pytest.mark.skipif(not PAGE.exists(), reason="the pages are not installed")
def test_sentences_and_tests_are_one_to_one() -> None:
    """By their numbers, which are given once, and in order."""
    numbers = re.findall(r"\*\*(S\d+\.\d+)\*\*", PAGE.read_text())
    assert numbers == sorted(set(numbers), key=lambda n: tuple(map(int, n[1:].split("."))))
    assert sorted(numbers) == sorted(_tested())


@pytest.mark.parametrize("number", REFERENCES)
def test_a_test_elsewhere_is_there(number: str) -> None:
    """Under its name, in its file."""
    path, name = REFERENCES[number]
    assert name in functions(TESTS / path)


@pytest.mark.parametrize("number", FORBIDDEN)
def test_what_is_forbidden_is_attempted(number: str) -> None:
    """The names are those of attempts, which a test of theirs sees refused."""
    assert set(FORBIDDEN[number]) <= ATTACKS.keys()
