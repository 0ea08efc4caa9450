"""Fewer states by a change of scale: positive diagonals D with ‖DWD⁻¹‖₂ ≤ 1 and a small defect.

ReLU commutes with D > 0, so n + rank(I − AᵀA), A = DWD⁻¹, states are enough. With P = D² both
conditions are rational in W and P, since D(I − AᵀA)D = P − WᵀPW: it must be positive semidefinite,
and its rank counts. Both are decided exactly for every P that is returned.

The search is a heuristic. It orders the units so that W is block triangular, whence the leading
blocks of P − WᵀPW depend on the leading entries of P alone, and sets these one after another: the
entry of a unit by itself either to the least value that keeps its block semidefinite, which adds
no rank, or to a power of 4 beyond it. Units that feed one another keep one common entry.
Sources: Emami et al., Theorem 3.1; Stein, Some general theorems on iterants (1952).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from flint import fmpq, fmpq_mat

from rnnbounds.impl.errors import ShapeError
from rnnbounds.impl.numbers.spectra.exact_norm import positive_semidefinite

LARGEST = 32  # units up to which the search is made
_TRIALS = 256  # leading blocks that are looked at
_CLIMB = 64  # powers of 4 that are tried for a group of units

Order = list[list[int]]


@dataclass(frozen=True, eq=False)
class Rescaling:
    """P = D² > 0 (n,) with P − WᵀPW ⪰ 0 of the given rank: n + rank states are enough."""

    P: tuple[fmpq, ...]
    rank: int

    @property
    def D(self) -> tuple[fmpq, ...] | None:
        """The scales themselves, or None where one is irrational."""
        roots = [_root(p) for p in self.P]
        return None if None in roots else tuple(root for root in roots if root is not None)


def proved(W: fmpq_mat, P: tuple[fmpq, ...]) -> Rescaling | None:
    """The rescaling by P = D² of W (n, n) with its rank, or None unless P − WᵀPW ⪰ 0. Exact."""
    if len(P) != W.nrows() or W.nrows() != W.ncols():
        raise ShapeError("P", f"({W.nrows()},) and W (n, n)", (len(P),))
    if not all(p > 0 for p in P):
        return None
    stein = _stein(W, P)
    whole = stein.numer_denom()[0]
    rows = [[int(v) for v in row] for row in whole.tolist()]
    return Rescaling(P, int(stein.rank())) if positive_semidefinite(rows) else None


def rescale(W: fmpq_mat, usable: Callable[[Rescaling], bool] = lambda _: True) -> Rescaling | None:
    """The rescaling of least rank that the search finds among the usable ones; None if it has none.

    W (n, n) in rationals. P = I comes first, so a W with ‖W‖₂ ≤ 1 never gets a larger rank.
    """
    best = None
    for found in _candidates(W):
        if (best is None or found.rank < best.rank) and usable(found):
            best = found
    return best


def _candidates(W: fmpq_mat) -> Iterator[Rescaling]:
    n = W.nrows()
    plain = proved(W, (fmpq(1),) * n)
    if plain is not None:
        yield plain
    if n <= LARGEST:
        for entries in _Search(W).leaves({}, 0):
            found = proved(W, tuple(entries[i] for i in range(n)))
            if found is not None:
                yield found


class _Search:
    """Depth first over the blocks, least ranks first, for a number of trials."""

    def __init__(self, W: fmpq_mat) -> None:
        self.W = W
        self.order = _triangular(W)
        self.left = _TRIALS

    def leaves(self, entries: dict[int, fmpq], depth: int) -> Iterator[dict[int, fmpq]]:
        """All ways to set the blocks from ``depth`` on."""
        if depth == len(self.order):
            yield entries
            return
        block = self.order[depth]
        options = (
            self._single(entries, block[0]) if len(block) == 1 else self._group(entries, block)
        )
        for value in options:
            if self.left <= 0:
                return
            self.left -= 1
            yield from self.leaves(entries | dict.fromkeys(block, value), depth + 1)

    def _single(self, entries: dict[int, fmpq], k: int) -> list[fmpq]:
        """The least entry of a unit by itself, by a Schur complement, and one beyond it."""
        W, before = self.W, list(entries)
        gap = 1 - W[k, k] * W[k, k]
        if not gap > 0:
            return []
        column = [sum((W[i, j] * entries[i] * W[i, k] for i in before), fmpq(0)) for j in before]
        floor = sum((entries[i] * W[i, k] * W[i, k] for i in before), fmpq(0))
        if any(column):
            complement = _complement(_stein(_part(W, before), [entries[i] for i in before]), column)
            if complement is None:
                return []
            floor += complement
        least = floor / gap
        return [least, _power_of_four(2 * least)] if least > 0 else [fmpq(1)]

    def _group(self, entries: dict[int, fmpq], block: list[int]) -> list[fmpq]:
        """The least power of 4, from 1 on, that keeps the leading block semidefinite."""
        value = fmpq(1)
        for _ in range(_CLIMB):
            tried = entries | dict.fromkeys(block, value)
            if proved(_part(self.W, list(tried)), tuple(tried.values())) is not None:
                return [value, 4 * value]
            value *= 4
        return []


def _stein(W: fmpq_mat, P: tuple[fmpq, ...] | list[fmpq]) -> fmpq_mat:
    """P − WᵀPW."""
    n = len(P)
    weight = fmpq_mat([[P[i] if i == j else fmpq(0) for j in range(n)] for i in range(n)])
    return weight - W.transpose() * weight * W


def _complement(S: fmpq_mat, v: list[fmpq]) -> fmpq | None:
    """vᵀS⁺v for a symmetric S, or None where v is not in its range."""
    n = len(v)
    reduced, rank = fmpq_mat([[*row, v[i]] for i, row in enumerate(S.tolist())]).rref()
    total = fmpq(0)
    for i in range(rank):
        pivot = next(j for j in range(n + 1) if reduced[i, j] != 0)
        if pivot == n:
            return None
        total += v[pivot] * reduced[i, n]
    return total


def _part(W: fmpq_mat, units: list[int]) -> fmpq_mat:
    return fmpq_mat([[W[i, j] for j in units] for i in units])


def _triangular(W: fmpq_mat) -> Order:
    """Groups of units that feed one another, each before the groups that it reads."""
    n = W.nrows()
    reads = [{i} | {j for j in range(n) if W[i, j] != 0} for i in range(n)]
    for k in range(n):
        for i in range(n):
            if k in reads[i]:
                reads[i] |= reads[k]
    groups: dict[int, list[int]] = {}
    for i in range(n):
        groups.setdefault(min(j for j in reads[i] if i in reads[j]), []).append(i)
    return sorted(groups.values(), key=lambda group: -len(reads[group[0]]))


def _power_of_four(x: fmpq) -> fmpq:
    """The least 4ᵉ that is at least x > 0."""
    value = fmpq(4) ** math.ceil((int(x.p).bit_length() - int(x.q).bit_length() - 1) / 2)
    while value < x:
        value *= 4
    return value


def _root(x: fmpq) -> fmpq | None:
    p, q = math.isqrt(int(x.p)), math.isqrt(int(x.q))
    return fmpq(p, q) if p * p == int(x.p) and q * q == int(x.q) else None
