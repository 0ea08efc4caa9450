"""A cluster with a worker in a thread of this process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from rnnbounds.properties.runs.executors.cluster import Cluster


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """The cluster of a real scheduler."""
    from cluster_of_threads import threads

    from rnnbounds.properties.runs.executors.scheduler import connect_cluster

    with threads() as there, connect_cluster(there.scheduler_address, 0) as found:
        yield found
