"""Runs from a ball of starts that is wide: to second order until it has shrunk, then as others.

From |s_i| ≤ r the first steps are bounded by `impl.memory.tube.quadratics`, until every set is
within r/2 of its centre, but for `STEPS` at most; from there on by zonotopes around the centre. The
truncated run does its first steps likewise, so that two runs are compared from where both are
small; before that their distance is that of their intervals. What the plain tube says is taken
where it is less.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from rnnbounds.impl.memory.tube.ends import Ends
from rnnbounds.impl.memory.tube.quadratics import Quadratic, Quadratics
from rnnbounds.impl.memory.tube.runs import KEPT, Around, Stage
from rnnbounds.impl.memory.tube.zonotopes import Zonotope

STEPS, ORDER = 24, 16  # of second order at most, and the generators for each unit in them
LARGEST = 2**27  # numbers of the forms of one step


@dataclass(frozen=True, eq=False, kw_only=True)
class Wide(Around):
    """Runs as in `plain`, of which less is known from wide starts."""

    plain: Around

    @cached_property
    def stages(self) -> list[Stage]:
        """ŝ_t and the set in which s_t − ŝ_t lies, for t = 0 … T."""
        found = self._spread(0)
        for t in range(len(found) - 1, self.x.shape[1]):
            found.append(self.step(found[-1], t))
        return [one._replace(sets=one.sets.unboxed(KEPT * self.runner.states)) for one in found]

    @cached_property
    def widths(self) -> Tensor:
        """At least |s_t − ŝ_t|_i for the ŝ that the plain tube is around, (M, T + 1, N)."""
        ends = zip(self.stages, self.plain.stages, strict=True)
        mine = torch.stack([one.ends.radius(two.s)[0] for one, two in ends], dim=1)
        return torch.fmin(self.plain.widths, mine)

    def gaps(self, *ks: int) -> Tensor:
        """At least ‖h_T − h_T^k‖₂ of all these runs, (len(ks), M)."""
        return torch.fmin(self.plain.gaps(*ks), super().gaps(*ks))

    def apart(self, *ks: int) -> Tensor:
        """At least |h_T − h_T^k|_i, (len(ks), M, n)."""
        return torch.fmin(self.plain.apart(*ks), super().apart(*ks))

    def _begin(self, t: int) -> tuple[int, Stage]:
        """Both runs once the one that starts at t has shrunk, and when."""
        late = self._spread(t)
        end = t + len(late) - 1
        return end, self.stages[end].beside(late[-1])

    def _spread(self, t: int) -> list[Stage]:
        """The first stages of runs from the ball at that time."""
        M, N, zero = len(self.x), self.runner.states, self.begun.s[0]
        line = torch.eye(N, dtype=torch.float64).expand(M, N, N) * self.start
        ends = Ends(zero - self.start, zero + self.start)
        form = Quadratic(zero, line, zero.new_zeros(M, N, N, N), Zonotope.point(zero), ends)
        found = [self.begun]
        for i in range(t, min(t + STEPS, self.x.shape[1])):
            form = self._stepped(form, self.x[:, i])
            sets = form.zonotope.unboxed(self.order * N)
            found.append(Stage(form.centre[None], sets, Ends(*(end[None] for end in form.ends))))
            if bool((form.reach <= self.start / 2).all()):
                break
        return found

    def _stepped(self, form: Quadratic, x: Tensor) -> Quadratic:
        """One step on inputs x (M, d), each within δ."""
        d, p = x.shape[-1], form.rest.generators.shape[-1]
        form = replace(form, rest=form.rest.padded(0, d))
        near = Zonotope.point(x).widened(torch.full_like(x, self.delta)).unboxed(0).padded(p, 0)
        ends = Ends.outward(x - self.delta, x + self.delta)
        fed = replace(form.still(x), rest=near, ends=ends)
        moved: Quadratic = self.runner.program(Quadratics(self.runner.parameters, form), form, fed)
        return moved.clamped(ORDER * self.runner.states)


def from_ball(around: Around) -> Around:
    """The tube, or if it grows to twice its starts, one that is of second order at first; not where
    that takes too much memory."""
    M, N = len(around.x), around.runner.states
    grows = not bool((around.widths <= 2 * around.start).all())
    if not around.start or not grows or 4 * M * N**3 > LARGEST:
        return around
    return Wide(around.runner, around.x, around.delta, around.start, plain=around)
