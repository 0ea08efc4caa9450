"""Certificate for all inputs near recorded ones: a tube of states, and k.

For each recorded window, all input sequences with |x_tj − x̄_tj| ≤ δ for every t and j, and runs
from any states with |s_i| ≤ r, in real arithmetic of the weights as stored: every state is within
the width of the one computed on the window from 0, and ‖h_T − h_T^k‖₂ is within the gap at k, where
the truncated run starts k inputs before the end. With `pasts` the run starts there as well, within
r of one of them, and the truncated one from 0. No other inputs are covered.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any

from torch import Tensor

from rnnbounds.impl.errors import InputError, RangeError
from rnnbounds.impl.memory.runs import Runner, blocks, grid
from rnnbounds.impl.memory.tube.exponents import largest_exponents
from rnnbounds.impl.memory.tube.largest import WINDOWS, Forgotten, largest_balls
from rnnbounds.impl.memory.tube.pasts import AfterPasts
from rnnbounds.impl.memory.tube.runs import KEPT, LEAST, Around, order
from rnnbounds.impl.memory.tube.wide import from_ball
from rnnbounds.impl.numbers.json_values import finite_or_none

NUMBERS, LARGEST = 2**25, 2**27  # that are held of windows together, and of one
WORK, MOST_WORK = 2**38, 2**41  # products, for windows together, and for one
TRIES = 8  # lengths of a truncated run that are expected for all ε together


@dataclass(frozen=True, eq=False)
class NearCertificate:
    """Bounds for inputs within `delta` of so many windows, from states with |s_i| ≤ `states`, or
    from all within `states` of so many `pasts`, which are recorded end states, if there are any.

    width: largest distance of a state from the computed one, in the maximum norm, at any step.
    gaps: bound on ‖h_T − h_T^k‖₂ over the windows, for each k tried. windows_of: for each ε the k,
    None if no k below the length was found. exponent: bound on (1/T) log‖∂s_T/∂s_0‖₂ of all runs,
    infinite if none was found. forgotten: the largest balls of starts, if they were asked for.
    """

    delta: float
    states: float
    pasts: int
    windows: int
    length: int
    width: float
    gaps: Mapping[int, float]
    windows_of: tuple[tuple[float, int | None], ...]
    exponent: float = math.inf
    forgotten: tuple[Forgotten, ...] = ()

    @property
    def advice(self) -> str | None:
        """Advice on the sizes to change if some ε has no k, else None."""
        if all(k is not None for _, k in self.windows_of):
            return None
        sizes = (("--near", self.delta), ("--states", self.states))
        smaller = [f"a smaller {name}" for name, size in sizes if size]
        if math.isinf(self.width):
            return (
                f"the bound on the states grew beyond all numbers, which says nothing about them: "
                f"take {' or '.join([*smaller, 'shorter windows'])}"
            )
        return f"take {' or '.join([*smaller, 'a larger ε', 'longer windows'])}"

    def to_json(self) -> dict[str, Any]:
        """As plain JSON data; what is infinite is null."""
        return {
            "kind": "near your data",
            "delta": self.delta,
            "norm": "maximum, of every input",
            "states": self.states,
            "pasts": self.pasts,
            "windows": self.windows,
            "length": self.length,
            "width": finite_or_none(self.width),
            "gaps": [{"k": k, "gap": finite_or_none(gap)} for k, gap in self.gaps.items()],
            "memory": [{"eps": eps, "k": k} for eps, k in self.windows_of],
            "exponent": finite_or_none(self.exponent),
            "forgotten": [one._asdict() for one in self.forgotten],
            "forgotten_windows": min(self.windows, WINDOWS) if self.forgotten else 0,
            "advice": self.advice,
        }


@dataclass(frozen=True, eq=False)
class Search:
    """The worst of windows (M, T, d), at each k that is asked for."""

    runner: Runner
    x: Tensor
    delta: float
    states: float
    pasts: Tensor | None = None

    @cached_property
    def around(self) -> list[Around]:
        """Of some windows together each."""
        sets = [(self.runner, self.x[part], self.delta, self.states) for part in self.parts]
        if self.pasts is None:
            return [from_ball(Around(*one)) for one in sets]
        return [AfterPasts(*one, pasts=self.pasts) for one in sets]

    @property
    def parts(self) -> Iterator[slice]:
        """Windows that are held together."""
        return blocks(len(self.x), self.held)

    @property
    def held(self) -> int:
        """How many numbers a step holds beside the sets, of each window and k: its generators, and
        what is made of them on the way."""
        kept = order(self.runner) if self.pasts is None else LEAST * len(self.pasts)
        return 8 * 9 * kept * self.runner.states**2

    @cached_property
    def known(self) -> dict[int, float]:
        """Gaps computed so far, by k."""
        return {}

    @cached_property
    def exponent(self) -> float:
        """At least the largest finite-time Lyapunov exponent of any run from these starts, infinite
        if runs start k inputs before the end."""
        if self.pasts is not None or not math.isfinite(self.width):
            return math.inf
        return max(float(largest_exponents(one).amax()) for one in self.around)

    @cached_property
    def width(self) -> float:
        """Of all states, at all steps."""
        return max(float(one.widths.amax()) for one in self.around)

    def gap(self, k: int) -> float:
        """Of all windows."""
        self.ask((k,))
        return self.known[k]

    def ask(self, ks: Iterable[int]) -> None:
        """Learn the gaps at these k, whose runs are stepped together."""
        new = sorted({*ks} - self.known.keys())
        found = [
            [gap for part in blocks(len(new), self.held * len(one.x))
             for gap in one.gaps(*new[part]).amax(1).tolist()]
            for one in self.around
        ]  # fmt: skip
        self.known.update(zip(new, map(max, zip(*found, strict=True)), strict=bool(found)))

    def least(self, eps: float, ks: Sequence[int], first: int) -> int | None:
        """The least of the ks from `first` on that was found within ε: sought in steps that grow,
        then by halves."""

        def inside(i: int) -> bool:
            return self.gap(ks[i]) <= eps

        low = next((i for i, k in enumerate(ks) if k >= first), len(ks))
        high, stride = low, 1
        while high < len(ks) and not inside(high):
            low, high, stride = high + 1, high + stride, 2 * stride
        if high >= len(ks):
            high = len(ks) - 1
            if low > high or not inside(high):
                return None
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if inside(middle) else (middle + 1, high)
        return ks[high]

    def told(
        self, eps: Sequence[float], seen: Sequence[int | None] = (), ks: Sequence[int] = ()
    ) -> NearCertificate:
        """As `near` has it."""
        M, T = self.x.shape[:2]
        self.ask(ks)
        lengths = [k for k in grid(T) if 0 < k < T or (k == T and self.pasts is not None)]
        found: list[tuple[float, int | None]] = []
        for epsilon, first in zip(eps, seen or [None] * len(eps), strict=True):
            known = math.isfinite(self.width)
            found.append((epsilon, self.least(epsilon, lengths, first or 1) if known else None))
        gaps = dict(sorted(self.known.items()))
        pasts = 0 if self.pasts is None else len(self.pasts)
        return NearCertificate(
            self.delta, self.states, pasts, M, T, self.width, gaps, tuple(found), self.exponent
        )


def near(
    runner: Runner,
    x: Tensor,
    delta: float,
    eps: Sequence[float],
    *,
    states: float = 0.0,
    pasts: Tensor | None = None,
    seen: Sequence[int | None] = (),
    ks: Sequence[int] = (),
    largest: bool = False,
) -> NearCertificate:
    """Certify the inputs near the first windows of x (M, T, d), as many as the work limit allows.

    `pasts` (P, N): states that the run may start near, within `states`, k inputs before the end,
    when the truncated one starts from 0. `seen`: for each ε the least k observed to suffice, where
    the search begins. `ks`: further k at which to bound the gap. `largest`: look for the largest
    balls of starts that are forgotten. Raises InputError for an invalid δ
    or `states`, and for windows that are too large.
    """
    delta, states = size_of("near", delta), size_of("states", states)
    kept = order(runner) if pasts is None else LEAST * len(pasts)
    M, T = x.shape[:2]
    some = x[: _affordable(runner, M, T, kept)]
    found = Search(runner, some, delta, states, pasts).told(eps, seen, ks)
    balls = largest_balls(runner, some, delta, eps) if largest else ()
    return replace(found, forgotten=balls)


def size_of(name: str, size: object) -> float:
    """δ or r, as a float; raises RangeError for what is no number, or none of a size."""
    told = math.nan
    if isinstance(size, Real) and not isinstance(size, bool):
        with suppress(OverflowError):
            told = float(size)
    if not 0 <= told < math.inf:
        raise RangeError(name, size, "non-negative and finite")
    return told


def _affordable(runner: Runner, M: int, T: int, kept: int) -> int:
    """How many windows, of tubes that keep so many generators for each unit together."""
    N = runner.states
    held = max(1, kept // order(runner)) * T * N * N * KEPT
    work = (TRIES + 1) * T * runner.products * 9 * kept * N
    if held > LARGEST or work > MOST_WORK:
        raise InputError(
            f"certifying {N} states near {T} inputs takes too much work or memory; cut shorter "
            f"windows with --window"
        )
    return max(1, min(M, NUMBERS // held, WORK // work))
