"""The command line.

Exit codes: 0 all holds; 1 a claim, a certificate or a comparison fails; 2 the call or the input is
wrong, said in one line; 130 and 143, as shells have it, if SIGINT or SIGTERM ended it.
"""

from __future__ import annotations

from pathlib import Path

from rnnbounds import guard_bytecode
from rnnbounds.shell.signals import guarded
from rnnbounds.shell.terminal import open_streams, relax, wrong


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code; without arguments it is the whole program,
    which signals may end."""
    open_streams()
    return guarded(lambda: run(None)) if arguments is None else run(arguments)


def run(arguments: list[str] | None) -> int:
    """Run the command line without installing signal handlers, and return its exit code."""
    from rnnbounds.shell.imports import failed_import

    relax()
    guard_bytecode()
    try:
        Path.cwd()  # a factory's modules come from there
    except FileNotFoundError:
        return wrong("the current folder was removed; change to another one and run it again")
    try:
        from rnnbounds.program import call
    except ImportError as error:
        return wrong(failed_import(error))
    return call(arguments)
