"""Runs from a ball of starts that is wide: to higher order until it has shrunk, then as others.

From |s_i| ≤ r_i the first steps are bounded by `impl.memory.tube.polynomials`, until every set is
within half the largest r_i of its centre or its rest is wider than its polynomial, but for `STEPS`
at most; from there on by zonotopes around the centre. The truncated run does its first steps
likewise, so that two runs are compared from where both are small; before that their distance is
that of their intervals. What the plain tube says is taken where it is less.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import comb

import torch
from torch import Tensor

from rnnbounds.impl.memory.tube.ends import Ends
from rnnbounds.impl.memory.tube.polynomials import Polynomial, Polynomials
from rnnbounds.impl.memory.tube.runs import KEPT, Around, Stage
from rnnbounds.impl.memory.tube.zonotopes import Zonotope

STEPS, ORDER = 24, 16  # of higher order at most, and the generators for each unit in them
HIGHEST = 4  # degree of the polynomials
TERMS, LARGEST = 2**20, 2**27  # coefficients of degree p that are moved at a time, and are held


@dataclass(frozen=True, eq=False, kw_only=True)
class Wide(Around):
    """Runs as in `plain`, of which less is known from wide starts."""

    plain: Around

    @cached_property
    def stages(self) -> list[Stage]:
        """ŝ_t and the set in which s_t − ŝ_t lies, for t = 0 … T."""
        found = [*self._first]
        for t in range(len(found) - 1, self.x.shape[1]):
            found.append(self.step(found[-1], t))
        return [one._replace(sets=one.sets.unboxed(KEPT * self.runner.states)) for one in found]

    @cached_property
    def _first(self) -> list[Stage]:
        return self._spread(0)

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
        late = self._spread(t) if t else self._first
        end = t + len(late) - 1
        return end, self.stages[end].beside(late[-1])

    def _spread(self, t: int) -> list[Stage]:
        """The first stages of runs from the ball at that time."""
        radii = torch.zeros_like(self.begun.s[0]) + self.start
        p = degree(radii)
        held = max(1, TERMS // _terms(radii[:1], p))
        rows = [slice(i, i + held) for i in range(0, len(radii), held)]
        forms = [Polynomial.ball(radii[some], p) for some in rows]
        found = [self.begun]
        for i in range(t, min(t + STEPS, self.x.shape[1])):
            forms = [self._stepped(v, self.x[at, i]) for v, at in zip(forms, rows, strict=True)]
            found.append(self._stage(forms))
            small = all(bool((v.reach <= radii.amax() / 2).all()) for v in forms)
            rest, swing = (sum(float(part.sum()) for part in some) for some in (
                [v.rest.reach for v in forms], [v.swing for v in forms]
            ))  # fmt: skip
            if small or not rest <= swing:
                break
        return found

    def _stage(self, forms: Sequence[Polynomial]) -> Stage:
        """The sets of these windows, one after another."""
        sets = Zonotope.stacked(*(v.zonotope.unboxed(self.order * v.size) for v in forms))
        ends = Ends(*(torch.cat(end)[None] for end in zip(*(v.ends for v in forms), strict=True)))
        return Stage(torch.cat([v.centre for v in forms])[None], sets, ends)

    def _stepped(self, form: Polynomial, x: Tensor) -> Polynomial:
        """One step on inputs x (M, d), each within δ."""
        d, p = x.shape[-1], form.rest.generators.shape[-1]
        form = replace(form, rest=form.rest.padded(0, d))
        near = Zonotope.point(x).widened(torch.full_like(x, self.delta)).unboxed(0).padded(p, 0)
        ends = Ends.outward(x - self.delta, x + self.delta)
        fed = replace(form.still(x), rest=near, ends=ends)
        moved: Polynomial = self.runner.program(
            Polynomials(self.runner.parameters, form), form, fed
        )
        return moved.clamped(ORDER * self.runner.states)


def _terms(radii: Tensor, p: int) -> int:
    """How many coefficients of degree p the states have together."""
    n = int((radii > 0).any(0).sum())
    return radii.numel() * comb(n + p - 1, p)


def degree(radii: Tensor) -> int:
    """The highest degree p whose coefficients are few enough for one window, 2 at least."""
    fits = (p for p in range(HIGHEST, 2, -1) if _terms(radii[:1], p) <= TERMS)
    return next(fits, 2)


def from_ball(around: Around) -> Around:
    """The tube, or if it grows to twice its starts, one that is of higher order at first; not where
    that takes too much memory."""
    radii = torch.zeros_like(around.begun.s[0]) + around.start
    grows = not bool((around.widths <= 2 * radii.amax()).all())
    if not grows or not bool(radii.any()) or 4 * _terms(radii, degree(radii)) > LARGEST:
        return around
    return Wide(around.runner, around.x, around.delta, around.start, plain=around)
