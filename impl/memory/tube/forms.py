"""Polynomials without a constant in variables |α_i| ≤ 1, as arrays of coefficients by degree.

A form of degree d in N variables holds one number for each of the C(N + d − 1, d) monomials, in the
order of `itertools.combinations_with_replacement`.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations_with_replacement
from math import comb
from typing import NamedTuple

import torch
from torch import Tensor

from rnnbounds.impl.numbers.outward import UNIT, gamma

_UP = 1 + 64 * UNIT


@lru_cache(maxsize=32)
def indices(N: int, d: int, e: int) -> Tensor:
    """Indices, among the monomials of degree d + e in N variables, of the product of the i-th of
    degree d and the j-th of degree e: (n_d, n_e)."""
    first, second, both = (
        list(combinations_with_replacement(range(N), degree)) for degree in (d, e, d + e)
    )
    at = {monomial: i for i, monomial in enumerate(both)}
    return torch.tensor([[at[tuple(sorted(a + b))] for b in second] for a in first])


def multiplied(a: Tensor, b: Tensor, N: int, d: int, e: int) -> Tensor:
    """The product of forms of degrees d and e: (M, m, n_d) and (M, m, n_e) to (M, m, n_(d+e))."""
    if d > e:
        a, b, d, e = b, a, e, d
    found = a.new_zeros(*a.shape[:-1], comb(N + d + e - 1, d + e))
    for i, at in enumerate(indices(N, d, e)):  # of one i, every j has an index of its own
        found[..., at] += a[..., i, None] * b
    return found


def size_of(a: Tensor) -> Tensor:
    """At least Σ|a_j|, which is at least |a(α)| for |α_i| ≤ 1."""
    return a.abs().sum(-1) * (1 + 2 * gamma(a.shape[-1] + 4))


class Forms(NamedTuple):
    """Forms of degrees 1 … p, (M, m, n_d) each, and a bound (M, m) on terms of higher degree."""

    parts: tuple[Tensor, ...]
    cut: Tensor


def product(a: Sequence[Tensor], b: Sequence[Tensor], N: int) -> Forms:
    """The product of two polynomials up to degree p."""
    p, ours, theirs = len(a), [size_of(x) for x in a], [size_of(y) for y in b]
    found, cut = [torch.zeros_like(x) for x in a], torch.zeros_like(ours[0])
    for d, x in enumerate(a, 1):
        for e, y in enumerate(b, 1):
            if d + e > p:
                cut = cut + ours[d - 1] * theirs[e - 1]
            elif bool(ours[d - 1].any()) and bool(theirs[e - 1].any()):
                found[d + e - 1] += multiplied(x, y, N, d, e)
    return Forms(tuple(found), cut * _UP)
