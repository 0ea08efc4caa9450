"""A trial of one mutant: its tests, in a fork of a process that has imported the large libraries.

The mutant stands in a copy of the code, which the tests and the processes that they start import.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest

WARM = ("flint", "hypothesis", "msgspec", "numpy", "safetensors", "sympy", "torch", "z3")
MEMORY = 2**33  # bytes: a mutant may ask for any amount
WAIT = 20  # seconds of real time for each of CPU time, for a mutant that waits
OVER_TIME = (-signal.SIGXCPU, -signal.SIGKILL, -signal.SIGALRM)


def prepare(copy: Path, root: Path) -> None:
    """Import the large libraries, and from now on the code from `copy`, also in new processes."""
    load(*WARM)
    os.environ |= {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    sys.path[:] = [str(copy), *(p for p in sys.path if p and Path(p).resolve() != root)]


def load(*names: str) -> None:
    """Import modules, once for all trials; their collectors of garbage need not look at them."""
    for name in names:
        import_module(name)
    gc.freeze()


class _First:
    """A pytest plugin that writes the first test that fails into a file."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.place.write_text(report.nodeid, encoding="utf-8")


def trial(copy: Path, root: Path, tests: Sequence[str], seconds: float) -> tuple[str, str]:
    """Run tests of `root` on the code in `copy` until one fails, within CPU seconds.

    Returns `survived`, `failed` with the test, `timeout`, or `broken` with the last line of output
    where tests could not be imported or the interpreter crashed. Raises RuntimeError if none ran.
    """
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        log, first = Path(folder, "log"), Path(folder, "first")
        child = os.fork()
        if child == 0:
            _run(copy, root, tests, seconds, log, first)
        try:
            _, status = os.waitpid(child, 0)
        finally:
            with suppress(ProcessLookupError):  # it, and whatever the tests started
                os.killpg(child, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(status)
        text = log.read_text(encoding="utf-8", errors="replace")
        if code in OVER_TIME:
            return "timeout", ""
        if code == 0:
            return "survived", ""
        if code == pytest.ExitCode.NO_TESTS_COLLECTED:
            raise RuntimeError(f"no test ran: {text[-2000:]}")
        if code == pytest.ExitCode.USAGE_ERROR and "::" in tests[0]:
            # A mutant may give the cases of a test other names.
            files = dict.fromkeys(test.split("::")[0] for test in tests)
            return trial(copy, root, [*files], seconds)
        if first.exists():
            return "failed", first.read_text(encoding="utf-8")
        return "broken", (text.strip().splitlines() or [f"exit code {code}"])[-1]


def _run(
    copy: Path, root: Path, tests: Sequence[str], seconds: float, log: Path, first: Path
) -> None:
    """The child: it ends with the exit code of pytest."""
    code = int(pytest.ExitCode.INTERNAL_ERROR)
    try:
        os.setsid()
        with log.open("wb") as sink:
            os.dup2(sink.fileno(), 1)
            os.dup2(sink.fileno(), 2)
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        signal.alarm(int(WAIT * seconds))
        os.chdir(copy)
        place = ["-c", str(root / "pyproject.toml"), "--rootdir", str(root)]
        options = ["-x", "-q", "-m", "not slow", "--assert=plain", "-p", "no:cacheprovider", *place]
        code = int(pytest.main([*options, *(str(root / test) for test in tests)], [_First(first)]))
    finally:
        sys.stdout.flush()
        os._exit(code)
