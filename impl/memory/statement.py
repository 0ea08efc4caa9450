"""Distribution-free statement on all windows drawn like those seen.

    With confidence 1 − α: for each ε, at least a share q of the windows has ‖h_T − h_T^k‖₂ ≤ ε.

The windows are assumed to be independent draws of one distribution, which may be unknown. k is
chosen on the first half of them, as the least from which on all windows of that half are within
ε; it is then a constant for the second half, of which m of n are not within ε: independent
draws with one probability of being within it, whatever k is. So Clopper and Pearson's bound holds
given the first half, hence also without; for E values of ε at once each has α/E, by the union
bound. A window counts as within ε if that is certain of the model in real arithmetic: one that is
not decided counts as outside, which only lowers q.
Sources: Clopper & Pearson (1934); Bonferroni.

Exact binomial bounds, certified: how large a share is, from how many of n draws were outside.

Of n independent draws, of which each is inside with probability q, m were seen outside. The least q
that this leaves possible with confidence 1 − α solves

    P_q(at most m outside) = Σ_{i ≤ m} C(n, i) (1 − q)ⁱ qⁿ⁻ⁱ = α,

and what is returned lies at or below it: the sum is enclosed in balls, and increases with q. If
more draws are counted as outside than are, the bound is only lower.
Source: Clopper & Pearson (1934), The use of confidence or fiducial limits.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from flint import arb, ctx, fmpq
from msgspec import Struct
from msgspec.structs import asdict
from torch import Tensor

from rnnbounds.impl.errors import InputError, RangeError
from rnnbounds.impl.memory.exact import Decided
from rnnbounds.impl.reading.data.recordings import Windows

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


SHARE = 0.99  # for which the windows that it takes are told, if no share is asked for
SHOWN = 0.8  # of a window's inputs: beyond, the gap nears 0 by construction
PRESUPPOSED = "the windows are independent draws of one distribution"
CUT = "; windows cut from one recording are so only as far as it forgets"
FOUND = "; shared inputs are found only if many windows share runs of them or one is repeated"


def presupposed(held: Windows) -> str:
    """The condition under which the statement on windows that are cut like these holds."""
    return PRESUPPOSED + (CUT if held.sequences < len(held) else "") + FOUND


class Line(Struct, frozen=True):
    """One ε: of the held-out windows so many count as beyond it at k, so that at least `share` of
    all are within it; `undecided` of them were left open within the limits of the work. k None
    where the windows that it is chosen on cannot show one."""

    eps: float
    k: int | None
    beyond: int | None
    share: float | None
    undecided: int = 0


@dataclass(frozen=True)
class Statement:
    """Statement on all lines jointly, at that confidence. chosen, held: how many windows k is
    chosen on, and how many test it. needed: test windows, all within ε, that a share of `aim`
    takes."""

    confidence: float
    chosen: int
    held: int
    length: int
    lines: tuple[Line, ...]
    aim: float
    needed: int
    presupposed: str = PRESUPPOSED

    @property
    def reached(self) -> bool:
        """True if every line states a share of at least the aim."""
        return all(line.share is not None and line.share >= self.aim for line in self.lines)

    def to_dict(self) -> dict[str, Any]:
        """The statement as plain JSON data."""
        return {
            "confidence": self.confidence,
            "presupposes": self.presupposed,
            "windows": {"chosen_on": self.chosen, "held_out": self.held, "length": self.length},
            "lines": [asdict(line) for line in self.lines],
            "share": self.aim,
            "held_out_needed": self.needed,
        }


def least_window(ks: Sequence[int], gaps: Tensor, epsilon: float) -> int | None:
    """The least k of the grid from which on all gaps (M, len(ks)) are within ε; None if it is not
    for windows of T inputs to show: at k = T each gap is 0, whatever the model is."""
    within = (gaps <= epsilon).all(0).tolist()
    beyond = max((index for index, fine in enumerate(within) if not fine), default=-1)
    k = ks[min(beyond + 1, len(ks) - 1)]
    return k if k <= SHOWN * ks[-1] else None


def from_k(k: int | None, T: int, recorded: int) -> str:
    """From which k on gaps are within ε; for None the window to take of the recorded inputs."""
    if k is not None:
        return f"from k = {k} on"
    longer = f"take --window {min(4 * T, recorded)}" if recorded > T else "record longer sequences"
    return f"at a k longer than windows of {T} inputs can show; {longer}"


def exact(value: float, what: str) -> Fraction:
    """A decimal as it was typed; raises RangeError unless it lies between 0 and 1."""
    if not 0 < value < 1:
        raise RangeError(what, value, "between 0 and 1")
    return Fraction(repr(float(value)))


def require_enough(
    windows: int, lines: int, confidence: float, share: float | None
) -> tuple[Fraction, int]:
    """α of each line, and how many held-out windows the share takes; raises InputError if it was
    asked for and there are fewer."""
    alpha = (1 - exact(confidence, "the confidence")) / lines
    aim = SHARE if share is None else share
    needed = draws_needed(exact(aim, "the share"), alpha)
    held = windows - windows // 2
    if share is not None and held < needed:
        raise InputError(
            f"{held} held-out windows are too few for confidence {float(confidence)!r} in a share "
            f"of {float(share)!r}: it takes {needed} with none beyond ε, so {2 * needed} windows "
            f"in all; record more, or lower the confidence or the share"
        )
    return alpha, needed


def stated(epsilon: float, k: int | None, held: Decided | None, alpha: Fraction) -> Line:
    """The line of one ε, from which held-out windows are within it at k."""
    if k is None or held is None:
        return Line(epsilon, None, None, None)
    count = len(held.inside)
    beyond = count - int(held.inside.sum())
    share = float(share_below(count, beyond, alpha))
    return Line(epsilon, k, beyond, share, int(held.undecided.sum()))
