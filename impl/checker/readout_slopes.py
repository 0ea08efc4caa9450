"""Slopes of the stages of a readout, everywhere or on a ball ‖h‖₂ ≤ B, in balls.

The first linear layer takes the ball to c_i ± ‖C_i‖₂B, others and activations their intervals.
Before γ the Jacobian of a normalisation is symmetric between 0 and I/s, where s² = ‖u‖₂²/n + e for
u = v − mean(v), or u = v; and |u_i|/s ≤ √n.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from flint import arb, ctx

from rnnbounds.impl.checker.cells.activations import BALL_ACTIVATIONS, BallActivation
from rnnbounds.impl.checker.definite import exact, norm
from rnnbounds.impl.format.readout import NORMALISATION
from rnnbounds.impl.format.tensors import Array

_PRECISION = 256
_KINKED = (BALL_ACTIVATIONS["rnn-relu"], BALL_ACTIVATIONS["rnn-leaky-relu"])

Interval: TypeAlias = tuple[arb, arb]
Ranges: TypeAlias = Sequence[tuple[Sequence[float], Sequence[float]]]
Stages: TypeAlias = Sequence[tuple[str, Array | None]]


def activation_of(name: str) -> BallActivation:
    """The activation of readouts of that name."""
    return BALL_ACTIVATIONS["linear" if name == "identity" else f"rnn-{name}"]


def normalisation_of(name: str, weight: Array | None) -> tuple[str, float, str] | None:
    """Kind, e and owner of a normalisation, None for another stage."""
    known = None if weight is not None and weight.ndim == 2 else NORMALISATION.match(name)
    return None if known is None else (known[1], float(known[2]), known[3] or "")


def slopes_within(
    stages: Stages, tensors: Mapping[str, Array], ranges: Ranges, radius: float
) -> bool:
    """True if the slopes of each stage on ‖h‖₂ ≤ radius, of all units or of each, are proved to lie
    in its range (a, b), where `tensors` are all that the readout has."""
    with ctx.workprec(_PRECISION):
        walk = _Walk(
            tensors, radius, [len(w[0]) for _, w in stages if w is not None and w.ndim == 2]
        )
        left = iter(ranges)
        for name, weight in stages:
            if weight is not None and weight.ndim == 2:
                walk.linear(name, weight)
            elif not walk.holds(name, weight, next(left)):
                return False
        return walk.unread == set()


class _Walk:
    """The intervals of a readout's units after some stages, None where nothing is known."""

    def __init__(self, tensors: Mapping[str, Array], radius: float, widths: Sequence[int]) -> None:
        self.tensors, self.unread, self.radius = tensors, set(tensors), arb(radius)
        known = math.isfinite(radius)
        self.v: list[Interval] | None = [(-self.radius, self.radius)] * widths[0] if known else None
        self.first = True

    def vector(self, name: str) -> list[arb] | None:
        """The entries of a tensor, None if there is none."""
        self.unread.discard(name)
        found = self.tensors.get(name)
        return None if found is None else [arb(exact(value)) for value in found.tolist()]

    def linear(self, name: str, weight: Array) -> None:
        """C v + c."""
        self.unread.discard(name)
        bias = (
            self.vector(name.removesuffix("weight") + "bias") if name.endswith("weight") else None
        )
        if self.v is None:
            return
        found = []
        for i, row in enumerate([[arb(exact(a)) for a in row] for row in weight.tolist()]):
            mean, radius = arb(0), norm(row) * self.radius
            if not self.first:
                mean = sum((a * (l + h) / 2 for a, (l, h) in zip(row, self.v, strict=True)), mean)
                sizes = (abs(a) * (h - l) / 2 for a, (l, h) in zip(row, self.v, strict=True))
                radius = sum(sizes, arb(0))
            mean += arb(0) if bias is None else bias[i]
            found.append((mean - radius, mean + radius))
        self.v, self.first = found, False

    def holds(self, name: str, weight: Array | None, stated: tuple[Sequence[float], ...]) -> bool:
        """True if the slopes of a stage are proved, which moves on to its values."""
        self.first = False
        low, high = ([arb(exact(end)) for end in ends] for ends in stated)
        if (known := normalisation_of(name, weight)) is not None:
            return len(low) == 1 and self._normalised(known, low[0], high[0])
        rho = activation_of(name)
        if self.v is None:
            return all(bool(a <= rho.least) for a in low) and all(
                bool(rho.slope <= b) for b in high
            )
        count = len(self.v)
        if len(low) not in (1, count):
            return False
        lows, highs = (ends * (count // len(ends)) for ends in (low, high))
        inside = all(
            bool(a <= least_slope(rho, *one)) and bool(rho.steepest(*one) <= b)
            for a, b, one in zip(lows, highs, self.v, strict=True)
        )
        self.v = [rho.image(*one) for one in self.v]
        return inside

    def _normalised(self, known: tuple[str, float, str], low: arb, high: arb) -> bool:
        kind, e, owner = known
        gamma, beta = (
            self.vector(f"{owner}.{end}") if owner else None for end in ("weight", "bias")
        )
        square = arb(exact(e))
        if self.v is not None:
            n, u = len(self.v), self.v
            if kind == "layer-norm":
                total = sum((l for l, _ in u), arb(0)), sum((h for _, h in u), arb(0))
                u = [(l - total[1] / n, h - total[0] / n) for l, h in u]
            least = [l if l > 0 else -h if h < 0 else arb(0) for l, h in u]
            square += sum((a * a for a in least), arb(0)) / n
            sizes = [abs(l).max(abs(h)) / square.sqrt() for l, h in u]
            root = arb(n).sqrt()
            sizes = [one if one <= root else root for one in sizes]
            sizes = [abs(g) * one for g, one in zip(gamma or [arb(1)] * n, sizes, strict=True)]
            middles = beta or [arb(0)] * n
            self.v = [(c - one, c + one) for c, one in zip(middles, sizes, strict=True)]
        return bool(low <= 0) and bool(high > 0) and bool(high * high * square >= 1)


def least_slope(rho: BallActivation, low: arb, high: arb) -> arb:
    """At most ρ′ between the two, of a ρ′ that is monotone, or on either side of 0."""
    if rho.slope_at is None or rho.hills is not None or rho.turns is not None:
        return rho.least
    if rho in _KINKED:
        return rho.slope_at(low) if low > 0 else rho.least
    if rho.rises:
        return rho.slope_at(low)
    a, b = rho.slope_at(low), rho.slope_at(high)
    return a if a <= b else b if b <= a else a.min(b)
