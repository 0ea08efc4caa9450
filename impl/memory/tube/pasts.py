"""Runs that begin where recordings ended: streaming models never start from zero.

A stream's state before a window is within `start` of one of P recorded end states, each entry. Its
run, and the one that starts from 0 with the window, meet the same inputs; the gap at k is the
largest ‖h_t − h_t^0‖₂ of the two at the times t = k … T: whichever of the pasts came before, after
k inputs and from then on to the end of the window the state is that near to what the run from 0
computes. Each past has an enclosure of its own,

    s_t = ŝ_t + I a + R c,    a the last inputs less the recorded ones, in δ,    |c_j| ≤ 1,

with the same a in that of the run from 0, so that the difference of two runs is that of their I,
and of what they keep to themselves. Enclosures that lie beside one another within SHARE of the
size of that from 0 are merged to one that holds them all, so that the cost is not P times that of
one run.
Sources: Kühn (1998), Rigorously computed orbits; Stursberg & Krogh (2003) for the turned box.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from rnnbounds.impl.errors import RangeError
from rnnbounds.impl.memory.running import RunningError
from rnnbounds.impl.memory.runs import Runner
from rnnbounds.impl.memory.tube.arithmetic import Tube
from rnnbounds.impl.memory.tube.ends import Ends
from rnnbounds.impl.memory.tube.runs import Around, Stage, order
from rnnbounds.impl.memory.tube.zonotopes import Zonotope
from rnnbounds.impl.numbers.outward import TINY, UNIT, gamma
from rnnbounds.impl.reading.data.recordings import Array, Data, float64

SHARE = 0.125  # of the size of the enclosure from 0, by which those that are merged are apart
EVERY = 4  # steps, after which enclosures are compared
RECORDED = "recorded"  # in place of a size of states
PASTS, NEAR = 20, 1e-3  # by default: how many, and how near in shares of an entry's range
_UP = 1 + 64 * UNIT


class Bundle(NamedTuple):
    """Enclosures of runs at one time: of windows `rows` (R,), the first M of them of the runs from
    0; `shared`: how many of the generators are of inputs."""

    stage: Stage
    rows: Tensor
    shared: int


@dataclass(frozen=True, eq=False, kw_only=True)
class AfterPasts(Around):
    """Runs on windows x (M, T, d) and inputs near them, from states near pasts (P, N), within
    `start` in each entry."""

    pasts: Tensor

    @cached_property
    def bundles(self) -> list[tuple[Tensor, Tensor]]:
        """At each time t = 0 … T, of the M windows: at least ‖h_t − h_t^0‖₂ (M,) for every past,
        and at least |s_t − ŝ_t|_i of the run from 0 (M, N)."""
        now, found = self._first, []
        for t in range(self.x.shape[1] + 1):
            if t:
                now = self._moved(now, t - 1)
                now = now if t % EVERY else self._merged(now)
            M = len(self.x)
            found.append((self._apart(now), now.stage.reach[:M]))
        return found

    @property
    def widths(self) -> Tensor:
        """At least |s_t − ŝ_t|_i of the runs from 0, (M, T + 1, N)."""
        return torch.stack([reach for _, reach in self.bundles], dim=1)

    def gaps(self, *ks: int) -> Tensor:
        """At least ‖h_t − h_t^0‖₂ at every t ≥ k, (len(ks), M)."""
        return later(torch.stack([gap for gap, _ in self.bundles], dim=1)).T[list(ks)]

    @property
    def order(self) -> int:
        """All generators are kept by a step, and reduced after it."""
        return 2**40

    @property
    def own(self) -> int:
        """How many generators are kept for each unit: of the last inputs, and of all else."""
        return order(self.runner) // 2

    @property
    def _first(self) -> Bundle:
        """The runs from 0, and for each window all pasts."""
        M, P = len(self.x), len(self.pasts)
        s = torch.cat([self.runner.zero(M)[0], self.pasts.repeat(M, 1)])
        size = torch.zeros_like(s)
        size[M:] += self.start
        rows = torch.cat([torch.arange(M), torch.arange(M).repeat_interleave(P)])
        return Bundle(Stage.within(s[None], size), rows, 0)

    def _moved(self, now: Bundle, t: int) -> Bundle:
        """One step, whose inputs come after those before; the oldest are shared no more."""
        N, d, old = self.runner.states, self.x.shape[2], now.stage.sets.generators.shape[-1]
        stage = self.moved(now.stage, self.x[None, now.rows, t])
        G = stage.sets.generators
        before, own, new, box = torch.split(G, [now.shared, old - now.shared, d, N], -1)
        inputs = torch.cat([before, new], -1)
        kept = self.own * N
        gone = max(0, inputs.shape[-1] - kept // d * d)
        rest = Zonotope(torch.cat([inputs[..., :gone], own, box], -1), stage.sets.box)
        if rest.generators.shape[-1] > kept:
            rest = rest.unboxed(kept, alike=True)
        sets = Zonotope(torch.cat([inputs[..., gone:], rest.generators], -1), rest.box)
        return Bundle(stage._replace(sets=sets), now.rows, inputs.shape[-1] - gone)

    def _apart(self, now: Bundle) -> Tensor:
        """At least ‖h_t − h_t^0‖₂ for all pasts of a window, (M,)."""
        M, (s, sets, ends), k = len(self.x), now.stage, now.shared
        rows, units = now.rows[M:], (self.runner.states - self.runner.n, self.runner.states)
        one, two = sets.part(*units)[torch.arange(M, len(now.rows))], sets.part(*units)[rows]
        lone = one.generators.shape[-1] - k
        G = two.generators
        beside = torch.cat([G[..., :k], torch.zeros_like(G[..., k:]), G[..., k:]], -1)
        one, two = one.padded(0, lone), Zonotope(beside, two.box)
        both = Ends(*(torch.stack([end[0, M:], end[0, rows]]) for end in ends.part(*units)))
        near = RunningError.exactly(torch.stack([s[0, M:], s[0, rows]])[..., slice(*units)])
        found = self.norms(Tube(near, Zonotope.beside(one, two), both, one + -two))
        return torch.zeros(M, dtype=found.dtype).scatter_reduce(0, rows, found, "amax")

    def _merged(self, now: Bundle) -> Bundle:
        """The enclosures, of which those of a window that lie near one another are one."""
        M, (s, sets, ends) = len(self.x), now.stage
        room = SHARE * now.stage.reach[:M].amax(-1)
        left = list(range(M, len(now.rows)))
        groups = [torch.tensor([i]) for i in range(M)]
        while left:
            lead = left[0]
            near = (s[0, left] - s[0, lead]).abs().amax(-1) <= room[now.rows[lead]]
            near &= now.rows[left] == now.rows[lead]
            near[0] = True
            groups.append(torch.tensor(left)[near])
            left = torch.tensor(left)[~near].tolist()
        if len(groups) == len(now.rows):
            return now
        merged = [hull(s[0, one], sets[one]) for one in groups]
        stage = Stage(
            torch.stack([centre for centre, _ in merged])[None],
            Zonotope.stacked(*(one for _, one in merged)),
            Ends(
                torch.stack([ends.low[0, one].amin(0) for one in groups])[None],
                torch.stack([ends.high[0, one].amax(0) for one in groups])[None],
            ),
        )
        return Bundle(stage, torch.stack([now.rows[one[0]] for one in groups]), now.shared)


def later(gaps: Tensor) -> Tensor:
    """The largest at each time and after it, of gaps (M, T + 1)."""
    return gaps.flip(1).cummax(1).values.flip(1)


def hull(s: Tensor, sets: Zonotope) -> tuple[Tensor, Zonotope]:
    """A centre (N,) and a set (1, N, p) around it that hold those around s (G, N): the mean of
    their generators, and a box in the principal axes of what is left."""
    if len(s) == 1:
        return s[0], sets
    u, one = gamma(s.shape[-1] + 8), torch.eye(s.shape[-1], dtype=s.dtype)
    middle, G = s.mean(0), sets.generators.mean(0, keepdim=True)
    moved = s - middle
    left = sets + -Zonotope(G.expand_as(sets.generators), torch.zeros_like(sets.box))
    left = left.widened(moved.abs() * 2 * UNIT)
    spread = moved.mT @ moved + (left.generators @ left.generators.mT).sum(0)
    V = torch.linalg.eigh(spread if spread.isfinite().all() else one).eigenvectors
    y = moved @ V
    around = (left.mapped(V.mT).reach + (moved.abs() @ V.abs()) * u) * _UP + TINY
    low, high = (y - around).amin(0), (y + around).amax(0)
    turned = (low + high) / 2
    radius = (torch.maximum(high - turned, turned - low) + turned.abs() * 4 * UNIT) * _UP
    centre = middle + V @ turned
    # D = V Vᵀ D + (1 − V Vᵀ) D, as V is orthogonal up to rounding.
    skew = (one - V @ V.mT).abs() + (V.abs() @ V.abs().mT + one) * u
    most = (moved.abs() + left.reach).amax(0)
    lost = skew @ most + (V.abs() @ turned.abs() + middle.abs() + centre.abs()) * u
    found = Zonotope(torch.cat([G[0], V * radius], -1)[None], (lost * _UP + TINY)[None])
    return centre, found


def end_states(runner: Runner, x: Tensor) -> Tensor:
    """The state after each window x (P, T, d) from 0, as float64 computes it: (P, N)."""
    s = runner.zero(len(x))
    for t in range(x.shape[1]):
        s = runner.step(s, x[None, :, t])
    return s[0]


def count_pasts(data: Data, T: int) -> int:
    """How many stretches of T inputs there are."""
    return data.N * max(data.T - T + 1, 0)


def past_inputs(data: Data, pasts: int, T: int) -> Tensor:
    """That many stretches of T inputs each, spread evenly over the data, (P, T, d); raises
    RangeError if there are not so many."""
    total = count_pasts(data, T)
    if type(pasts) is not int or not 0 <= pasts <= total:
        raise RangeError("pasts", pasts, f"a whole number from 0 to {total}, of stretches of {T}")
    i, first = np.divmod(spread(pasts, total), max(data.T - T + 1, 1))
    return float64(data.x[i[:, None], first[:, None] + np.arange(T)])


def spread(count: int, windows: int) -> Array:
    """So many of the windows by number, spread evenly from the first one on."""
    found: Array = np.arange(count) * windows // max(1, count)
    return found


def radius(pasts: Tensor, share: float) -> Tensor:
    """That share of the range of each entry over the pasts, (N,)."""
    return (pasts.amax(0) - pasts.amin(0)) * (share * _UP)


def products_after(runner: Runner, T: int, pasts: int) -> int:
    """At most how many products all enclosures of one window take, about."""
    return T * runner.products * (1 + pasts) * order(runner) * runner.states
