"""The tests that reach each line of the code: they are run once, each a context of coverage.

python tests/mutants/mutants_reach.py TARGET FOLDER…
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from time import process_time

import coverage
import pytest

Reach = dict[str, dict[str, list[str]]]  # file -> line -> tests
ROOT = Path(__file__).resolve().parents[2]
TESTS = (
    "tests/impl", "tests/theory/kernel", "tests/theory/proof", "tests/properties/judging",
    "tests/properties/read",
    "tests/properties/systems/cells",
)  # fmt: skip


class Recorder:
    """A pytest plugin that records the lines and the CPU seconds of every test."""

    def __init__(self, folders: list[str]) -> None:
        include = [f"{ROOT / folder}/*" for folder in folders]
        self.coverage = coverage.Coverage(data_file=None, config_file=False, include=include)
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Trace a test with its fixtures."""
        self.coverage.start()
        self.coverage.switch_context(item.nodeid)
        start = process_time()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = process_time() - start
            self.coverage.stop()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the tests that do not pass: they kill no mutant."""
        if not report.passed:
            self.failed.add(report.nodeid)

    def reach(self) -> Reach:
        """The tests that pass, of each line."""
        data, found = self.coverage.get_data(), {}
        for file in sorted(data.measured_files()):
            found[str(Path(file).relative_to(ROOT))] = {
                str(line): sorted({*tests} - {""} - self.failed)
                for line, tests in sorted(data.contexts_by_lineno(file).items())
            }
        return found


def reach_of(target: Path, folders: tuple[str, ...]) -> tuple[Reach, dict[str, float]]:
    """What stands in the file, which another process records first if it is not there."""
    if not target.exists():
        subprocess.run([sys.executable, __file__, str(target), *folders], check=False)
    known = json.loads(target.read_text(encoding="utf-8"))
    return known["reach"], known["seconds"]


if __name__ == "__main__":
    recorder = Recorder(sys.argv[2:])
    options = ("-q", "-p", "no:cacheprovider", "-m", "not slow", "-c", str(ROOT / "pyproject.toml"))
    pytest.main([*options, *(str(ROOT / test) for test in TESTS)], [recorder])
    known = {"reach": recorder.reach(), "seconds": recorder.seconds}
    Path(sys.argv[1]).write_text(json.dumps(known), encoding="utf-8")
