"""The command line.

Exit codes: 0 all holds; 1 a claim, a certificate or a comparison fails; 2 the call or the input is
wrong, said in one line; 130 and 143, as shells have it, if SIGINT or SIGTERM ended it.
"""

from __future__ import annotations

import os
from pathlib import Path

from rnnbounds import guard_bytecode
from rnnbounds.shell.signals import run_guarded
from rnnbounds.shell.terminal import escape_unencodable, fail_with, reopen_streams


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code; without arguments it is the whole program,
    which signals may end."""
    reopen_streams()
    if arguments is None and "OMP_NUM_THREADS" not in os.environ:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy's, for small work alone
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # torch's threads sleep while they wait
    return run_guarded(lambda: run(None)) if arguments is None else run(arguments)


def run(arguments: list[str] | None) -> int:
    """Run the command line without installing signal handlers, and return its exit code."""
    from rnnbounds.shell.terminal import import_message

    escape_unencodable()
    guard_bytecode()
    try:
        Path.cwd()  # a factory's modules come from there
    except FileNotFoundError:
        return fail_with("the current folder was removed; change to another one and run it again")
    try:
        from rnnbounds.shell.program import run_command
    except ImportError as error:
        return fail_with(import_message(error))
    return run_command(arguments)
