"""Exact binomial bounds, certified: how large a share is, from how many of n draws were outside.

Of n independent draws, of which each is inside with probability q, m were seen outside. The least q
that this leaves possible with confidence 1 − α solves

    P_q(at most m outside) = Σ_{i ≤ m} C(n, i) (1 − q)ⁱ qⁿ⁻ⁱ = α,

and what is returned lies at or below it: the sum is enclosed in balls, and increases with q. If
more draws are counted as outside than are, the bound is only lower.
Source: Clopper & Pearson (1934), The use of confidence or fiducial limits.
"""

import math
from fractions import Fraction
from functools import lru_cache

from flint import arb, ctx, fmpq

from rnnbounds.impl.errors import RangeError

_PRECISION = 128
_BITS = 53  # halvings of the interval in which the bound lies
_MOST = 10**12  # draws


@lru_cache(1024)
def share_below(n: int, m: int, alpha: Fraction) -> Fraction:
    """At most the least share of draws inside, with confidence 1 − α, if m of n were outside.

    Within 2⁻⁵³ of it; 0 if all were. Raises RangeError unless 0 ≤ m ≤ n, n ≥ 1 and 0 < α < 1.
    """
    if not 0 <= m <= n or n < 1:
        raise RangeError("the draws outside", m, f"between 0 and the {n} draws, of at least one")
    _require_share("α", alpha)
    low, high = Fraction(0), Fraction(1)
    for _ in range(_BITS):
        half = (low + high) / 2
        low, high = (half, high) if _surely(n, m, half, alpha) else (low, half)
    return low


def draws_needed(share: Fraction, alpha: Fraction) -> int:
    """The least n ≥ ln α/ln p for which none of n outside leaves a share of at least p: pⁿ ≤ α.
    Raises RangeError unless p and α lie between 0 and 1, and for n beyond 10¹²."""
    _require_share("the share", share)
    _require_share("α", alpha)
    n = max(1, math.ceil(math.log(alpha) / math.log(share)) - 1)
    if n > _MOST:
        raise RangeError("the share", float(share), "such that 10¹² draws are enough")
    high = n
    while not _surely(high, 0, share, alpha):
        n, high = high + 1, 2 * high
    while n < high:  # n may be too few, high is enough
        half = (n + high) // 2
        n, high = (n, half) if _surely(half, 0, share, alpha) else (half + 1, high)
    return high


def _surely(n: int, m: int, q: Fraction, alpha: Fraction) -> bool:
    """True if P_q(at most m of n outside) ≤ α is proved."""
    if m == n:
        return False
    with ctx.workprec(_PRECISION):
        inside = arb(fmpq(q.numerator, q.denominator))
        outside = 1 - inside
        if not inside > 0:
            return True
        term = inside**n
        total, odds = term, outside / inside
        for i in range(m):
            term = term * (n - i) / (i + 1) * odds
            total += term
        return bool(total <= arb(fmpq(alpha.numerator, alpha.denominator)))


def _require_share(what: str, value: Fraction) -> None:
    if not 0 < value < 1:
        raise RangeError(what, float(value), "between 0 and 1")
