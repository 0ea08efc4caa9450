"""Euclidean norms of how units move with the blocks s_b of a state, in balls: a sum of terms

    Δu = Σ_k D_k A_k Δy_k,    |D_k| ≤ diag(scale_k),    ‖Δy_k‖₂ ≤ Σ_b reach_kb ‖Δs_b‖₂,

those of one and the same Δy also together: by Cauchy and Schwarz, unit by unit with
t = Σ_k scale_k, at most the norm of all diag(√(scale_k t)) A_k, one below another. Nothing here is
the maker's. Source: Miller & Hardt, Proposition 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

from flint import arb, arb_mat

from rnnbounds.impl.checker.definite import norm_above

Weight = list[list[arb]]


@dataclass(frozen=True)
class Term:
    """D A Δy; A is None for units of y themselves."""

    scale: list[arb]
    A: Weight | None
    reach: list[arb]

    @cached_property
    def size(self) -> arb:
        """At least ‖D A‖₂."""
        if self.A is None:
            return reduce(arb.max, self.scale)
        scaled = self.rows(self.scale)
        return norm_above([arb_mat(scaled)]) if scaled else arb(0)

    def rows(self, scale: list[arb]) -> Weight:
        """Those of diag(scale) A that are not 0."""
        both = zip(scale, self.A or [], strict=True)
        return [[d * a for a in row] for d, row in both if not d.is_zero()]

    def scaled(self, by: Sequence[arb]) -> "Term":
        """Times a diagonal that is at most that."""
        scale = [s if s.is_zero() else d * s for d, s in zip(by, self.scale, strict=True)]
        return Term(scale, self.A, self.reach)


def norms(terms: Sequence[Term]) -> list[arb]:
    """At least ‖Δu‖₂/‖Δs_b‖₂, block by block; there is a term."""
    alike: dict[int, list[Term]] = {}
    for term in terms:
        alike.setdefault(id(term.reach), []).append(term)  # one list for one Δy
    found = [arb(0) for _ in terms[0].reach]
    for several in alike.values():
        size = _together(several)
        for b, reach in enumerate(several[0].reach):
            found[b] += arb(0) if reach.is_zero() else size * reach
    return found


def _together(terms: Sequence[Term]) -> arb:
    """At least ‖Σ_k D_k A_k‖₂ of terms of one and the same Δy."""
    apart = sum((term.size for term in terms), arb(0))
    if len(terms) < 2 or any(term.A is None for term in terms):
        return apart
    total = [sum(scales, arb(0)) for scales in zip(*(term.scale for term in terms), strict=True)]
    stacked: Weight = []
    for term in terms:
        both = zip(term.scale, total, strict=True)
        stacked += term.rows([d if d.is_zero() else (d * t).upper().sqrt() for d, t in both])
    size = norm_above([arb_mat(stacked)]) if stacked else arb(0)
    return size if size <= apart else apart
