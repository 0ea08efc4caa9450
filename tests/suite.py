"""What tox runs on the built wheel: types and documentation, the attack, and the tests.

    python tests/suite.py [--full | ARGUMENT…]

Without arguments all that a change must pass: types and documentation beside the attack at `quick`
and all tests that are not slow. With --full what takes longer: the attack at `ci`, and all tests,
slow ones too, with the coverage that is asked for. With other arguments it is pytest with these
alone, as in ``tox -e test -- tests/documents/test_readme.py -k counts``; paths are those of the
checkout, and without one all tests are meant.
"""

import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = str(ROOT / "pyproject.toml")
TESTS = str(ROOT / "tests")
PYTEST = ("-m", "pytest", "-c", SETTINGS, "--rootdir", str(ROOT))
# Each worker begins with a stretch of its own: what the tests of a file share is made once.
WORKERS = ("-n", "auto", "--dist", "worksteal")
ATTACK = (*PYTEST, "--pyargs", "rnnbounds.properties", "-n", "auto", "--bounds-profile")
COVERAGE = ("-m", "coverage")
EXAMPLES = ("--hypothesis-profile", "full")
TYPES = ("-m", "mypy", "--strict", "-p", "rnnbounds")
DOCS = ("-m", "sphinx", "-q", "-W", "--keep-going", "docs")


def commands(chosen: Sequence[str]) -> list[tuple[str, ...]]:
    """The arguments of Python for each step."""
    if not chosen:
        return [(*ATTACK, "quick"), (*PYTEST, TESTS, *WORKERS, "-m", "not slow")]
    if list(chosen) == ["--full"]:
        return [
            (*ATTACK, "ci"),
            (*COVERAGE, "erase"),
            (*COVERAGE, "run", "--rcfile", SETTINGS, *PYTEST, TESTS, *WORKERS, *EXAMPLES),
            (*COVERAGE, "combine", "--quiet"),
            (*COVERAGE, "report", "--rcfile", SETTINGS),
        ]
    placed = [str(ROOT / word) if is_path(word) else word for word in chosen]
    named = "--pyargs" in chosen or any(map(is_path, chosen))
    return [(*PYTEST, *placed, *(() if named else (TESTS,)))]


def is_path(word: str) -> bool:
    """True if an argument names the tests, a folder or a file of them, or a test in one."""
    path = ROOT / word.split("::")[0]
    return path.is_relative_to(TESTS) and path.exists()


def check_sources() -> int:
    """Types and documentation of the checkout, one after the other; what they print is shown when
    they end, so that it stands together."""
    failed = 0
    with TemporaryDirectory() as folder:
        for command in (TYPES, (*DOCS, folder)):
            done = subprocess.run(
                (sys.executable, *command), cwd=ROOT, text=True, check=False,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
            print(f"{command[1]}: exit code {done.returncode}", done.stdout, sep="\n", flush=True)
            failed = failed or done.returncode
    return failed


def main(chosen: Sequence[str]) -> int:
    """Run the steps up to the first that fails; the exit code."""
    with ThreadPoolExecutor(1) as beside:
        sources = None if chosen else beside.submit(check_sources)
        for command in commands(chosen):
            if code := subprocess.call((sys.executable, *command)):
                return code
        return sources.result() if sources else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
