"""How many windows of recorded inputs were run, reported while a measurement goes on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

R = TypeVar("R")


@dataclass
class WindowCount:
    """Calls progress(done, total) after each block of windows; a total of `total` windows."""

    total: int
    progress: Callable[[int, int], None] | None
    done: int = 0

    def after(self, windows: slice, found: R) -> R:
        """Count these windows as done, report the progress, and return `found`."""
        self.done += windows.stop - windows.start
        if self.progress is not None:
            self.progress(self.done, self.total)
        return found
