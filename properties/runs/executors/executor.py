"""The protocol of executors, the queue of their calls, and the executor that is this process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Sequence
from typing import Any, Protocol

Call = tuple[Any, ...]
Affinity = Callable[[Call], Hashable]


def no_affinity(call: Call) -> None:
    """The affinity of calls that gain nothing from one another."""


class Executor(Protocol):
    """Does calls, in any order and in any process."""

    @property
    def workers(self) -> int:
        """Number of calls that are done at a time."""
        ...

    def map_calls(
        self, work: Callable[..., Any], calls: Sequence[Call], affinity: Affinity = no_affinity
    ) -> Generator[Any, None, None]:
        """`work(*call)` of each call, in the order in which they end. An error of `work` is raised
        here with its type and message. Calls of one affinity share what `work` caches: an executor
        gives them to one worker while no other is idle. Closing the generator ends the calls."""
        ...


class InProcess:
    """Does the calls in this process, one after another."""

    workers = 1

    def map_calls(
        self, work: Callable[..., Any], calls: Sequence[Call], affinity: Affinity = no_affinity
    ) -> Generator[Any, None, None]:
        """`work(*call)` of each call, in their order."""
        for call in calls:
            yield work(*call)


class TaskQueue:
    """Calls in their order, grouped by affinity."""

    def __init__(self, calls: Iterable[Call], affinity: Affinity = no_affinity) -> None:
        self._remaining: dict[Hashable, deque[Call]] = {}
        for call in calls:
            self._remaining.setdefault(affinity(call), deque()).append(call)

    def take_call(
        self, last: Hashable, busy_affinities: Collection[Hashable]
    ) -> tuple[Hashable, Call] | None:
        """The next call and its affinity: that of the worker's last call (`last`) if any is left,
        else one on which no other worker is, else any. None if no call is left."""
        if not self._remaining:
            return None
        unused = (key for key in self._remaining if key not in busy_affinities)
        chosen = last if last in self._remaining else next(unused, next(iter(self._remaining)))
        calls = self._remaining[chosen]
        call = calls.popleft()
        if not calls:
            del self._remaining[chosen]
        return chosen, call
