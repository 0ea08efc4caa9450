"""The window [t − k₁, t + k₂] that fixes output t of a model in both directions to within ε.

Of one cell of a layer, run from the zero state where another run has been going on, the outputs are
at most f(m) apart after m steps or more, and inputs e_j apart drive them at most Σ_j λ^{m−j} p e_j
apart, p ≥ C L. In a window of W inputs, position s = 0, …, W − 1, let e_s bound how far the inputs
of a layer are from those of the whole run, 0 for the lowest. Then its outputs (h→, h←) are apart by

    e⁺_s = √(a_s² + b_s²),   a_s = f→(s + 1) + Σ_{j ≤ s} λ→^{s−j} p→ e_j,
                             b_s = f←(W − s) + Σ_{j ≥ s} λ←^{j−s} p← e_j,

and so on, layer by layer: the gap of output t is that of the last layer at s = k₁. Where the
sequence ends within the window, both runs start there from zero, and the gap is no larger. Of one
layer every longer window is as good.
Source: Miller & Hardt, Lemma 1, for each cell.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from rnnbounds.impl.norms.remaining import STEPS, WORK, DifferenceBounds
from rnnbounds.impl.numbers.outward import add_up, mul_up, norm_up

LONGEST = 2**17  # inputs on either side that are tried


class Around(NamedTuple):
    """A window: so many inputs before input t and so many after it, beside input t itself."""

    past: int
    future: int


@dataclass(frozen=True, eq=False)
class Fading:
    """The memory of one cell: what its output keeps of its start and gathers of its inputs.

    lam, start: f(m) ≤ start·λᵐ. push, push_lam: p and the λ of its sum, each in the norm that is
    best for it. remaining: bounds on f(m) by a comparison, where there is one.
    """

    lam: float
    start: float
    push: float
    push_lam: float
    remaining: DifferenceBounds | None = None

    def kept(self, count: int) -> Tensor:
        """At least f(m) and all later ones for m = 0, …, count: float64, rounded up."""
        known = 0 if self.remaining is None else min(STEPS, WORK // self._work)
        impulse = torch.zeros(max(count, known) + 1, dtype=torch.float64)
        impulse[0] = self.start
        bounds = decaying_sum(impulse, self.lam)
        if self.remaining is not None:
            compared = torch.tensor(self.remaining.bounds(known)[:known], dtype=torch.float64)
            from_on = torch.cat([compared, bounds[known : known + 1]]).flip(0).cummax(0).values
            bounds[: known + 1] = torch.minimum(bounds[: known + 1], from_on.flip(0))
        return bounds[: count + 1]

    @property
    def _work(self) -> int:
        layers = () if self.remaining is None else self.remaining.layers
        return max(1, sum(layer.matrices.numel() for layer in layers))

    def gathered(self, e: Tensor) -> Tensor:
        """Σ_{j ≤ s} λ^{s−j} p e_j for each s, rounded up."""
        return decaying_sum(mul_up(self.push, e), self.push_lam)


Layers = Sequence[tuple[Fading, Fading]]  # (forward, reverse), the lowest first


def gap(layers: Layers, window: Around) -> float:
    """At least ‖y_t − y_t^window‖₂ for every t; y (h→, h←) of the last layer."""
    W = window.past + window.future + 1
    e = torch.zeros(W, dtype=torch.float64)
    for l, (forward, reverse) in enumerate(layers):
        a, b = forward.kept(W)[1:], reverse.kept(W)[1:]
        if l:
            a, b = add_up(a, forward.gathered(e)), add_up(b, reverse.gathered(e.flip(0)))
        e = norm_up(torch.stack([a, b.flip(0)], dim=1))
    return float(e[window.past])


def least_window(layers: Layers, epsilon: float) -> Around | None:
    """A short window whose gap is at most ε, None if none up to LONGEST is proved.

    The least k with k inputs on either side, by bisection; then the least past p that these leave,
    and of p, p + 1, p + 3, p + 7, … that with which past and future are together the least. The
    window that is returned was itself bounded.
    """

    def within(past: int, future: int) -> bool:
        return gap(layers, Around(past, future)) <= epsilon

    k = 0
    while not within(k, k):
        if k == LONGEST:
            return None
        k = max(1, 2 * k)
    k = _least(lambda j: within(j, j), k // 2, k)
    least = _least(lambda j: within(j, k), 0, k)
    tried = [min(k, least + 2**i - 1) for i in range((k - least).bit_length() + 1)]
    found = [Around(past, _least(partial(within, past), 0, k)) for past in tried]
    return min(found, key=sum)


def _least(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The least k in low, …, high from bisection, given that it holds at high."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return high


def decaying_sum(x: Tensor, lam: float) -> Tensor:
    """Σ_{j ≤ s} λ^{s−j} x_j for each s of x ≥ 0 (W,), rounded up; by doubling, in log₂ W rounds."""
    power, reach = torch.tensor(lam, dtype=torch.float64), 1
    while reach < len(x):
        x = torch.cat([x[:reach], add_up(x[reach:], mul_up(power, x[:-reach]))])
        power, reach = mul_up(power, power), 2 * reach
    return x
