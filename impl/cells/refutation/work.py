"""The work of a search for witnesses, counted: it ends at its limit, on every machine alike.

Counted are multiplications, as the products of n × n matrices need them; one in balls, of which a
proof takes several, costs as much as many in floats.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

WORK_LIMIT = 6e10  # multiplications of one search: some ten seconds
LIMIT_REACHED = "the search reached its limit of work"
_PROOF_COST = 200  # of a point, in products of floats


class ExhaustedError(Exception):
    """The search has come to its limit; nothing is claimed."""


class Work:
    """Remaining work of a search, and a flag once it is exhausted."""

    def __init__(self, limit: float = WORK_LIMIT) -> None:
        self.remaining, self.exhausted = limit, False

    def spend(self, amount: float) -> None:
        """Raises ExhaustedError if there is not so much left."""
        if amount > self.remaining:
            self.exhausted = True
            raise ExhaustedError
        self.remaining -= amount


_WORK: ContextVar[Work | None] = ContextVar("work", default=None)


@contextmanager
def limit_work(limit: float = WORK_LIMIT) -> Iterator[Work]:
    """Context manager that limits the work of a search inside it; outside, none is limited."""
    work = Work(limit)
    token = _WORK.set(work)
    try:
        yield work
    finally:
        _WORK.reset(token)


def count_newton(n: int, states: int, period: int) -> None:
    """Count a Newton step from so many states: a Jacobian a step of the period, a solution."""
    _spend(states * (period + 1) * n**3)


def count_proof(n: int, period: int) -> None:
    """Count a proof in balls about one point."""
    _spend(_PROOF_COST * period * n**3)


def _spend(amount: float) -> None:
    if (work := _WORK.get()) is not None:
        work.spend(amount)
