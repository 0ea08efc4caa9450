"""A scheduler with workers in threads of this process, which start at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from distributed import LocalCluster


@contextmanager
def threads(**options: Any) -> Iterator[LocalCluster]:
    """A real scheduler, and its workers."""
    given = {"n_workers": 1, "threads_per_worker": 1} | options
    with LocalCluster(
        processes=False, protocol="tcp://", dashboard_address=None, silence_logs=100, **given
    ) as there:
        yield there
