"""Mutants edit what is computed and nothing else; a trial tells what fails from what survives."""

from pathlib import Path

import pytest
from mutants_edits import mutants
from mutants_run import report, sample, select_tests
from mutants_trial import trial

TEXT = '''
"""A docstring of 1 < 2."""
LIMIT: int = 3
def f(x: int = 4) -> float:
    """Another."""
    if not x < LIMIT:
        raise ValueError(f"at most {LIMIT + 1}")
    return add_up(x, y.upper())
'''


def names(text: str) -> list[str]:
    """The edits, without the lines in which they are."""
    return [one.name.removeprefix("m.py: ").split(" in ")[0] for one in mutants("m.py", text)]


def test_every_computation_is_edited_and_no_text() -> None:
    """Docstrings, annotations and messages stay; a bound is turned inwards."""
    assert sorted(names(TEXT)) == sorted([
        "3 → 4", "4 → 5", "not x < LIMIT → (not (not x < LIMIT))", "not x < LIMIT → (x < LIMIT)",
        "x < LIMIT → (x <= LIMIT)", "x < LIMIT → (x >= LIMIT)",
        'raise ValueError(f"at most {LIMIT + 1}") → pass',
        "return add_up(x, y.upper()) → return None", "add_up(x, y.upper()) → (x + y.upper())",
        "y.upper() → (y.mid())", "y.upper → y.lower",
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("text", "edit"),
    [
        ("a = max(b, c)", "max → min"),
        ("a = b and c", "b and c → (b or c)"),
        ("a = 0 <= b < c", "0 <= b < c → (0 < b < c)"),
        ("a = math.nextafter(b, math.inf)", "math.inf → -math.inf"),
        ("a = math.nextafter(b, math.inf)", "math.nextafter(b, math.inf) → (b)"),
        ("a += b", "a += b → pass"),
        ("a = -b", "-b → b"),
        ("a.append(b)", "a.append(b) → pass"),
    ],
)
def test_edits(text: str, edit: str) -> None:
    """One of each operator."""
    assert edit in names(text)


def test_the_sample_is_a_share_of_each_module() -> None:
    """It is the same for the same seed, and leaves out no module."""
    found = [*mutants("a.py", TEXT), *mutants("b.py", TEXT * 9), *mutants("c.py", "x = 1")]
    drawn = sample(found, 20, seed=1)
    assert drawn == sample(found, 20, seed=1)
    assert drawn != sample(found, 20, seed=2)
    assert [sum(one.file == file for one in drawn) for file in ("a.py", "b.py", "c.py")] == [
        2,
        18,
        1,
    ]


def test_the_tests_are_those_that_reach_the_line() -> None:
    """Of a line that one test or none reaches, those that reach the module; its folder's first."""
    own, other, far = "tests/impl/test_b.py::t", "tests/impl/test_a.py::t", "tests/test_c.py::t"
    reach = {"impl/m.py": {"6": [own, far], "8": [other]}}
    seconds = {own: 1.0, other: 2.0, far: 0.1}
    one, *_ = found = mutants("impl/m.py", TEXT)
    of_line = {one.line: select_tests(one, reach, seconds, 9.0) for one in found}
    every, inside = ([own, other], [far]), ([own], [far])
    assert of_line == {3: every, 4: every, 6: inside, 7: inside, 8: every}
    assert select_tests(one, reach, {**seconds, own: 9.0}, 9.0) == ([other], [far])


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("assert True", ("survived", "")),
        ("assert False", ("failed", "test_m.py::test_it")),
        ("import os; os.abort()", ("broken", "")),
        ("\n    while True: pass", ("timeout", "")),
    ],
)
@pytest.mark.slow
def test_outcomes(tmp_path: Path, body: str, outcome: tuple[str, str]) -> None:
    """A test that passes, one that fails, a crash, and a loop without an end."""
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\nmarkers = ['slow']\n")
    (tmp_path / "test_m.py").write_text(f"def test_it(): {body}\n")
    found, test = trial(tmp_path, tmp_path, ["test_m.py::test_it"], 2)
    assert (found, test if found == "failed" else "") == outcome


def test_no_test_is_no_survivor(tmp_path: Path) -> None:
    """If nothing ran, nothing is said."""
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\nmarkers = ['slow']\n")
    (tmp_path / "test_m.py").write_text("")
    with pytest.raises(RuntimeError, match="no test ran"):
        trial(tmp_path, tmp_path, ["test_m.py"], 9)


def test_the_record_counts_what_is_not_equivalent() -> None:
    """Half of what remains is killed; a survivor is listed with its reason."""
    kinds = {"a": "failed", "b": "survived", "c": "survived"}
    rows = [{"name": n, "file": "impl/norms/m.py", "outcome": kind} for n, kind in kinds.items()]
    lines = report(rows, {"b": {"equivalent": "b is a"}}, "")
    assert "| norms | 3 | 1 | 0 | 1 | 1 | 50.0 % |" in lines
    assert lines[-2:] == ["- equivalent: `b`: b is a", "- survived: `c`: not looked at yet"]
