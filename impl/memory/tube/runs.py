"""The tube around a run on recorded inputs, and how far two runs in it are apart after k steps.

Every run from a state with |s_i| ≤ r, on inputs with |x_tj − x̄_tj| ≤ δ, is held step by step around
the states that float64 computes from 0 on x̄, each of which is taken as it is: what rounding moves a
step by is in the tube, and nothing of it is carried on with the norms of the weights. The gap at k
is ‖h_T − h_T^k‖₂ of a run from such a state at the start and of one from another such state k
inputs before the end, both on the same inputs, or that of f(h) where a readout f is asked about.
Their difference moves by products of slopes between the two, see `impl.memory.tube.arithmetic`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from rnnbounds.impl.memory.running import Running, RunningError
from rnnbounds.impl.memory.runs import Runner
from rnnbounds.impl.memory.tube.arithmetic import Tube, Tubes
from rnnbounds.impl.memory.tube.ends import Ends
from rnnbounds.impl.memory.tube.zonotopes import Zonotope
from rnnbounds.impl.models.readout import READOUT, Readout
from rnnbounds.impl.numbers.outward import UNIT, add_up, mul_up, norm_up

GENERATORS, MOST, LEAST = 1536, 48, 8  # that are kept, and of them for each unit
KEPT = 8  # for each unit, of the sets that later runs start from
ROWS = 1024  # of a readout at a time
_UP = 1 + 64 * UNIT


class Stage(NamedTuple):
    """L runs at one time: computed states s (L, M, N), the sets (M, L N) in which runs lie around
    them, of two runs their difference as a third part, and intervals (L, M, N) that hold them."""

    s: Tensor
    sets: Zonotope
    ends: Ends

    @property
    def reach(self) -> Tensor:
        """At least |s_i − ŝ_i| of one run, as the set or as the interval has it, (M, N)."""
        told = torch.fmin(self.sets.reach, self.ends.radius(self.s)[0])
        return told.nan_to_num(torch.inf, torch.inf)

    @classmethod
    def within(cls, s: Tensor, size: float | Tensor) -> "Stage":
        """All states with |s_i − ŝ_i| ≤ size of one run s (1, M, N)."""
        sizes = torch.zeros_like(s[0]) + size
        sets = Zonotope.point(s[0]).widened(sizes).unboxed(0)
        return cls(s, sets, Ends.outward(s - sizes, s + sizes))

    def beside(self, other: "Stage") -> "Stage":
        """Both runs, each with generators of its own, and their difference."""
        one = self.sets.padded(0, other.sets.generators.shape[-1])
        two = other.sets.padded(self.sets.generators.shape[-1], 0)
        ends = Ends(*(torch.cat(pair) for pair in zip(self.ends, other.ends, strict=True)))
        sets = Zonotope.joined(one, two, one + -two)
        return Stage(torch.cat([self.s, other.s]), sets, ends)

    @classmethod
    def stacked(cls, a: "Stage", b: "Stage") -> "Stage":
        """Both, one after another along the windows."""
        ends = Ends(*(torch.cat(pair, 1) for pair in zip(a.ends, b.ends, strict=True)))
        return cls(torch.cat([a.s, b.s], 1), Zonotope.stacked(a.sets, b.sets), ends)


@dataclass(frozen=True, eq=False)
class Around:
    """Runs around windows x (M, T, d), each number within `delta`, from |s_i| ≤ `start`, one
    number or one for each entry of the state."""

    runner: Runner
    x: Tensor
    delta: float
    start: float | Tensor = 0.0

    @property
    def order(self) -> int:
        """How many generators are kept for each unit."""
        return order(self.runner)

    @cached_property
    def running(self) -> Running:
        """The arithmetic of what is computed."""
        return Running(self.runner.parameters)

    @cached_property
    def stages(self) -> list[Stage]:
        """ŝ_t and the set in which s_t − ŝ_t lies, for t = 0 … T."""
        stage, found = self.begun, [self.begun]
        for t in range(self.x.shape[1]):
            stage = self.step(stage, t)
            found.append(stage._replace(sets=stage.sets.unboxed(KEPT * self.runner.states)))
        return found

    @cached_property
    def widths(self) -> Tensor:
        """At least |s_t − ŝ_t|_i of all these runs, (M, T + 1, N); infinite from where on nothing
        is known."""
        return torch.stack([stage.reach for stage in self.stages], dim=1)

    @property
    def begun(self) -> Stage:
        """The computed state at the start, 0, and the stated states around it."""
        return Stage.within(self.runner.zero(len(self.x)), self.start)

    def step(self, stage: Stage, t: int) -> Stage:
        """One step of L runs, for A starts in each window: of A M sets."""
        return self.moved(stage, self.x[None, :, t].repeat(1, stage.s.shape[1] // len(self.x), 1))

    def moved(self, stage: Stage, x: Tensor) -> Stage:
        """One step of L runs in each of R sets, on inputs near x (1, R, d)."""
        s, sets, ends = stage
        N, L = self.runner.states, len(s)
        d, p = x.shape[2], sets.generators.shape[-1]
        near = Zonotope.point(x).widened(torch.full_like(x, self.delta)).unboxed(0).padded(p, 0)
        sets = sets.padded(0, d)
        parts = [sets.part(i * N, (i + 1) * N) for i in range(sets.box.shape[-1] // N)]
        gap = parts[2] if L == 2 else None
        state = Tube(RunningError.exactly(s), Zonotope.beside(*parts[:L]), ends, gap)
        shared = None if gap is None else Zonotope.point(x[0])
        m = Tubes(self.running, gap is not None)
        fed = Tube(
            RunningError.exactly(x), near, Ends.outward(x - self.delta, x + self.delta), shared
        )
        moved: Tube = self.runner.program(m, state, fed)
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
        sets = Zonotope.joined(*lines).unboxed(self.order * N * len(lines))
        return Stage(value, sets, ends)

    def gaps(self, *ks: int) -> Tensor:
        """At least ‖h_T − h_T^k‖₂ of all these runs, (len(ks), M); infinite where nothing is
        known."""
        return self.norms(self._ended(ks)).reshape(len(ks), -1)

    def norms(self, pair: Tube) -> Tensor:
        """At least ‖a − b‖₂ of the outputs a, b of two runs, or ‖f(a) − f(b)‖₂, (R,)."""
        of_h = norm_up(entries(pair))
        if self.runner.readout is not None:
            of_h = self._read(self.runner.readout, pair, of_h)
        return of_h

    def _read(self, readout: Readout, pair: Tube, of_h: Tensor) -> Tensor:
        """At least ‖C(a − b)‖₂ of a readout C: ‖C‖₂‖a − b‖₂, or what C makes of a − b, row by
        row."""
        found = mul_up(readout.norm, of_h)
        seen, off = difference(pair)
        parts = [
            reached(self.running.affine(READOUT, None, seen, slice(i, i + ROWS)), off.mapped(W))
            for i, W in zip(
                range(0, readout.outputs, ROWS),
                torch.split(readout.weight.double(), ROWS),
                strict=True,
            )
        ]
        return torch.minimum(found, norm_up(torch.cat(parts, -1))[0])

    def apart(self, *ks: int) -> Tensor:
        """At least |h_T − h_T^k|_i, (len(ks), M, n)."""
        return entries(self._ended(ks)).reshape(len(ks), len(self.x), -1)

    def _ended(self, ks: Sequence[int]) -> Tube:
        """h_T and h_T^k of len(ks) M pairs of runs. The runs of all k take their steps together,
        each from its start on."""
        T, N, n = self.x.shape[1], self.runner.states, self.runner.n
        begun = [self._begin(T - k) for k in ks]
        order = sorted(range(len(ks)), key=lambda i: begun[i][0])
        t, stage = begun[order[0]]
        for i in order[1:]:
            while t < begun[i][0]:
                stage, t = self.step(stage, t), t + 1
            stage = Stage.stacked(stage, begun[i][1])
        for later in range(t, T):
            stage = self.step(stage, later)
        rows = torch.arange(stage.s.shape[1]).reshape(len(ks), -1)
        rows = rows[[order.index(i) for i in range(len(ks))]].flatten()
        one, two, gap = (stage.sets.part(i * N - n, i * N)[rows] for i in (1, 2, 3))
        ends = Ends(*(end[:, rows] for end in stage.ends.part(N - n, N)))
        near = RunningError.exactly(stage.s[:, rows, N - n :])
        return Tube(near, Zonotope.beside(one, two), ends, gap)

    def _begin(self, t: int) -> tuple[int, Stage]:
        """A time from which both runs are held together, and both: that in full and one that starts
        at t."""
        return t, self.stages[t].beside(self.begun)


def order(runner: Runner) -> int:
    """How many generators are kept for each unit of its state."""
    return max(LEAST, min(MOST, GENERATORS // runner.states))


def difference(pair: Tube) -> tuple[RunningError, Zonotope]:
    """a − b of the values of two runs, (R, n), and the set of what it is off by in all of them."""
    assert pair.gap is not None
    a, b = (RunningError(*both) for both in zip(pair.near.value, pair.near.error, strict=True))
    return a - b, pair.gap


def chosen(pair: Tube, rows: slice) -> Tube:
    """Some of R pairs of runs."""
    assert pair.gap is not None
    sets = (pair.off, pair.gap)
    off, gap = (Zonotope(z.generators[..., rows, :, :], z.box[..., rows, :]) for z in sets)
    near = RunningError(pair.near.value[:, rows], pair.near.error[:, rows])
    return Tube(near, off, Ends(*(end[:, rows] for end in pair.ends)), gap)


def entries(pair: Tube) -> Tensor:
    """At least |a − b|_i of two runs, as their gap or their intervals have it, (R, n)."""
    return torch.fmin(reached(*difference(pair)), pair.ends.apart)


def reached(seen: RunningError, off: Zonotope) -> Tensor:
    """At least |v|_i, infinite where nothing is known."""
    told = add_up(add_up(seen.value.abs(), seen.error), off.reach)
    return told.nan_to_num(torch.inf, torch.inf)
