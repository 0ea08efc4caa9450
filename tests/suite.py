"""What tox runs: all tests, with the coverage that is asked for, and the attack.

The attack is first: what is compiled for it is then read where tests are traced.

With arguments it is pytest with these alone, as in ``tox -e py311 --
tests/documents/test_readme.py -k counts``; paths are those of the checkout, and without one all
tests are meant.
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = str(ROOT / "pyproject.toml")
TESTS = str(ROOT / "tests")
# Each worker begins with a stretch of its own: what the tests of a file share is made once.
WORKERS = ("-n", "auto", "--dist", "worksteal")
PYTEST = ("-m", "pytest", "-c", SETTINGS, "--rootdir", str(ROOT))


def commands(chosen: Sequence[str]) -> list[tuple[str, ...]]:
    """The arguments of Python for each step."""
    if chosen:
        placed = [str(ROOT / word) if is_path(word) else word for word in chosen]
        named = "--pyargs" in chosen or any(map(is_path, chosen))
        return [(*PYTEST, *placed, *(() if named else (TESTS,)))]
    measured = ("-m", "coverage", "run", "--rcfile", SETTINGS)
    return [
        (*PYTEST, "--pyargs", "rnnbounds.properties", "-n", "auto"),
        ("-m", "coverage", "erase"),
        (*measured, *PYTEST, TESTS, *WORKERS),
        ("-m", "coverage", "combine", "--quiet"),
        ("-m", "coverage", "report", "--rcfile", SETTINGS),
    ]


def is_path(word: str) -> bool:
    """Whether an argument names the tests, a folder or a file of them, or a test in one."""
    path = ROOT / word.split("::")[0]
    return path.is_relative_to(TESTS) and path.exists()


if __name__ == "__main__":
    for command in commands(sys.argv[1:]):
        if code := subprocess.call((sys.executable, *command)):
            sys.exit(code)
