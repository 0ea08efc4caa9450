"""The least k at which tubes certify an ε, of each window by itself.

A k is sought from the one that float64 runs suggest, up or down in steps that double, then by
halves. It is 1, or k − 1 was tried and is not certified; gaps need not fall with k, so that a
smaller one yet may be. Windows are held in blocks, one of which does not depend on the others.
"""

import math
import pickle
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import cached_property, partial
from multiprocessing import get_context
from typing import Any, NamedTuple

import torch
from torch import Tensor

from rnnbounds.impl.errors import InputError
from rnnbounds.impl.memory.runs import Runner, blocks, grid, truncations
from rnnbounds.impl.memory.statement import least_window
from rnnbounds.impl.memory.tube.exponents import largest_exponents
from rnnbounds.impl.memory.tube.pasts import AfterPasts, radius
from rnnbounds.impl.memory.tube.runs import Around, order
from rnnbounds.impl.memory.tube.wide import from_ball

HELD = 2**24  # numbers of a step


@dataclass(frozen=True, eq=False)
class Search:
    """A block of windows x (M, T, d), whose inputs are known within δ, from |s_i| ≤ `states`, or
    from all within that of each of `pasts` (P, N), or if `relative` within that share of the range
    of each entry over these."""

    runner: Runner
    x: Tensor
    delta: float
    states: float
    pasts: Tensor | None = None
    relative: bool = False

    @cached_property
    def around(self) -> Around:
        """Its tubes."""
        one = self.runner, self.x, self.delta
        if self.pasts is None:
            return from_ball(Around(*one, self.states))
        start = radius(self.pasts, self.states) if self.relative else self.states
        return AfterPasts(*one, start, pasts=self.pasts)

    @property
    def held(self) -> int:
        """How many numbers a step holds beside the sets, of each window and k: its generators, and
        what is made of them on the way."""
        runs = 9 if self.pasts is None else 1 + len(self.pasts)
        return 8 * runs * order(self.runner) * self.runner.states**2

    @property
    def last(self) -> int:
        """The largest k that says something: a run from pasts is another to its end."""
        return self.x.shape[1] - (self.pasts is None)

    def parts(self) -> "list[Search]":
        """The windows in blocks whose sets are held together."""
        return [
            replace(self, x=self.x[some].clone()) for some in blocks(len(self.x), self.held, HELD)
        ]

    @cached_property
    def known(self) -> dict[int, Tensor]:
        """Gaps (M,) computed so far, by k."""
        return {}

    @cached_property
    def widths(self) -> Tensor:
        """Of all states of each window, at all steps, (M,)."""
        return self.around.widths.amax((1, 2))

    @cached_property
    def exponent(self) -> float:
        """At least the largest finite-time Lyapunov exponent of any run from these starts, infinite
        for runs from pasts."""
        if self.pasts is not None or not bool(self.widths.isfinite().all()):
            return math.inf
        return float(largest_exponents(self.around).amax())

    def gap(self, k: int) -> float:
        """Of all windows."""
        self.ask((k,))
        return float(self.known[k].amax())

    def ask(self, ks: Iterable[int]) -> None:
        """Learn the gaps at these k, whose runs are stepped together."""
        new, M = sorted({*ks} - self.known.keys()), len(self.x)
        for part in blocks(len(new), self.held * M, HELD):
            some = new[part]
            self.known.update(zip(some, self.around.gaps(*some), strict=True))

    def least(self, eps: Sequence[float]) -> list[list[int | None]]:
        """For each ε the least k of each window, None where none is found, or its tube has no
        bound."""
        if not eps:
            return []
        ks = grid(self.x.shape[1])
        seen = truncations(self.runner, self.x, ks).gaps
        asked: dict[tuple[int, int], int] = {}
        found: dict[tuple[int, int], int | None] = {}
        searches = {
            (i, j): halves(least_window(ks, seen[i : i + 1], epsilon) or 1, self.last)
            for i, width in enumerate(self.widths.tolist())
            for j, epsilon in enumerate(eps)
            if math.isfinite(width)
        }

        def go_on(key: tuple[int, int], inside: bool | None) -> None:
            try:
                asked[key] = searches[key].send(inside)
            except StopIteration as end:
                asked.pop(key, None)
                found[key] = end.value

        for key in searches:
            go_on(key, None)
        while asked:
            self.ask(asked.values())
            for (i, j), k in [*asked.items()]:
                go_on((i, j), float(self.known[k][i]) <= eps[j])
        return [[found.get((i, j)) for i in range(len(self.x))] for j in range(len(eps))]


def halves(first: int, last: int) -> Generator[int, bool | None, int | None]:
    """Ask which k of 1 … last are inside, from `first` on in steps that double, then by halves; the
    k that is found is inside, and k − 1 was not, or is 0. None if the last is not."""
    low, high, k, stride = 0, last + 1, min(max(first, 1), last), 1
    while low + 1 < high:
        low, high = (low, k) if (yield k) else (k, high)
        if low == 0:
            k = max(1, high - stride)
        elif high > last:
            k = min(last, low + stride)
        else:
            k = (low + high) // 2
        stride *= 2
    return high if high <= last else None


class Block(NamedTuple):
    """Of a block of windows: widths (M,), for each ε the least k of each, gaps by k, and the
    largest exponent if there is an ε."""

    widths: list[float]
    least: list[list[int | None]]
    gaps: dict[int, list[float]]
    exponent: float


def solve(search: Search, eps: Sequence[float], ks: Sequence[int]) -> Block:
    """The least k of the windows of a block, and gaps at further k; `search` itself keeps none."""
    search = replace(search)
    with torch.no_grad():
        least = search.least(eps)
        search.ask(ks)
    gaps = {k: gap.tolist() for k, gap in search.known.items()}
    return Block(search.widths.tolist(), least, gaps, search.exponent if eps else math.inf)


def solved(
    searches: Sequence[Search], eps: Sequence[float], ks: Sequence[int], workers: int
) -> Iterator[Block]:
    """`solve` of each block, in its order, by so many processes beside this one; 0 for none. The
    answers are equal for every number of them. Raises InputError for a model that cannot be sent to
    them, and if one of them ends."""
    if min(workers, len(searches)) < 2:
        yield from (solve(one, eps, ks) for one in searches)
        return
    call: Callable[..., Block] = partial(solve, eps=eps, ks=ks)
    try:
        tasks = [pickle.dumps(partial(call, one)) for one in searches]
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        what = f"this model cannot be sent to worker processes ({error})"
        raise InputError(f"{what}; leave out --workers") from None
    threads = torch.get_num_threads()
    with ProcessPoolExecutor(
        min(workers, len(tasks)), get_context("spawn"), torch.set_num_threads, (threads,)
    ) as pool:
        try:
            yield from map(pickle.loads, pool.map(_sent, tasks))
        except BrokenProcessPool:
            what = "a worker process ended, perhaps for lack of memory"
            raise InputError(f"{what}; take fewer --workers or shorter windows") from None


def _sent(task: bytes) -> bytes:
    """The answer to a pickled call, pickled: without tensors that processes share."""
    found: Any = pickle.loads(task)()
    return pickle.dumps(found)
