"""Rigorous values of the special functions, in real balls and, by these, in float64 intervals.

The roots of u − ln u = L are computed by Newton's method and then proved: a number is a bound on
the root once the ball of u − ln u shows on which side of L it is.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from flint import arb, ctx

from rnnbounds.theory.numbers.interval import Interval

NEWTON_STEPS = 12  # from where it starts it converges quadratically
PRECISION = 128


def ball_step_product(steps: arb, rate: arb) -> arb:
    """Π_{t=1}^N (1 + c/t) = (1 + c)(2 + c)…(N + c)/N!; nan unless N is natural and c ≥ 0."""
    count = steps.unique_fmpz() if steps.is_exact() else None
    if count is None or count < 0 or not rate >= 0:
        return arb("nan")
    return (1 + rate).rising(steps) / (steps + 1).gamma()


def ball_lambert_root(level: arb) -> arb:
    """The root u ≥ 1 of u − ln u = L, between those of the ball's ends; nan where L reaches below
    1."""
    low, high = level.lower(), level.upper()
    if not (level.is_finite() and low >= 1):
        return arb("nan")
    with ctx.workprec(2 * ctx.prec):  # near L = 1 half of the digits cancel
        return _proved_root(low).union(_proved_root(high))


def step_product(steps: Interval, rate: Interval) -> Interval:
    """Π_{t=1}^N (1 + c/t), broadcast; [nan, nan] unless N is one natural number and c ≥ 0."""
    return _by_balls(ball_step_product, steps, rate)


def lambert_root(level: Interval) -> Interval:
    """The root u ≥ 1 of u − ln u = L; [nan, nan] where L reaches below 1."""
    return _by_balls(ball_lambert_root, level)


def enclose_ball(ball: arb) -> tuple[float, float]:
    """Floats around the ball, or the one that it is."""
    with ctx.workprec(64):
        lower, upper = float(ball.lower()), float(ball.upper())
    if ball.is_exact() and ball == lower:
        return lower, lower
    return float(np.nextafter(lower, -np.inf)), float(np.nextafter(upper, np.inf))


def _by_balls(function: Callable[..., arb], *intervals: Interval) -> Interval:
    """The float64 enclosure of each element's ball; none of the functions is negative."""
    ends = np.broadcast_arrays(*(end for interval in intervals for end in interval.ends))
    found = np.empty((2, *ends[0].shape))
    for place in np.ndindex(ends[0].shape):
        found[(slice(None), *place)] = _enclosed(function, *(float(end[place]) for end in ends))
    return Interval(np.maximum(found[0], 0.0), found[1])


@lru_cache(maxsize=65536)
def _enclosed(function: Callable[..., arb], *ends: float) -> tuple[float, float]:
    """Of arguments between the ends, which are given in pairs."""
    if not np.isfinite(ends).all():
        return np.nan, np.nan
    with ctx.workprec(PRECISION):
        pairs = zip(ends[::2], ends[1::2], strict=True)
        return enclose_ball(
            function(*(arb(a) if a == b else arb(a).union(arb(b)) for a, b in pairs))
        )


def _proved_root(level: arb) -> arb:
    """The root above 1: a sign change of u − ln u − L there.

    Newton's iterates are exact numbers of which nothing is assumed.
    """
    if level == 1:
        return arb(1)
    root = (1 + (2 * (level - 1)).sqrt() + (level - 1)).mid()
    for _ in range(ctx.prec.bit_length() + NEWTON_STEPS):
        next_root = (root * (level + root.log() - 1) / (root - 1)).mid()
        root = next_root if next_root.is_finite() and next_root > 0 else root
    for bits in range(ctx.prec - 2, 1, -2):
        left, right = (root * (1 + sign * arb(2) ** -bits) for sign in (-1, 1))
        if left > 1 and (left - left.log() - level) * (right - right.log() - level) < 0:
            return left.union(right)
    return arb("nan")
