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

import torch
from torch import Tensor

from rnnbounds.impl.memory.running import Running, RunningError
from rnnbounds.impl.memory.runs import Runner
from rnnbounds.impl.memory.tube.arithmetic import Tube, Tubes
from rnnbounds.impl.memory.tube.zonotopes import Zonotope
from rnnbounds.impl.models.readout import FIRST, Linear, Readout
from rnnbounds.impl.numbers.outward import add_up, mul_up, norm_up

GENERATORS, MOST, LEAST = 1536, 48, 8  # that are kept, and of them for each unit
KEPT = 8  # for each unit, of the sets that later runs start from
ROWS = 1024  # of a readout at a time


@dataclass(frozen=True, eq=False)
class Around:
    """Runs around windows x (M, T, d), each number within `delta`, from states within `start`."""

    runner: Runner
    x: Tensor
    delta: float
    start: float = 0.0

    @property
    def order(self) -> int:
        """How many generators are kept for each unit."""
        return order(self.runner)

    @cached_property
    def running(self) -> Running:
        """The arithmetic of what is computed."""
        return Running(self.runner.parameters)

    @cached_property
    def sets(self) -> tuple[list[Tensor], list[Zonotope]]:
        """ŝ_t (1, M, N) and the set (M, N) in which s_t − ŝ_t lies, for t = 0 … T."""
        s, off = self.begun
        states, sets = [s], [off]
        for t in range(self.x.shape[1]):
            s, off = self.step(s, off, t)
            states.append(s)
            sets.append(off.unboxed(KEPT * self.runner.states))
        return states, sets

    @cached_property
    def widths(self) -> Tensor:
        """At least |s_t − ŝ_t|_i of all these runs, (M, T + 1, N); infinite from where on nothing
        is known."""
        told = torch.stack([off.reach for off in self.sets[1]], dim=1)
        return told.nan_to_num(torch.inf, torch.inf)

    @property
    def begun(self) -> tuple[Tensor, Zonotope]:
        """The computed state at the start, 0, and the stated states around it."""
        s = self.runner.zero(len(self.x))
        return s, Zonotope.point(s[0]).widened(torch.full_like(s[0], self.start)).unboxed(0)

    def step(self, s: Tensor, sets: Zonotope, t: int) -> tuple[Tensor, Zonotope]:
        """One step of L runs, s (L, A M, N), from sets (A M, L N) of states around them, for A
        starts in each window; of two runs these hold their difference, less that of the computed
        ones, as a third part."""
        N, L = self.runner.states, len(s)
        x = self.x[None, :, t].repeat(1, s.shape[1] // len(self.x), 1)
        d, p = x.shape[2], sets.generators.shape[-1]
        near = Zonotope.point(x).widened(torch.full_like(x, self.delta)).unboxed(0).padded(p, 0)
        sets = sets.padded(0, d)
        parts = [sets.part(i * N, (i + 1) * N) for i in range(sets.box.shape[-1] // N)]
        gap = parts[2] if L == 2 else None
        state = Tube(RunningError.exactly(s), Zonotope.beside(*parts[:L]), gap)
        shared = None if gap is None else Zonotope.point(x[0])
        m = Tubes(self.running, gap is not None)
        moved: Tube = self.runner.program(m, state, Tube(RunningError.exactly(x), near, shared))
        value, error = (part.expand_as(s) for part in (moved.near.value, moved.near.error))
        off = (moved.off + Zonotope.point(s)).widened(error)  # of each run, if it sees no state too
        lines = [off[i] for i in range(L)]
        if moved.gap is not None:
            lines.append(moved.gap.widened(error.sum(0)))
        return value, Zonotope.joined(*lines).unboxed(self.order * N * len(lines))

    def gaps(self, *ks: int) -> Tensor:
        """At least ‖h_T − h_T^k‖₂ of all these runs, (len(ks), M); infinite where nothing is
        known."""
        seen, off = self._ended(ks)
        of_h = norm_up(_reached(seen, off))
        if self.runner.readout is not None:
            of_h = self._read(self.runner.readout, seen, off, of_h)
        return of_h.reshape(len(ks), -1)

    def _read(self, readout: Readout, seen: RunningError, off: Zonotope, of_h: Tensor) -> Tensor:
        """At least ‖f(a) − f(b)‖₂ of a readout f: its L times ‖a − b‖₂, or what its first layer C
        makes of a − b, row by row, times the L of all stages after it."""
        found, first = mul_up(readout.norm, of_h), readout.stages[0]
        if isinstance(first, Linear):
            parts = [
                _reached(self.running.affine(FIRST, None, seen, slice(i, i + ROWS)), off.mapped(W))
                for i, W in zip(
                    range(0, len(first.weight), ROWS),
                    torch.split(first.weight.double(), ROWS),
                    strict=True,
                )
            ]
            rest = Readout(readout.stages[1:]).norm
            found = torch.minimum(found, mul_up(rest, norm_up(torch.cat(parts, -1))[0]))
        return found

    def apart(self, *ks: int) -> Tensor:
        """At least |h_T − h_T^k|_i, (len(ks), M, n)."""
        return _reached(*self._ended(ks)).reshape(len(ks), len(self.x), -1)

    def _ended(self, ks: Sequence[int]) -> tuple[RunningError, Zonotope]:
        """h_T − h_T^k of the computed runs (len(ks) M, n), and the set of what it is off by. The
        runs of all k take their steps together, each from its start on."""
        T, N, n = self.x.shape[1], self.runner.states, self.runner.n
        order = sorted(ks, reverse=True)
        s, found = self._begin(T - order[0])
        for t in range(T - order[0], T):
            s, found = self.step(s, found, t)
            if T - t - 1 in order:
                more, other = self._begin(t + 1)
                s, found = torch.cat([s, more], 1), Zonotope.stacked(found, other)
        rows = torch.arange(s.shape[1]).reshape(len(ks), -1)
        rows = rows[[order.index(k) for k in ks]].flatten()
        full, late = s[:, rows, N - n :]
        value = full - late
        return RunningError(value, value.abs() * 2**-52), found.part(3 * N - n, 3 * N)[rows]

    def _begin(self, t: int) -> tuple[Tensor, Zonotope]:
        """The full run and one that starts at that time, and the sets of both."""
        there, (zero, started) = self.sets[1][t], self.begun
        one = there.padded(0, started.generators.shape[-1])
        two = started.padded(there.generators.shape[-1], 0)
        both = torch.cat([self.sets[0][t], zero])
        return both, Zonotope.joined(one, two, one + -two)


def order(runner: Runner) -> int:
    """How many generators are kept for each unit of its state."""
    return max(LEAST, min(MOST, GENERATORS // runner.states))


def _reached(seen: RunningError, off: Zonotope) -> Tensor:
    """At least |v|_i, infinite where nothing is known."""
    told = add_up(add_up(seen.value.abs(), seen.error), off.reach)
    return told.nan_to_num(torch.inf, torch.inf)
