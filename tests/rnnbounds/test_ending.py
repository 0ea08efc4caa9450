"""Signals, and a parent that dies, end the program with all its workers.

No clock is read: what is interrupted would go on for hours, and end of file on standard output says
that every process that held it, workers included, is gone.
"""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import rnnbounds

HOUSE = Path(rnnbounds.__file__).resolve().parent.parent
# A part that never ends, in a library that does not let the interpreter act; one that can; and a
# finaliser, out of which no exception comes.
FOREVER = """
import sys
def told():
    sys.stdout.write("at work\\n")
    sys.stdout.flush()
def stuck(*_, **__):
    told()
    return pow(3, 10**11)
def busy(*_, **__):
    told()
    while True:
        pass
class Last:
    __del__ = busy
def dying(*_, **__):
    Last()
    while True:
        pass
"""
VERIFY = """
import sys, forever
if __name__ == "__main__":
    import rnnbounds.properties.runs.run
    from rnnbounds.cli import main
    # What is no part asks a worker to import nothing.
    rnnbounds.properties.runs.run.heaviest_first = lambda parts: [None] * len(parts)
    rnnbounds.properties.runs.run.remote_part = forever.{work}
    rnnbounds.properties.runs.run.run_part = forever.{work}
    sys.argv = ["rnnbounds", "verify", "truncation", "-n", "{workers}", "--out", "out"]
    sys.exit(main())
"""
PATIENCE = 120  # seconds; the work would take hours


@pytest.fixture
def started(tmp_path):
    """Start a run of so many workers, and return it once all are at work."""
    running = []

    def start(work: str, workers: int) -> subprocess.Popen[str]:
        (tmp_path / "forever.py").write_text(FOREVER)
        (tmp_path / "verify.py").write_text(VERIFY.format(work=work, workers=workers))
        path = os.pathsep.join([str(tmp_path), str(HOUSE)])
        process = subprocess.Popen(
            [sys.executable, "verify.py"], cwd=tmp_path, env=os.environ | {"PYTHONPATH": path},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        running.append(process)
        for _ in range(max(workers, 1)):
            assert process.stdout.readline() == "at work\n"
        return process

    yield start
    for process in running:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.slow
def test_ctrl_c_reaches_all_processes(started, tmp_path):
    """A terminal sends it to the workers too, be they deep in a library: still one line, the
    shell's exit code, and nothing written."""
    process = started("stuck", 2)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert (out, err) == ("", "rnnbounds: ended by SIGINT; run it again\n")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_run_in_one_process_ends_too(started):
    """Without workers it is the main thread that is interrupted, in a finaliser too."""
    process = started("dying", 0)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (143, "rnnbounds: ended by SIGTERM; run it again\n")


@pytest.mark.slow
def test_workers_end_with_a_parent_that_is_killed(started):
    """Nobody tells them, and they hold standard output no longer."""
    process = started("busy", 2)
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGKILL
