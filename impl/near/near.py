"""Certificate for all inputs near recorded ones, and the least k that it holds at.

For each recorded window, all input sequences with |x_tj − x̄_tj| ≤ δ for every t and j, in real
arithmetic of the weights as stored. Of runs from the zero state ‖h_T − h_T^k‖₂ is within the gap at
k, where the truncated run starts k inputs before the end. Of runs from recorded pasts, all states
within SHARE of the range of each entry around one of so many recorded end states, ‖h_t − h_t^0‖₂ is
at t = k … T, where h^0 starts from zero with the window. No other inputs are covered.

Every such run is held step by step around the states that float64 computes from the same start on
x̄, each of which is taken as it is: what rounding moves a step by is in the set, and nothing of it
is carried on with the norms of the weights. A pair is such a run and the one that starts from 0
later, or beside it, on the same inputs. Their difference moves by products of slopes between the
two, see `impl.near.arithmetic`.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.running import Running, RunningError
from rnnbounds.impl.cells.runs import Runner, blocks
from rnnbounds.impl.errors import InputError, RangeError, number
from rnnbounds.impl.models.loaded import READOUT
from rnnbounds.impl.near.arithmetic import Tube, Tubes
from rnnbounds.impl.near.chords import Ends
from rnnbounds.impl.near.zonotopes import Zonotope
from rnnbounds.impl.numbers.json_values import finite_or_none
from rnnbounds.impl.numbers.outward import UNIT, add_up, mul_up, norm_up
from rnnbounds.impl.reading.data.recordings import Array, Data, float64

GENERATORS, MOST, LEAST = 1536, 48, 8  # that are kept, and of them for each unit
KEPT = 8  # for each unit, of the sets that later runs start from
ROWS = 1024  # of a readout at a time
_UP = 1 + 64 * UNIT


class Stage(NamedTuple):
    """L runs at one time: computed states s (L, R, N), the sets (R, L N) in which runs lie around
    them, of a pair their difference as a third part, and intervals (L, R, N) that hold them."""

    s: Tensor
    sets: Zonotope
    ends: Ends

    @property
    def reach(self) -> Tensor:
        """At least |s_i − ŝ_i| of one run, as the set or as the interval has it, (R, N)."""
        told = torch.fmin(self.sets.reach, self.ends.radius(self.s)[0])
        return told.nan_to_num(torch.inf, torch.inf)

    @classmethod
    def within(cls, s: Tensor, radius: Tensor) -> "Stage":
        """All states with |s_i − ŝ_i| ≤ radius_i of one run s (R, N)."""
        sets, one = Zonotope.point(s).widened(radius.expand_as(s)).unboxed(0), s[None]
        return cls(one, sets, Ends.outward(one - radius, one + radius))

    def paired(self) -> "Stage":
        """This run and the one that is 0 now, and their difference."""
        zero = torch.zeros_like(self.s)
        sets = Zonotope.joined(self.sets, Zonotope.point(zero[0]), self.sets)
        ends = Ends(*(torch.cat([end, zero]) for end in self.ends))
        return Stage(torch.cat([self.s, zero]), sets, ends)


@dataclass(frozen=True, eq=False)
class Enclosure:
    """Runs around windows x (M, T, d), each number within `delta`."""

    runner: Runner
    x: Tensor
    delta: float

    @cached_property
    def running(self) -> Running:
        """The arithmetic of what is computed."""
        return Running(self.runner.parameters)

    @cached_property
    def stages(self) -> list[Stage]:
        """ŝ_t from 0, and the set in which s_t − ŝ_t lies, for t = 0 … T."""
        zero = self.runner.zero(len(self.x))[0]
        stage = Stage.within(zero, torch.zeros_like(zero))
        found = [stage]
        for x in self.x.unbind(1):
            stage = self.moved(stage, x)
            found.append(stage._replace(sets=stage.sets.unboxed(KEPT * self.runner.states)))
        return found

    @cached_property
    def widths(self) -> Tensor:
        """At least |s_t − ŝ_t|_i of all runs from 0, (M, T + 1, N); infinite from where on nothing
        is known."""
        return torch.stack([stage.reach for stage in self.stages], dim=1)

    def gap(self, k: int) -> Tensor:
        """At least ‖h_T − h_T^k‖₂ of all runs from 0, the truncated one k inputs before the end,
        (M,); infinite where nothing is known."""
        first = self.x.shape[1] - k
        pairs = self.stages[first].paired()
        for x in self.x[:, first:].unbind(1):
            pairs = self.moved(pairs, x)
        return self.norms(pairs)

    def gaps_after(self, pasts: Tensor, radius: Tensor) -> Tensor:
        """At least ‖h_t − h_t^0‖₂ at every t ≥ k = 0 … T, (T + 1, M), of all runs that start within
        radius (N,) of one of the pasts (P, N), and of the one from 0 on the same inputs."""
        M, P = len(self.x), len(pasts)
        pairs, found = Stage.within(pasts.repeat(M, 1), radius).paired(), []
        for t in range(self.x.shape[1] + 1):
            if t:
                pairs = self.moved(pairs, self.x[:, t - 1].repeat_interleave(P, 0))
            found.append(self.norms(pairs).reshape(M, P).amax(1))
        return torch.stack(found).flip(0).cummax(0).values.flip(0)

    def moved(self, stage: Stage, x: Tensor) -> Stage:
        """One step of L runs in each of R sets, on inputs near x (R, d)."""
        s, sets, ends = stage
        N, L = self.runner.states, len(s)
        d, p = x.shape[1], sets.generators.shape[-1]
        near = Zonotope.point(x[None]).widened(torch.full_like(x, self.delta))
        near, sets = near.unboxed(0).padded(p, 0), sets.padded(0, d)
        parts = [sets.part(i * N, (i + 1) * N) for i in range(sets.box.shape[-1] // N)]
        gap = parts[2] if L == 2 else None
        state = Tube(RunningError.exactly(s), Zonotope.beside(*parts[:L]), ends, gap)
        fed = Tube(
            RunningError.exactly(x[None]),
            near,
            Ends.outward(x[None] - self.delta, x[None] + self.delta),
            None if gap is None else Zonotope.point(x),
        )
        moved: Tube = self.runner.program(Tubes(self.running, gap is not None), state, fed)
        value, error = (part.expand_as(s) for part in (moved.near.value, moved.near.error))
        off = (moved.off + Zonotope.point(s)).widened(error)  # of each run, if it sees no state too
        ends = Ends(*(end.expand_as(s) for end in moved.ends))
        ends = ends.within(Ends.outward(value - off.reach, value + off.reach))
        off = off.within(ends.radius(value))
        lines = [off[i] for i in range(L)]
        if moved.gap is not None:
            lines.append(
                moved.gap.widened(error.sum(0)).within((off.reach[0] + off.reach[1]) * _UP)
            )
        sets = Zonotope.joined(*lines).unboxed(order(self.runner) * N * len(lines))
        return Stage(value, sets, ends)

    def norms(self, pairs: Stage) -> Tensor:
        """At least ‖h − h′‖₂ of the outputs of both runs, or ‖f(h) − f(h′)‖₂, (R,)."""
        N, n, readout = self.runner.states, self.runner.n, self.runner.readout
        gap = pairs.sets.part(3 * N - n, 3 * N)
        a, b = (RunningError.exactly(s) for s in pairs.s[..., N - n :])
        apart = torch.fmin(reached(a - b, gap), pairs.ends.part(N - n, N).apart)
        found = norm_up(apart)
        if readout is None:
            return found
        W, seen = readout.weight.double(), a - b
        parts = [
            reached(self.running.affine(READOUT, None, seen, rows), gap.mapped(W[rows]))[0]
            for rows in blocks(len(W), 1, ROWS)
        ]
        return torch.minimum(mul_up(readout.norm, found), norm_up(torch.cat(parts, -1)))


def order(runner: Runner) -> int:
    """How many generators are kept for each unit of its state."""
    return max(LEAST, min(MOST, GENERATORS // runner.states))


def reached(seen: RunningError, off: Zonotope) -> Tensor:
    """At least |v|_i, infinite where nothing is known."""
    told = add_up(add_up(seen.value.abs(), seen.error), off.reach)
    return told.nan_to_num(torch.inf, torch.inf)


ZERO, RECORDED = "zero", "recorded"  # the states that runs start from
PASTS, SHARE = 20, 1e-3  # recorded end states, and how near, in shares of an entry's range
STEP, LARGEST = 2**24, 2**27  # numbers that a step holds, and that all windows do
WORK, MOST_WORK = 275e9, 2**41  # products, of windows together and of one
TRIES = 8  # lengths of a truncated run that are expected for all ε together


class Row(NamedTuple):
    """For an ε: k of all windows, None if some has none; how many have one, and k of these."""

    eps: float
    k: int | None
    windows: int
    shared: int | None


@dataclass(frozen=True, eq=False)
class NearCertificate:
    """Bounds for inputs within `delta` of so many windows, from the zero state, or from states near
    so many `pasts`, if there are any.

    width: largest distance of a state of a run from 0 from the computed one, in the maximum norm,
    at any step. gaps: by k, over all windows.
    """

    delta: float
    pasts: int
    windows: int
    length: int
    width: float
    gaps: Mapping[int, float]
    rows: tuple[Row, ...]

    @property
    def advice(self) -> str | None:
        """Advice on the sizes to change if some ε has no k, else None."""
        if all(row.k is not None for row in self.rows):
            return None
        if math.isinf(self.width):
            return (
                "the bound on the states grew beyond all numbers, which says nothing about them: "
                f"{'take a smaller --near' if self.delta else 'certify it for all inputs'}"
            )
        return f"take {'a smaller --near or ' if self.delta else ''}a larger ε"

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON data; what is infinite is null."""
        return {
            "kind": "near your data",
            "delta": self.delta,
            "norm": "maximum, of every input",
            "states": RECORDED if self.pasts else ZERO,
            "pasts": self.pasts,
            "share": SHARE if self.pasts else 0.0,
            "windows": self.windows,
            "length": self.length,
            "width": finite_or_none(self.width),
            "gaps": [{"k": k, "gap": finite_or_none(gap)} for k, gap in self.gaps.items()],
            "memory": [
                {"eps": row.eps, "k": row.k, "certified": {"windows": row.windows, "k": row.shared}}
                for row in self.rows
            ],
            "advice": self.advice,
        }


