"""Who does which call next: whoever has done its like goes on with them, while there are any."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable
from typing import Any

Call = tuple[Any, ...]
Kin = Callable[[Call], Hashable]


class Queue:
    """Calls in their order, those that have the same kin together: what a process has made for one
    of them, it has for the others."""

    def __init__(self, calls: Iterable[Call], kin: Kin = lambda call: None) -> None:
        self._left: dict[Hashable, deque[Call]] = {}
        for call in calls:
            self._left.setdefault(kin(call), deque()).append(call)

    def take(self, own: Hashable, others: Collection[Hashable]) -> tuple[Hashable, Call] | None:
        """The next call, with its kin: of one's own; else of what no other is at; else of any."""
        if not self._left:
            return None
        free = (kin for kin in self._left if kin not in others)
        chosen = own if own in self._left else next(free, next(iter(self._left)))
        calls = self._left[chosen]
        call = calls.popleft()
        if not calls:
            del self._left[chosen]
        return chosen, call
