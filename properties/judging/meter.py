"""How many checks were made, by this process and those that it started: for who waits."""

from __future__ import annotations

from multiprocessing import get_context
from types import SimpleNamespace
from typing import Any

_mine: Any = SimpleNamespace(value=0)
_all: list[Any] = [_mine]


def add_checks(checks: int) -> None:
    """Add a number of checks to this process's counter."""
    _mine.value += checks


def total_checks() -> int:
    """Sum the checks of this process and of those that it started."""
    return sum(int(count.value) for count in _all)


def new_counter() -> Any:
    """Make the shared counter of a process about to be started, which alone writes to it."""
    _all.append(get_context("spawn").RawValue("q", 0))
    return _all[-1]


def use_counter(count: Any) -> None:
    """Let this process count in the shared counter that it was started with."""
    global _mine
    _mine = count