def near(
    runner: Runner,
    x: Tensor,
    delta: float,
    eps: Sequence[float],
    pasts: Tensor | None = None,
    done: Callable[[int], None] = lambda count: None,
) -> NearCertificate:
    """Certify the inputs near windows x (M, T, d), of runs from 0, or from near pasts (P, N).

    `done` is called with how many windows are finished. Raises RangeError for an invalid δ.
    """
    delta, (M, T), P = size_of(delta), x.shape[:2], 0 if pasts is None else len(pasts)
    parts = list(enclosures(runner, x, delta, P))
    known: dict[int, Tensor] = {}

    def gap(k: int) -> Tensor:
        if k not in known:
            known[k] = torch.cat([part.gap(k) for part in parts])
        return known[k]

    with torch.no_grad():
        widths = []
        for part in parts:
            widths.append(float(part.widths.amax()))
            done(len(part.x))
        if pasts is not None:
            near_past = radius(pasts)
            known |= enumerate(torch.cat([one.gaps_after(pasts, near_past) for one in parts], 1))
        last = T - 1 if pasts is None else T
        rows = tuple(_row(gap, epsilon, last, M) for epsilon in eps)
    told = {row.k for row in rows if row.k is not None} | ({1} if P else set())
    gaps = {k: float(gap(k).amax()) for k in sorted(told)}
    return NearCertificate(delta, P, M, T, max(widths), gaps, rows)


