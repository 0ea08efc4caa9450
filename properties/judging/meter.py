"""How many checks were made, by this process and those that it started: for who waits."""

from __future__ import annotations

from multiprocessing import get_context
from types import SimpleNamespace
from typing import Any

_mine: Any = SimpleNamespace(value=0)
_all: list[Any] = [_mine]


def add_checks(checks: int) -> None:
    """So many more."""
    _mine.value += checks


def total_checks() -> int:
    """All of them so far."""
    return sum(int(count.value) for count in _all)


def new_counter() -> Any:
    """The count of a process that is about to be started, which alone writes there."""
    _all.append(get_context("spawn").RawValue("q", 0))
    return _all[-1]


def use_counter(count: Any) -> None:
    """Count there from now on, in the process that was started with it."""
    global _mine
    _mine = count
