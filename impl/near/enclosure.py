"""The enclosure of runs around recorded inputs, and how far two runs in it come apart.

Every run on inputs with |x_tj − x̄_tj| ≤ δ is held step by step around the states that float64
computes from the same start on x̄, each of which is taken as it is: what rounding moves a step by is
in the set, and nothing of it is carried on with the norms of the weights. A pair is such a run and
the one that starts from 0 later, or beside it, on the same inputs. Their difference moves by
products of slopes between the two, see `impl.near.arithmetic`.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.running import Running, RunningError
from rnnbounds.impl.cells.runs import Runner, blocks
from rnnbounds.impl.models.loaded import READOUT
from rnnbounds.impl.near.arithmetic import Tube, Tubes
from rnnbounds.impl.near.chords import Ends
from rnnbounds.impl.near.zonotopes import Zonotope
from rnnbounds.impl.numbers.outward import UNIT, add_up, mul_up, norm_up

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
