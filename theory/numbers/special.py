"""Rigorous values of the special functions, in float64 intervals and in real balls.

The roots of u − ln u = L are computed by Newton's method and then proved: a number is a bound on
the root once outward-rounded arithmetic shows on which side of L it puts u − ln u.
"""

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from rnnbounds.theory.numbers import interval
from rnnbounds.theory.numbers.interval import Interval, exact
from rnnbounds.theory.numbers.rounded import Floats

MAX_FACTORS = 4_096  # of a product that is multiplied out in floats
NEWTON_STEPS = 12  # from where it starts it converges quadratically
MARGINS = 0.25 ** np.arange(2.0, 27.0)


def step_product(steps: Interval, rate: Interval) -> Interval:
    """Π_{t=1}^N (1 + c/t), broadcast; [nan, nan] unless N is one natural number and c ≥ 0."""
    count, low, high = np.broadcast_arrays(steps.lo, rate.lo, rate.hi)
    is_natural = (steps.lo == steps.hi) & (count >= 0) & (count == np.floor(count)) & (low >= 0)
    rate, count = Interval(low, high), np.where(is_natural, count, np.nan)
    product = exact(np.where(is_natural, 1.0, np.nan))
    for t in range(1, int(np.max(count, initial=0, where=count <= MAX_FACTORS)) + 1):
        next_product = product * (rate + float(t)) / float(t)
        product = _select(t <= count, next_product, product)
    lo, hi = product.lo.copy(), product.hi.copy()
    for at in map(tuple, np.argwhere(count > MAX_FACTORS)):
        lo[at], hi[at] = (
            _large_product(count[at], low[at])[0],
            _large_product(count[at], high[at])[1],
        )
    return Interval(lo, hi)


def lambert_root(level: Interval) -> Interval:
    """The root u ≥ 1 of u − ln u = L; [nan, nan] where L reaches below 1."""
    at_lo, at_hi = _valid_ends(level)
    surplus = exact(at_lo) - 1.0, exact(at_hi) - 1.0
    upper_starts = [1.0 + interval.sqrt(2.0 * s) + s for s in surplus]
    lower_candidates = np.maximum(_candidates(_newton_root(at_lo, upper_starts[0].lo), -1.0), 1.0)
    low = np.where(_level_of(lower_candidates).hi <= at_lo, lower_candidates, 1.0).max(axis=0)
    low = np.fmax(np.maximum(at_lo, 1.0), low)
    upper_candidates = _candidates(_newton_root(at_hi, upper_starts[1].hi), 1.0)
    is_proved = (upper_candidates >= 1) & (_level_of(upper_candidates).lo >= at_hi)
    high = np.fmin(upper_starts[1].hi, np.where(is_proved, upper_candidates, np.inf).min(axis=0))
    return Interval(np.where(np.isnan(at_lo), np.nan, low), high)


def principal_root(level: Interval) -> Interval:
    """The root 0 < u ≤ 1 of u − ln u = L; [nan, nan] where L reaches below 1."""
    at_lo, at_hi = _valid_ends(level)
    low, high = interval.exp(-exact(at_hi)).lo, interval.exp(1.0 - exact(at_lo)).hi
    lower_candidates = _candidates(_newton_root(at_hi, _start_left(at_hi)), -1.0)
    is_proved = (
        (lower_candidates > 0) & (lower_candidates <= 1) & (_level_of(lower_candidates).lo >= at_hi)
    )
    low = np.fmax(low, np.where(is_proved, lower_candidates, 0.0).max(axis=0))
    upper_candidates = np.minimum(_candidates(_newton_root(at_lo, _start_left(at_lo)), 1.0), 1.0)
    is_proved = (upper_candidates > 0) & (_level_of(upper_candidates).hi <= at_lo)
    high = np.fmin(high, np.where(is_proved, upper_candidates, 1.0).min(axis=0))
    return Interval(low, np.where(np.isnan(at_lo), np.nan, np.minimum(high, 1.0)))


def _select(condition: NDArray[np.bool_], x: Interval, y: Interval) -> Interval:
    return Interval(np.where(condition, x.lo, y.lo), np.where(condition, x.hi, y.hi))