def enclosures(runner: Runner, x: Tensor, delta: float, pasts: int = 0) -> Iterator[Enclosure]:
    """The runs around windows x (M, T, d), in blocks that memory holds beside so many pasts."""
    held = 24 * order(runner) * runner.states**2 * max(pasts, 1)
    return (Enclosure(runner, x[some].clone(), delta) for some in blocks(len(x), held, STEP))


def _row(gap: Callable[[int], Tensor], epsilon: float, last: int, windows: int) -> Row:
    """The answer at an ε, of the windows that are within it at the last k that says something."""
    good = gap(last) <= epsilon
    count = int(good.sum()) if last else 0
    if not count:
        return Row(epsilon, None, 0, None)
    k = least(lambda k: bool((gap(k)[good] <= epsilon).all()), last)
    return Row(epsilon, k if count == windows else None, count, k)


def least(holds: Callable[[int], bool], last: int) -> int:
    """A k of 1 … last that holds, as the last does, while k − 1 does not, or is 0: sought in steps
    that double, then by halves. A smaller one may hold, too."""
    low, high = 0, last
    while low + 1 < high:
        k = min(2 * low + 1, (low + high) // 2)
        low, high = (low, k) if holds(k) else (k, high)
    return high


def affordable(runner: Runner, M: int, T: int, pasts: int = 0) -> int:
    """How many of M windows of T inputs are certified, one at least; raises InputError for windows
    that are too large."""
    N = runner.states
    held = T * N * N * KEPT
    products = T * runner.products * order(runner) * N * (1 + 9 * (pasts or TRIES))
    if held > LARGEST or products > MOST_WORK:
        raise InputError(
            f"certifying {N} states near {T} inputs takes too much work or memory; cut shorter "
            f"windows with --window"
        )
    return max(1, min(M, int(WORK) // products, LARGEST // held))


def size_of(delta: object) -> float:
    """δ as a float; raises RangeError for what is no number, or none of a size."""
    told = number("near", delta, needed := "non-negative and finite")
    if isinstance(delta, bool) or not 0 <= told < math.inf:
        raise RangeError("near", delta, needed)
    return told


def require_states(states: object, near: float | None) -> None:
    """Raise an InputError for states of another name, and for any but zero where `near` is None."""
    if states not in (ZERO, RECORDED):
        raise RangeError("states", states, f"{ZERO} or {RECORDED}")
    if states != ZERO and near is None:
        raise InputError("states: for runs near the data alone; give near, too")


def end_states(runner: Runner, x: Tensor) -> Tensor:
    """The state after each window x (P, T, d) from 0, as float64 computes it: (P, N)."""
    s = runner.zero(len(x))
    for t in range(x.shape[1]):
        s = runner.step(s, x[None, :, t])
    return s[0]


def past_inputs(data: Data, T: int) -> Tensor:
    """PASTS stretches of T inputs each, or all, spread evenly over the data, (P, T, d)."""
    total = data.N * max(data.T - T + 1, 0)
    i, first = np.divmod(spread(min(PASTS, total), total), max(data.T - T + 1, 1))
    return float64(data.x[i[:, None], first[:, None] + np.arange(T)])


def spread(count: int, windows: int) -> Array:
    """So many of the windows by number, spread evenly from the first one on."""
    found: Array = np.arange(count) * windows // max(1, count)
    return found


def radius(pasts: Tensor) -> Tensor:
    """SHARE of the range of each entry over the pasts, (N,)."""
    return (pasts.amax(0) - pasts.amin(0)) * (SHARE * (1 + 64 * UNIT))
