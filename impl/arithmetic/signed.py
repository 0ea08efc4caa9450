"""Euclidean norms of blocks of units, which see the signs of the weights.

How units u move with the blocks s_b of a state, two runs apart, is kept as a sum of terms

    Δu = Σ_k D_k A_k Δy_k,    |D_k| ≤ diag(rows_k),    ‖Δy_k‖₂ ≤ Σ_b reach_kb ‖Δs_b‖₂,

with the weights A_k as they are, so that ‖Δu‖₂ ≤ Σ_kb ‖diag(rows_k) A_k‖₂ reach_kb ‖Δs_b‖₂. A
comparison of absolute values has ‖|A_k|‖₂ there. Gates that move with one and the same Δy add up to
less: by Cauchy and Schwarz, unit by unit with t = Σ_k rows_k, to at most the norm of all
diag(√(rows_k t)) A_k, one below another. All is rounded up. Source: Miller & Hardt, section 4, for
an LSTM.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch.nn.functional import pad

from rnnbounds.impl.numbers.outward import UNIT, add_up, mul_up, norm_up, sqrt_up, sum_up, underflow
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm


@dataclass(frozen=True, eq=False)
class Moved:
    """Units y that move with those of which they are a sum of terms."""

    terms: Sequence["Term"]

    @cached_property
    def reach(self) -> Tensor:
        """At least ‖Δy‖₂/‖Δs_b‖₂ for each block, (B, blocks)."""
        return norms(self.terms)


@dataclass(frozen=True, eq=False)
class Block:
    """One block of the state itself, `reach` (B, blocks) being 1 there and 0 elsewhere."""

    reach: Tensor


@dataclass(frozen=True, eq=False)
class Term:
    """D A Δy, |D| ≤ diag(rows): rows (B, m), A (B, m, l), or None for units of y themselves."""

    rows: Tensor
    A: Tensor | None
    y: Moved | Block

    @property
    def norm(self) -> Tensor:
        """At least ‖D A‖₂, (B,)."""
        largest = self.rows.amax(1)
        if self.A is None:
            return largest
        plain = mul_up(largest, certified_norm(self.A))
        return torch.minimum(plain, scaled_norm(self.rows, self.A))

    def scaled(self, rows: Tensor) -> "Term":
        """The term times a diagonal that is at most that, 0 where the term is."""
        return Term(torch.where(self.rows == 0, 0.0, mul_up(rows, self.rows)), self.A, self.y)

    def part(self, start: int, stop: int) -> "Term":
        """Some of its units."""
        A = None if self.A is None else self.A[:, start:stop]
        return Term(self.rows[:, start:stop], A, self.y)

    def among(self, before: int, after: int) -> "Term":
        """Its units between others, which do not move with it."""
        A = None if self.A is None else pad(self.A, (0, 0, before, after))
        return Term(pad(self.rows, (before, after)), A, self.y)


Terms = tuple[Term, ...]


def blocks_of(like: Tensor, blocks: int) -> Terms:
    """The units of a state (B, N), in blocks of one size."""
    places = torch.eye(blocks, dtype=like.dtype, device=like.device)
    rows = places.repeat_interleave(like.shape[1] // blocks, dim=1)
    wide = (part[:, None].expand(-1, len(like), -1) for part in (rows, places))
    return tuple(Term(one, None, Block(reach)) for one, reach in zip(*wide, strict=True))


def weighed(W: Tensor, terms: Terms) -> Terms:
    """W y for y the sum of the terms."""
    return (Term(torch.ones_like(W[:, :, 0]), W, Moved(terms)),) if terms else ()


def scaled(rows: Tensor, terms: Terms) -> Terms:
    """The terms times a diagonal that is at most `rows` (B, m)."""
    return tuple(term.scaled(rows) for term in terms)


def part(terms: Terms, start: int, stop: int) -> Terms:
    """Some units, without the terms that are 0 there."""
    found = (term.part(start, stop) for term in terms)
    return tuple(term for term in found if bool((term.rows != 0).any()))


def joined(parts: Sequence[Terms], sizes: Sequence[int]) -> Terms:
    """All units of the parts, one after another."""
    found, start, total = [], 0, sum(sizes)
    for terms, size in zip(parts, sizes, strict=True):
        found += [term.among(start, total - start - size) for term in terms]
        start += size
    return tuple(found)


def norms(terms: Sequence[Term]) -> Tensor:
    """At least ‖Δu‖₂/‖Δs_b‖₂ for each block of the state, (B, blocks); there is a term."""
    alike: dict[int, list[Term]] = {}
    for term in terms:
        alike.setdefault(id(term.y), []).append(term)
    found = []
    for several in alike.values():
        reach = several[0].y.reach
        found.append(torch.where(reach == 0, 0.0, mul_up(_together(several)[:, None], reach)))
    return sum_up(torch.stack(found, dim=-1))


def _together(terms: Sequence[Term]) -> Tensor:
    """At least ‖Σ_k D_k A_k‖₂ of terms of one and the same Δy, (B,)."""
    apart = sum_up(torch.stack([term.norm for term in terms], dim=-1))
    weights = [term.A for term in terms if term.A is not None]
    if not 1 < len(weights) == len(terms):
        return apart
    total = sum_up(torch.stack([term.rows for term in terms], dim=-1))
    rows = torch.cat([sqrt_up(mul_up(term.rows, total)) for term in terms], dim=1)
    return torch.minimum(apart, scaled_norm(rows, torch.cat(weights, dim=1)))


def scaled_norm(d: Tensor, W: Tensor) -> Tensor:
    """At least ‖diag(d) W‖₂ for d ≥ 0 (B, m), with the rounding of the product: W (B, m, n)."""
    product = d[:, :, None] * W.detach()
    lost = add_up(mul_up(2 * UNIT, norm_up(product.flatten(1))), underflow(d.amax(1)))
    return add_up(certified_norm(product), lost)
