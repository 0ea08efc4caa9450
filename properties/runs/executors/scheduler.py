"""How a scheduler of workers is reached, or begun on this machine."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any

from rnnbounds.properties.runs.executors.cluster import (
    SILENT_LEVEL,
    TIMEOUT_SECONDS,
    Cluster,
    ClusterError,
)
from rnnbounds.properties.runs.executors.cluster import import_dask as dask
from rnnbounds.properties.runs.executors.processes import end_with_parent

LOCAL = "local"
# Ctrl-C leaves Dask's semaphores to the process that multiprocessing has for that, and tells.
IGNORED_WARNING = "ignore:resource_tracker:UserWarning"
SCHEMES = ("tcp", "ws")  # those that need nothing but an address


@contextmanager
def connect_cluster(
    address: str, workers: int, tell: Callable[[str], None] = lambda line: None
) -> Iterator[Cluster]:
    """The cluster of the scheduler at an address, or one of so many processes here for ``local``.

    Raises:
        ClusterError: Dask is not installed, nobody answers there, or a worker is not fit.
    """
    if workers < 1 and address == LOCAL:
        raise ClusterError("a cluster needs workers; choose --workers 1 or more")
    distributed = dask()
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")  # of versions, which are checked here
        target: Any = address
        if address == LOCAL:
            os.environ.setdefault("PYTHONWARNINGS", IGNORED_WARNING)
            target = stack.enter_context(
                distributed.LocalCluster(
                    n_workers=workers, threads_per_worker=1, processes=True, memory_limit=0,
                    dashboard_address=None, silence_logs=SILENT_LEVEL,
                    preload=[__name__],
                )
            )  # fmt: skip
        else:
            _check_address(address)
        try:
            client = distributed.Client(target, timeout=TIMEOUT_SECONDS, set_as_default=False)
        except (OSError, ValueError, ImportError) as error:
            raise ClusterError(
                f"no Dask scheduler answers at {address} ({error}); start one with: dask scheduler"
            ) from None
        cluster = Cluster(address, stack.enter_context(client), tell)
        cluster.check()
        yield cluster


def _check_address(address: str) -> None:
    """Raise ClusterError unless Dask can call there: a Client that cannot is never let go of."""
    addressing = import_module("distributed.comm.addressing")
    scheme, place = addressing.parse_address(address)
    try:
        host, port = addressing.parse_host_port(place)
    except ValueError:
        host, port = "", 0
    if not (scheme in SCHEMES and host.strip() and 0 < port < 2**16):
        raise ClusterError(
            f"{address!r} is no scheduler's address; give the one that dask scheduler prints, "
            f"such as tcp://127.0.0.1:8786, or {LOCAL}"
        )


def dask_setup(worker: Any) -> None:
    """Make each process of a local Dask cluster end with its parent; Dask calls this hook."""
    end_with_parent(os.getppid())
