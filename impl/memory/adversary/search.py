"""The search for inputs that a model remembers for long, in floats: what it finds is not proved.

It begins with constant, alternating and random pasts, then follows the gradient: the inputs at
which the gap's linearisation is the largest lie at ends of their set, so a step goes a part of the
way there (Frank & Wolfe, 1956). Taken whole, and for small inputs, a step is one of the power
method for the products of Jacobians, and gives the impulses along their leading singular vectors.

Pairs of runs under the same inputs: one that has a past, and one from the zero state.

Inputs x (P + K, d, M) are M sequences. The first P lead from zero to a state s; from then on a
second run, which starts at zero, sees the same inputs. After k of these its output is that of the
model truncated to k inputs, and the gap is ‖h_{P+k} − h_{P+k}^k‖₂, or that of f(h) for a readout f.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.base import Floats, Rows
from rnnbounds.impl.arithmetic.inputs.maximisers import Inputs
from rnnbounds.impl.cells.runs import Runner

AT_ONCE = 2**20  # numbers of states whose gaps are taken together


def gaps(runner: Runner, x: Tensor, past: int) -> Tensor:
    """The gap after k = 0, …, K common inputs in floats: (K + 1, M)."""
    pairs, most = _pairs(runner, x, past), max(1, AT_ONCE // (2 * runner.states * x.shape[2]))
    found = []
    while some := [*islice(pairs, most)]:
        found.append(_apart(runner, torch.cat(some)))
    return torch.cat(found)


def rises(runner: Runner, x: Tensor, past: int, k: int) -> tuple[Tensor, Tensor]:
    """The gap after k inputs, (M,), and the direction of x in which each rises, as x."""
    x = x[: past + k].detach().requires_grad_()
    *_, last = _pairs(runner, x, past)
    gap = _apart(runner, last)[0]
    logs = torch.where(gap > 0, gap, 1.0).log().sum()  # of one size, however small the gap
    (g,) = torch.autograd.grad(logs, x)
    return gap.detach(), g.nan_to_num(0.0, 0.0, 0.0)


def longest(found: Tensor, epsilon: float) -> Tensor:
    """The largest k at which the gap is above ε, −1 where there is none: (K + 1, M) -> (M,)."""
    k = torch.arange(len(found), device=found.device)[:, None]
    return torch.where(found > epsilon, k, -1).amax(0)


def _pairs(runner: Runner, x: Tensor, past: int) -> Iterator[Tensor]:
    """Both states, one beside the other, after each of the common inputs: (1, 2 M, N)."""
    s = runner.zero(x.shape[2])
    for one in x[:past]:
        s = runner.step(s, one.mT[None])
    both = torch.cat([s, torch.zeros_like(s)], dim=1)
    yield both
    for one in x[past:]:
        both = runner.step(both, one.mT.repeat(2, 1)[None])
        yield both


def _apart(runner: Runner, both: Tensor) -> Tensor:
    """The gaps of pairs (K, 2 M, N): (K, M)."""
    h, other = both[..., -runner.n :].chunk(2, dim=1)
    gap = runner.apart(Floats(runner.parameters), Rows(h), Rows(other)).value
    size = gap.abs().amax(2, keepdim=True)
    unit = torch.where((size > 0) & torch.isfinite(size), size, 1.0).detach()
    found: Tensor = (gap / unit).square().sum(2).sqrt() * unit[:, :, 0]
    return found


WORK = (
    40_000 * 2**20
)  # products, of which a step takes so many at least; gradients take three times
LONGEST = 2048  # common inputs
_STEP = 2**20
_PAST, _COLUMNS, _KEPT, _ASCENTS = 32, 24, 6, 8
_MOST_PAST = 512
_MARGIN = 1 + 2.0**-20  # above ε, so that the proof finds it so
_SMALL = 2.0**-10
_GAIN = 1 + 2.0**-10  # what is worth another step


@dataclass
class Search:
    """One search: a model with input weights U (n, d), under the `inputs`; `most` common inputs;
    `left` is the work that it may yet do. `x` (past + K, d, M) is what it has found, and `seen` the
    gaps of it and of x with its last inputs again and again, where they are known."""

    runner: Runner
    U: Tensor
    inputs: Inputs
    most: int = LONGEST
    left: int = WORK
    past: int = _PAST
    x: Tensor = field(init=False)
    seen: Tensor | None = None

    def __post_init__(self) -> None:
        self.x = self._starts()

    def run(self, epsilons: Sequence[float]) -> Iterator[tuple[float, Tensor, int, int]]:
        """For each ε, the largest first: inputs (past + k, d), the past and k; no two are within ε
        after k inputs, as it seems. k is −1 if none were found."""
        for epsilon in sorted(epsilons, reverse=True):
            x, past, k = self._long(epsilon * _MARGIN)
            yield epsilon, x, past, k

    @torch.no_grad()
    def _long(self, epsilon: float) -> tuple[Tensor, int, int]:
        best, x, past = self._look(epsilon)
        for later in (True, False):
            if self.left > 0 and best < self.most:
                self._cross(later)
                best, x, past = max(self._look(epsilon), (best, x, past), key=lambda told: told[0])
        failures = 0
        while best >= 0 and failures < 2 and self.left > 0 and best < self.most:
            self._ascend(best + 1 + failures * (1 + best // 16))
            k, found, before = self._look(epsilon)
            failures = 0 if k > best else failures + 1
            if k > best:
                best, x, past = k, found, before
        return x, past, best

    def _cross(self, later: bool) -> None:
        """The past of the best column with one constant input after another, or, unless `later`,
        its later inputs after pasts that stay at one: a gate that keeps most may be open under
        another input than that which leads far away."""
        ends, self.seen = self._ends(), None
        crossed = self.x[:, :, :1].repeat(1, 1, len(ends))
        (crossed[self.past :] if later else crossed[: self.past])[:] = ends.mT
        self.x = torch.cat([self.x[:, :, :_KEPT], crossed], dim=2)

    def _look(self, epsilon: float) -> tuple[int, Tensor, int]:
        """The longest k of all columns, with the inputs of that column and their past; the columns
        are left in order, the best first."""
        K = min(max(16, len(self.x) - self.past), self.most)
        while True:
            found = self._gaps(K)
            k = longest(found, epsilon)
            if int(k.max()) < K or self.most <= K or self.left <= 0:
                break
            K = min(2 * K, self.most)
        best = int(k.max())
        order = found[max(best, 0)].nan_to_num(-1.0, -1.0, -1.0).argsort(descending=True)
        end = self.past + best + 2 + best // 4
        alike = bool((self.x[end:] == self.x[end - 1 : end]).all())
        self.x, self.seen = self.x[:end, :, order], found[:, order] if alike else None
        first = self.x[: self.past + max(best, 0), :, 0]
        return best, first.clone(), self.past

    def _gaps(self, K: int) -> Tensor:
        """The gaps after 0, …, K inputs at least, paid for where they are not known."""
        self._extend(K)
        count = len(self.x) - self.past + 1
        if self.seen is None or len(self.seen) < count:
            self.seen = gaps(self.runner, self.x, self.past)
            self._pay(len(self.x))
        return self.seen[:count]

    def _pay(self, steps: int) -> None:
        self.left -= steps * (_STEP + self.runner.products * self.x.shape[2])

    def _extend(self, K: int) -> None:
        """K common inputs at least, the last one again and again."""
        missing = K - (len(self.x) - self.past)
        if missing > 0:
            self.x = torch.cat([self.x, self.x[-1:].expand(missing, -1, -1)])

    def _ascend(self, k: int) -> None:
        """Steps towards a larger gap after k inputs, of the columns that are best."""
        k, self.seen = min(k, self.most), None
        longer = min(k, _MOST_PAST) - self.past
        if longer > 0:
            self.x = torch.cat([self.x[:1].expand(longer, -1, -1), self.x])
            self.past += longer
        self._extend(k)
        self.x = self.x[:, :, :_KEPT]
        end = self.past + k
        tried = best = self.x[:end]
        part = torch.ones(best.shape[2])
        top, slope = torch.full_like(part, -1.0, dtype=best.dtype), torch.zeros_like(best)
        idle = 0
        for _ in range(_ASCENTS):
            if self.left <= 0 or idle > 1:
                break
            with torch.enable_grad():
                gap, g = rises(self.runner, tried, self.past, k)
            self._pay(3 * end)
            better = gap > top
            idle = 0 if bool((gap > top.max() * _GAIN).any()) else idle + 1
            part = torch.where(better, (2 * part).clamp(max=1.0), part / 4)
            top = torch.where(better, gap, top)
            best, slope = (
                torch.where(better, new, old) for new, old in ((tried, best), (g, slope))
            )
            aim = self.inputs.maximiser(slope.mT).mT
            still = (slope == 0).all(1, keepdim=True)
            moved = self.inputs.interpolate(best.mT, aim.mT, part[:, None]).mT
            tried = torch.where(still, best, moved)
        self.x = torch.cat([best, self.x[end:]])

    def _ends(self, sign: float = 1.0) -> Tensor:
        """Inputs at ends of the set, those that lead far first, or opposite to them: (M, d)."""
        by = torch.Generator().manual_seed(0)
        across = torch.linalg.svd(self.U, full_matrices=False)[2][:3]
        random = torch.randn(_COLUMNS, self.U.shape[1], generator=by, dtype=torch.float64)
        return self.inputs.maximiser(sign * torch.cat([across, -across, random])[:_COLUMNS])

    def _starts(self) -> Tensor:
        """Pasts that are constant, that alternate, and random ones; then zeros, or more of it."""
        by, d = torch.Generator().manual_seed(1), self.U.shape[1]
        ends, others = self._ends(), self._ends(-1.0)
        noise = self.inputs.maximiser(
            torch.randn(_PAST, _COLUMNS, d, generator=by, dtype=torch.float64)
        )
        past = ends.repeat(_PAST, 1, 1)
        past[1::2, 1::4] = others[1::4]
        past[:, 2::4] = noise[:, 2::4]
        later = self.inputs.smallest_input(d).expand(1, _COLUMNS, d).clone()
        later[:, ::4] = self.inputs.interpolate(later, noise[:1], _SMALL)[:, ::4]
        later[:, 3::4] = past[-1:, 3::4]
        return torch.cat([past, later]).mT.contiguous()
