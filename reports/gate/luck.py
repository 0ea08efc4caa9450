"""Exact tests of the null hypothesis that two runs differ by their seeds alone.

Two runs of one code and profile under two seeds are exchangeable, so the distribution of each
count is known and no constant is fitted.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import comb, exp, lgamma

Pair = tuple[float, float]


def tail_tests(
    old: Sequence[int], new: Sequence[int], copies: int = 1
) -> Iterator[tuple[int, float]]:
    """For each bin of which old examples lie above and below: the bin, and how likely it is that
    so few of the new ones lie above it.

    Fisher's exact test: of all examples of both runs together, those above are dealt out at
    random. Both sequences count examples by bin, in the same bins. As many as `alike` of them may
    be copies of one another, with changes: so many count as one, rounded to what luck explains.
    """
    above = [list(accumulate(reversed(counts)))[-2::-1] for counts in (old, new)]
    for index, (old_tail, new_tail) in enumerate(zip(*above, strict=True)):
        before, after = old_tail // copies, -(-new_tail // copies)
        totals = sum(old) // copies, max(after, sum(new) // copies)
        if 0 < before + after < sum(totals):
            yield index, hypergeometric_cdf(totals[0], totals[1], before + after, after)


def hypergeometric_cdf(old: int, new: int, marked: int, largest: int) -> float:
    """How likely it is that at most so many of the marked ones are among the new, where all of old
    and new are dealt out at random."""
    k = min(largest, new, marked)
    smallest = max(0, marked - old)
    if k < smallest:
        return 0.0
    log_weight = (
        _log_binomial(new, k) + _log_binomial(old, marked - k) - _log_binomial(old + new, marked)
    )
    term = total = 1.0
    while k > smallest and term > 1e-18 * total:
        term *= k * (old - marked + k) / ((new - k + 1) * (marked - k + 1))
        total += term
        k -= 1
    return min(1.0, exp(log_weight) * total)


def _log_binomial(population: int, chosen: int) -> float:
    """The logarithm of how many choices there are."""
    return lgamma(population + 1) - lgamma(chosen + 1) - lgamma(population - chosen + 1)


def sign_test(pairs: Sequence[Pair], share: float) -> tuple[int, int, float]:
    """How many of the ratios (old, new) moved by more than that share of the greater one, how many
    of them fell, and how likely it is that so many did.

    The sign test: each that moved is as likely to have risen as to have fallen.
    """
    moved = [(old, new) for old, new in pairs if min(old, new) < (1 - share) * max(old, new)]
    decreased = sum(new < old for old, new in moved)
    count = sum(comb(len(moved), k) for k in range(decreased, len(moved) + 1))
    return len(moved), decreased, count / 2 ** len(moved)
