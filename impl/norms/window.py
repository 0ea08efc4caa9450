"""The least window k of a truncated model, decided without rounding.

Source: Miller & Hardt, Lemma 1.
"""

import math
from functools import lru_cache

from flint import arb, ctx

# scale·λᵏ = ε(1 − λ) for floats needs (odd part of λ)ᵏ ≤ 2¹⁰⁶, so balls of this size are exact at
# every tie.
_PRECISION = 320


@lru_cache(maxsize=1024)
def least_window(scale: float, lam: float, epsilon: float, radius: float = math.inf) -> int | None:
    """The least k ≥ 0 with min(scale/(1 − λ), radius)·λᵏ ≤ ε, for the floats as they are.

    scale ≥ 0 is the bound on ‖h‖₂ for λ = 0 (equivalence constant times drive), and radius ≥ 0 one
    for every λ; 0 ≤ λ < 1 and ε > 0. None if these are no such numbers, so that nothing is known.
    """
    if not (0 <= lam < 1 and 0 <= min(scale, radius) < math.inf):
        return None
    if math.isnan(scale) or math.isnan(radius):
        return None
    if lam == 0 or scale == 0:
        return 0 if min(scale, radius) <= epsilon else 1
    with ctx.workprec(_PRECISION):
        rate, start, target = arb(lam), arb(scale), arb(epsilon) * (1 - arb(lam))
        if (radius_start := arb(radius) * (1 - arb(lam))) < start:
            start = radius_start
            if start.is_zero():
                return 0
        k = max(0, math.ceil(float((start / target).log() / -rate.log())))
        while k > 0 and start * rate ** (k - 1) <= target:
            k -= 1
        while not start * rate**k <= target:
            k += 1
        return k
