"""Certificate for all inputs near recorded ones: a tube of states, and k.

For each recorded window, all input sequences with |x_tj − x̄_tj| ≤ δ for every t and j, and runs
from any states with |s_i| ≤ r, in real arithmetic of the weights as stored: every state is within
the width of the one computed on the window from 0, and ‖h_T − h_T^k‖₂ is within the gap at k, where
the truncated run starts k inputs before the end. With `pasts` runs start with the window, one
within r of one of them and one from 0, and the gap at k is the largest ‖h_t − h_t^0‖₂ at t = k … T.
No other inputs are covered.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from numbers import Real
from typing import Any

from torch import Tensor

from rnnbounds.impl.errors import InputError, RangeError
from rnnbounds.impl.memory.runs import Runner
from rnnbounds.impl.memory.tube.largest import WINDOWS, Forgotten, largest_balls
from rnnbounds.impl.memory.tube.pasts import products_after
from rnnbounds.impl.memory.tube.runs import KEPT, order
from rnnbounds.impl.memory.tube.search import Search, solved
from rnnbounds.impl.numbers.json_values import finite_or_none

LARGEST = 2**27  # numbers that are held of one window
WORK, MOST_WORK = 275.0, 2**41  # 10⁹ products, for windows together, and products for one
TRIES = 8  # lengths of a truncated run that are expected for all ε together


@dataclass(frozen=True, eq=False)
class NearCertificate:
    """Bounds for inputs within `delta` of so many windows, from states with |s_i| ≤ `states`, or
    from all within `states` of so many `pasts`, which are recorded end states, if there are any;
    `relative`: in shares of the range of each entry over the pasts.

    width: largest distance of a state, from pasts of one of the run from 0, from the computed one,
    in the maximum norm, at any step. gaps: bound on ‖h_T − h_T^k‖₂ over all windows, or from pasts
    on ‖h_t − h_t^0‖₂ at all t ≥ k, by k. windows_of: for each ε the k, None if no k below the
    length was found for some window. each: for each ε the least k of every window by itself, or
    None; shared: a k that is good for all windows that have one. exponent: bound on
    (1/T) log‖∂s_T/∂s_0‖₂ of all runs, infinite if none was found. forgotten: the largest balls of
    starts, if they were asked for.
    """

    delta: float
    states: float
    pasts: int
    windows: int
    length: int
    width: float
    gaps: Mapping[int, float]
    windows_of: tuple[tuple[float, int | None], ...]
    shared: tuple[int | None, ...] = ()
    each: tuple[tuple[int | None, ...], ...] = ()
    relative: bool = False
    exponent: float = math.inf
    forgotten: tuple[Forgotten, ...] = ()

    @property
    def rows(self) -> list[dict[str, Any]]:
        """For each ε the k of all windows, and of those that have one: how many they are, their
        common k, and the median and the largest of what each has by itself."""
        rows = []
        for (eps, k), shared, each in zip(self.windows_of, self.shared, self.each, strict=True):
            own = sorted(one for one in each if one is not None)
            median, largest = (own[(len(own) - 1) // 2], own[-1]) if own else (None, None)
            part = {"windows": len(own), "k": shared, "median": median, "largest": largest}
            rows.append({"eps": eps, "k": k, "certified": part})
        return rows

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
            "relative": self.relative,
            "windows": self.windows,
            "length": self.length,
            "width": finite_or_none(self.width),
            "gaps": [{"k": k, "gap": finite_or_none(gap)} for k, gap in self.gaps.items()],
            "memory": self.rows,
            "exponent": finite_or_none(self.exponent),
            "forgotten": [one._asdict() for one in self.forgotten],
            "forgotten_windows": min(self.windows, WINDOWS) if self.forgotten else 0,
            "advice": self.advice,
        }


def near(
    runner: Runner,
    x: Tensor,
    delta: float,
    eps: Sequence[float],
    *,
    states: float = 0.0,
    pasts: Tensor | None = None,
    relative: bool = False,
    ks: Sequence[int] = (),
    workers: int = 0,
    largest: bool = False,
    done: Callable[[int], None] = lambda count: None,
) -> NearCertificate:
    """Certify the inputs near windows x (M, T, d), in blocks, by so many worker processes.

    `pasts` (P, N): states that a run may start near, within `states`, or if `relative` within that
    share of their range in each entry, when another starts from 0. `ks`: further k at which to
    bound the gap. `largest`: look for the largest balls of starts that are forgotten. `done` is
    called with the number of windows of each block. Raises InputError for an invalid δ or `states`.
    """
    delta, states = size_of("near", delta), size_of("states", states)
    searches = Search(runner, x, delta, states, pasts, relative).parts()
    ks = ks if pasts is None else sorted({*ks, 1})
    blocks = []
    for block in solved(searches, eps, ks, workers):
        blocks.append(block)
        done(len(block.widths))
    each = [tuple(k for block in blocks for k in block.least[j]) for j in range(len(eps))]
    shared = [max((k for k in least if k is not None), default=None) for least in each]
    gaps: dict[int, list[float]] = {}
    while needed := {*ks, *(k for k in shared if k is not None)} - gaps.keys():
        lacking = [i for i, block in enumerate(blocks) if not needed <= block.gaps.keys()]
        asked = solved([searches[i] for i in lacking], (), sorted(needed), workers)
        for i, block in zip(lacking, asked, strict=True):
            blocks[i].gaps.update(block.gaps)
        gaps |= {k: [gap for block in blocks for gap in block.gaps[k]] for k in needed}
        shared = [
            _from(k, searches[0].last, gaps, least, epsilon)
            for k, least, epsilon in zip(shared, each, eps, strict=True)
        ]
    return NearCertificate(
        delta, states, 0 if pasts is None else len(pasts), len(x), x.shape[1],
        max(width for block in blocks for width in block.widths),
        {k: max(gaps[k]) for k in sorted(gaps)},
        tuple(
            (epsilon, None if None in least else k)
            for epsilon, k, least in zip(eps, shared, each, strict=True)
        ),
        tuple(shared), tuple(each), relative,
        max((block.exponent for block in blocks), default=math.inf),
        largest_balls(runner, x, delta, eps) if largest else (),
    )  # fmt: skip


def _from(
    k: int | None,
    last: int,
    gaps: Mapping[int, Sequence[float]],
    least: Sequence[int | None],
    epsilon: float,
) -> int | None:
    """The first k from there on that may do for all windows that have one: a gap may grow with k.
    None if the last one does not."""
    while k is not None and k in gaps:
        own = zip(gaps[k], least, strict=True)
        if all(gap <= epsilon for gap, alone in own if alone is not None):
            return k
        k = k + 1 if k < last else None
    return k


def affordable(runner: Runner, M: int, T: int, pasts: int = 0, work: float = WORK) -> int:
    """How many of M windows of T inputs are certified within so many 10⁹ products, one at least;
    raises InputError for windows that are too large and a `work` of no size."""
    N = runner.states
    held = max(pasts, T) * N * N * KEPT
    from_zero = (TRIES + 1) * T * runner.products * 9 * order(runner) * N
    products = products_after(runner, T, pasts) if pasts else from_zero
    if held > LARGEST or products > MOST_WORK:
        raise InputError(
            f"certifying {N} states near {T} inputs takes too much work or memory; cut shorter "
            f"windows with --window"
        )
    return max(1, min(M, int(size_of("work", work) * 1e9) // products))


def size_of(name: str, size: object) -> float:
    """δ or r, as a float; raises RangeError for what is no number, or none of a size."""
    told = math.nan
    if isinstance(size, Real) and not isinstance(size, bool):
        with suppress(OverflowError):
            told = float(size)
    if not 0 <= told < math.inf:
        asked = " or `recorded`" if name == "states" else ""
        raise RangeError(name, size, f"non-negative and finite{asked}")
    return told


def require_near(states: object, pasts: int, work: float, workers: int, *, largest: bool) -> None:
    """Raise an InputError if an option of runs near the data was given: `near` was not."""
    given = {
        "states": states != 0, "pasts": pasts, "largest": largest, "work": work != WORK,
        "workers": workers,
    }  # fmt: skip
    for name, value in given.items():
        if value:
            raise InputError(f"{name}: for runs near the data alone; give near, too")
