"""Euclidean norms of blocks of units, which see the signs of the weights.

How units u move with the blocks s_b of a state, two runs apart, is kept as a sum of terms

    Δu = Σ_k D_k A_k Δy_k,    |D_k| ≤ diag(rows_k),    ‖Δy_k‖₂ ≤ Σ_b reach_kb ‖Δs_b‖₂,

with the weights A_k as they are, so that ‖Δu‖₂ ≤ Σ_kb ‖diag(rows_k) A_k‖₂ reach_kb ‖Δs_b‖₂. A
comparison of absolute values has ‖|A_k|‖₂ there. Gates that move with one and the same Δy add up to
less: by Cauchy and Schwarz, unit by unit with t = Σ_k rows_k, to at most the norm of all
diag(√(rows_k t)) A_k, one below another. All is rounded up, or plain, as `up` has it.
Source: Miller & Hardt, section 4, for an LSTM.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor
from torch.nn.functional import pad

from rnnbounds.impl.numbers.operations import Operations


@dataclass(frozen=True, eq=False)
class TermSum:
    """Units y that move with those of which they are a sum of terms."""

    terms: Sequence["Term"]

    @cached_property
    def reach(self) -> Tensor:
        """At least ‖Δy‖₂/‖Δs_b‖₂ for each block, (B, blocks)."""
        return block_norms(self.terms)


@dataclass(frozen=True, eq=False)
class Block:
    """One block of the state itself, `reach` (B, blocks) being 1 there and 0 elsewhere."""

    reach: Tensor


@dataclass(frozen=True, eq=False)
class Term:
    """D A Δy, |D| ≤ diag(rows): rows (B, m), A (B, m, l), or None for units of y themselves."""

    rows: Tensor
    A: Tensor | None
    y: TermSum | Block
    up: Operations

    @property
    def norm(self) -> Tensor:
        """At least ‖D A‖₂, (B,)."""
        return self.rows.amax(1) if self.A is None else self.up.scaled_bound(self.rows, self.A)

    def scaled(self, factors: Tensor) -> "Term":
        """The term times a diagonal that is at most that, 0 where the term is."""
        factors = self.up.multiply(factors, self.rows)
        return replace(self, rows=torch.where(self.rows == 0, 0.0, factors))

    def part(self, start: int, stop: int) -> "Term":
        """Some of its units."""
        A = None if self.A is None else self.A[:, start:stop]
        return replace(self, rows=self.rows[:, start:stop], A=A)

    def padded(self, before: int, after: int) -> "Term":
        """Its units between others, which do not move with it."""
        A = None if self.A is None else pad(self.A, (0, 0, before, after))
        return replace(self, rows=pad(self.rows, (before, after)), A=A)


Terms = tuple[Term, ...]


def block_terms(box: Tensor, blocks: int, up: Operations) -> Terms:
    """The units of a state (B, N), in blocks of one size."""
    indicators = torch.eye(blocks, dtype=box.dtype, device=box.device)
    rows = indicators.repeat_interleave(box.shape[1] // blocks, dim=1)
    expanded = (part[:, None].expand(-1, len(box), -1) for part in (rows, indicators))
    return tuple(Term(rows, None, Block(reach), up) for rows, reach in zip(*expanded, strict=True))


def apply_weight(W: Tensor, terms: Terms) -> Terms:
    """W y for y the sum of the terms."""
    if not terms:
        return ()
    return (replace(terms[0], rows=torch.ones_like(W[:, :, 0]), A=W, y=TermSum(terms)),)


def scale_terms(factors: Tensor, terms: Terms) -> Terms:
    """The terms times a diagonal that is at most `factors` (B, m)."""
    return tuple(term.scaled(factors) for term in terms)


def select_units(terms: Terms, start: int, stop: int) -> Terms:
    """Some units, without the terms that are 0 there."""
    parts = (term.part(start, stop) for term in terms)
    return tuple(term for term in parts if bool((term.rows != 0).any()))


def join_terms(parts: Sequence[Terms], sizes: Sequence[int]) -> Terms:
    """All units of the parts, one after another."""
    terms_joined, start, total = [], 0, sum(sizes)
    for terms, size in zip(parts, sizes, strict=True):
        terms_joined += [term.padded(start, total - start - size) for term in terms]
        start += size
    return tuple(terms_joined)


def block_norms(terms: Sequence[Term]) -> Tensor:
    """At least ‖Δu‖₂/‖Δs_b‖₂ for each block of the state, (B, blocks); there is a term."""
    groups: dict[int, list[Term]] = {}
    for term in terms:
        groups.setdefault(id(term.y), []).append(term)
    up, bounds = terms[0].up, []
    for group in groups.values():
        reach = group[0].y.reach
        bounds.append(torch.where(reach == 0, 0.0, up.multiply(_sum_norm(group)[:, None], reach)))
    return up.total(torch.stack(bounds, dim=-1))


def _sum_norm(terms: Sequence[Term]) -> Tensor:
    """At least ‖Σ_k D_k A_k‖₂ of terms of one and the same Δy, (B,)."""
    up = terms[0].up
    sum_of_norms = up.total(torch.stack([term.norm for term in terms], dim=-1))
    weights = [term.A for term in terms if term.A is not None]
    if not 1 < len(weights) == len(terms):
        return sum_of_norms
    total = up.total(torch.stack([term.rows for term in terms], dim=-1))
    rows = torch.cat([up.root(up.multiply(term.rows, total)) for term in terms], dim=1)
    return torch.minimum(sum_of_norms, up.scaled(rows, torch.cat(weights, dim=1)))