def _large_product(count: float, rate: float) -> tuple[float, float]:
    """Float64 bounds on the product for a large N, by balls."""
    with ctx.workprec(128):
        value = ball_step_product(arb(float(count)), arb(float(rate)))
        ends = float(value.lower()), float(value.upper())
    return float(np.nextafter(ends[0], -np.inf)), float(np.nextafter(ends[1], np.inf))


def _valid_ends(level: Interval) -> tuple[Floats, Floats]:
    """Ends of L; NaN where L reaches below 1, where no root exists."""
    return np.where(level.lo >= 1, level.lo, np.nan), np.where(level.lo >= 1, level.hi, np.nan)


def _level_of(root: Floats) -> Interval:
    """Interval of u − ln u."""
    return exact(root) - interval.log(exact(root))


def _start_left(level: Floats) -> Floats:
    """A start left of the principal root: u − ln u exceeds L at e^{−L} and at 1 − √(2(L − 1))."""
    with np.errstate(all="ignore"):
        return np.fmax(np.exp(-level), 1.0 - np.sqrt(2.0 * (level - 1.0)))


def _newton_root(level: Floats, start: Floats) -> Floats:
    """Newton's method for the convex u − ln u − L, from where it is not negative."""
    root = start
    with np.errstate(all="ignore"):
        for _ in range(NEWTON_STEPS):
            next_root = root * (level + np.log(root) - 1.0) / (root - 1.0)
            root = np.where(np.isfinite(next_root) & (next_root > 0), next_root, root)
    return root


def _candidates(root: Floats, side: float) -> Floats:
    """Numbers ever closer to the computed root, and then the root itself, along a first axis."""
    margins = np.append(side * MARGINS, 0.0).reshape(-1, *(1,) * root.ndim)
    with np.errstate(all="ignore"):
        return np.asarray(root * (1.0 + margins))


def ball_step_product(steps: arb, rate: arb) -> arb:
    """Π_{t=1}^N (1 + c/t) = (1 + c)(2 + c)…(N + c)/N!; nan unless N is natural and c ≥ 0."""
    count = steps.unique_fmpz() if steps.is_exact() else None
    if count is None or count < 0 or not rate >= 0:
        return arb("nan")
    return (1 + rate).rising(steps) / (steps + 1).gamma()


def ball_lambert_root(level: arb) -> arb:
    """The root u ≥ 1 of u − ln u = L; nan where L reaches below 1."""
    return _root_of_ball(level, 1)


def ball_principal_root(level: arb) -> arb:
    """The root 0 < u ≤ 1 of u − ln u = L; nan where L reaches below 1."""
    return _root_of_ball(level, -1)


def _root_of_ball(level: arb, side: int) -> arb:
    """The roots of all L in the ball lie between those of its ends."""
    low, high = level.lower(), level.upper()
    if not (level.is_finite() and low >= 1):
        return arb("nan")
    with ctx.workprec(2 * ctx.prec):  # near L = 1 half of the digits cancel
        return _proved_root(low, side).union(_proved_root(high, side))


def _proved_root(level: arb, side: int) -> arb:
    """The root on one side of 1: a sign change of u − ln u − L there.

    Newton's iterates are exact numbers of which nothing is assumed.
    """
    if level == 1:
        return arb(1)
    distance = (2 * (level - 1)).sqrt()
    root = (1 + distance + (level - 1) if side > 0 else (-level).exp().max(1 - distance)).mid()
    for _ in range(ctx.prec.bit_length() + NEWTON_STEPS):
        next_root = (root * (level + root.log() - 1) / (root - 1)).mid()
        root = next_root if next_root.is_finite() and next_root > 0 else root
    for bits in range(ctx.prec - 2, 1, -2):
        left, right = (root * (1 + sign * arb(2) ** -bits) for sign in (-1, 1))
        on_its_side = left > 1 if side > 0 else right < 1 and left > 0
        if on_its_side and (left - left.log() - level) * (right - right.log() - level) < 0:
            return left.union(right)
    return arb("nan")
