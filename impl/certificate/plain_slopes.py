"""The slopes of `impl.arithmetic.slopes` in plain floats, of one system, with gradients.

The same formulas over torch's own operations: intervals (m,) of units, comparison matrices
(R, m, N) in the states, and terms D A Δy of Euclidean norms as in `impl.arithmetic.signed`. Nothing
is rounded outwards, so that what comes of it is an estimate of what is certified, and no bound;
in exact arithmetic it would be one. Slopes and terms that are None or empty are 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor
from torch.nn.functional import pad, softplus

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.arithmetic.base import ALL
from rnnbounds.impl.arithmetic.elementary import Elementary

_INCREASING = ("identity", "relu", "leaky-relu", "elu", "erf", "arctan", "softplus")


@dataclass(frozen=True, eq=False)
class Term:
    """D A Δy with |D| ≤ diag(rows) (m,), A (m, l) or None for the units themselves, and
    ‖Δy‖₂ ≤ Σ_b reach_b ‖Δs_b‖₂."""

    rows: Tensor
    A: Tensor | None
    reach: Tensor

    @property
    def norm(self) -> Tensor:
        """‖D A‖₂."""
        if self.A is None:
            return self.rows.amax()
        return spectral(self.rows[:, None] * self.A)

    def part(self, start: int, stop: int) -> "Term":
        """Some of its units."""
        A = None if self.A is None else self.A[start:stop]
        return Term(self.rows[start:stop], A, self.reach)

    def among(self, before: int, after: int) -> "Term":
        """Its units between others, which do not move with it."""
        A = None if self.A is None else pad(self.A, (0, 0, before, after))
        return Term(pad(self.rows, (before, after)), A, self.reach)


def spectral(A: Tensor) -> Tensor:
    """‖A‖₂ of A (..., m, n): (...); infinite where products of weights were beyond the floats."""
    if bool(torch.isfinite(A).all()):
        size: Tensor = torch.linalg.matrix_norm(A, 2)
        return size
    return A.new_full(A.shape[:-2], torch.inf)


def reached(terms: Sequence[Term], like: Tensor) -> Tensor:
    """‖Δu‖₂/‖Δs_b‖₂ for each block of the state, 0 like that where there is no term."""
    alike: dict[int, list[Term]] = {}
    for term in terms:
        alike.setdefault(id(term.reach), []).append(term)  # one tensor for one Δy
    found = [_together(several) * several[0].reach for several in alike.values()]
    return torch.stack(found or [like]).sum(0)


def _together(terms: Sequence[Term]) -> Tensor:
    """‖Σ_k D_k A_k‖₂ of terms of one and the same Δy, as `impl.arithmetic.signed` bounds it."""
    apart = torch.stack([term.norm for term in terms]).sum()
    weights = [term.A for term in terms if term.A is not None]
    if not 1 < len(weights) == len(terms):
        return apart
    total = torch.stack([term.rows for term in terms]).sum(0)
    rows = []
    for term, A in zip(terms, weights, strict=True):
        size, still = term.rows * total, term.rows == 0  # where a root has no derivative
        root = torch.where(still, 0.0, torch.where(still, 1.0, size).sqrt())
        rows.append(root[:, None] * A)
    return torch.minimum(apart, spectral(torch.cat(rows)))


@dataclass(frozen=True, eq=False)
class Plain(Elementary):
    """low ≤ u ≤ high (m,), slopes (R, m, N); of inputs `radius` ≥ ‖u‖₂, and `rows` (p, m) where
    they are one of these."""

    low: Tensor
    high: Tensor
    slopes: Tensor | None = None
    terms: tuple[Term, ...] = ()
    radius: Tensor | None = None
    rows: Tensor | None = None

    @property
    def size(self) -> int:
        """How many units."""
        return len(self.low)

    @property
    def most(self) -> Tensor:
        """|u|."""
        return torch.maximum(self.high, -self.low)

    @property
    def worst(self) -> Tensor | None:
        """One matrix that is at least each of the R, (m, N)."""
        return None if self.slopes is None else self.slopes.amax(0)

    def __add__(self, other: Self) -> Self:
        ours, theirs = self.slopes, other.slopes
        if ours is not None and theirs is not None and min(len(ours), len(theirs)) > 1:
            ours, theirs = ours.amax(0, keepdim=True), theirs.amax(0, keepdim=True)
        ends = (self.low + other.low, self.high + other.high)
        return type(self)(*ends, _sum(ours, theirs), self.terms + other.terms)

    def __neg__(self) -> Self:
        return type(self)(-self.high, -self.low, self.slopes, self.terms)

    def __sub__(self, other: Self) -> Self:
        return self + -other

    def __mul__(self, other: Self) -> Self:
        ends = torch.stack([a * b for a in (self.low, self.high) for b in (other.low, other.high)])
        moved = self.scaled(other.most) + other.scaled(self.most)
        return type(self)(ends.amin(0), ends.amax(0), moved.slopes, moved.terms)

    def constant(self, c: float) -> Self:
        """That number in the place of each unit, depending on nothing."""
        value = torch.full_like(self.low, c)
        return type(self)(value, value)

    def scaled(self, rows: Tensor) -> Self:
        """Slopes and terms times a diagonal that is at most that."""
        slopes = None if self.slopes is None else rows[:, None] * self.slopes
        terms = tuple(Term(rows * term.rows, term.A, term.reach) for term in self.terms)
        return type(self)(self.low, self.high, slopes, terms)

    def through(self, low: Tensor, high: Tensor, steep: Tensor) -> Self:
        """A function of each unit: its values, and at least |f′|."""
        found = self.scaled(steep)
        return type(self)(low, high, found.slopes, found.terms)

    def part(self, start: int, stop: int) -> Self:
        """The units from start on, before stop."""
        slopes = None if self.slopes is None else self.slopes[:, start:stop]
        terms = tuple(term.part(start, stop) for term in self.terms)
        terms = tuple(term for term in terms if bool((term.rows != 0).any()))
        return type(self)(self.low[start:stop], self.high[start:stop], slopes, terms)

    def function(self, name: str) -> Self:
        """The elementary function of that name."""
        low, high = self.low, self.high
        least = torch.maximum(low, -high).clamp(min=0)
        if name == "sigmoid":
            s = least.sigmoid()
            return self.through(low.sigmoid(), high.sigmoid(), s * (1 - s))
        if name == "tanh":
            return self.through(low.tanh(), high.tanh(), 1 - least.tanh().square())
        if name == "exp":
            return self.through(low.exp(), high.exp(), high.exp())
        if name == "softplus":
            return self.through(softplus(low), softplus(high), high.sigmoid())
        if name == "reciprocal":
            apart = low * high > 0
            first, last = (
                torch.where(apart, 1 / high, -torch.inf),
                torch.where(apart, 1 / low, torch.inf),
            )
            return self.through(first, last, torch.where(apart, least**-2, torch.inf))
        point, f = low == high, {"sin": torch.sin, "cos": torch.cos}[name]
        one, value = torch.ones_like(low), f(low)
        return self.through(torch.where(point, value, -one), torch.where(point, value, one), one)


@dataclass(frozen=True, eq=False)
class PlainArithmetic:
    """Parameters (1, m, n) and (1, m) of one system, whose gradients are wanted."""

    parameters: Mapping[str, Tensor]

    def affine(self, weight: str, bias: str | None, v: Plain, rows: slice = ALL) -> Plain:
        """W v + b."""
        W = self.parameters[weight][0, rows]
        middle, half = (v.low + v.high) / 2, (v.high - v.low) / 2
        centre, reach = W @ middle, W.abs() @ half
        low, high = centre - reach, centre + reach
        if v.radius is not None:
            most = torch.linalg.vector_norm(W, dim=1) * v.radius
            low, high = torch.maximum(low, -most), torch.minimum(high, most)
        if v.rows is not None:
            told = W @ v.rows.mT
            low, high = told.amin(1), told.amax(1)  # older versions of torch do not derive aminmax
        if bias is not None and bias in self.parameters:
            b = self.parameters[bias][0, rows]
            low, high = low + b, high + b
        slopes = None if v.worst is None else (W.abs() @ v.worst)[None]
        terms: tuple[Term, ...] = ()
        if v.terms:
            terms = (Term(torch.ones_like(W[:, 0]), W, reached(v.terms, v.low)),)
        return Plain(low, high, slopes, terms)

    def vector(self, name: str, rows: slice = ALL) -> Plain:
        """A parameter vector, which depends on nothing."""
        value = self.parameters[name][0, rows]
        return Plain(value, value)

    def activate(self, name: str, v: Plain) -> Plain:
        """ρ(v); of all but tanh and sigmoid no more than L_ρ is known of slopes."""
        if name in ("tanh", "sigmoid"):
            return v.function(name)
        rho = activation(name)
        if name in _INCREASING:
            low, high = rho(v.low), rho(v.high)
        else:
            middle, half = rho((v.low + v.high) / 2), rho.slope * (v.high - v.low) / 2
            low, high = middle - half, middle + half
        return v.through(low, high, torch.full_like(low, rho.slope))

    def slope(self, name: str, v: Plain) -> Plain:
        """ρ′(v), of whose own slopes nothing is said."""
        steep = torch.full_like(v.low, activation(name).slope)
        return v.through(-steep, steep, torch.full_like(steep, torch.inf))

    def mix(self, gate: Plain, a: Plain, b: Plain) -> Plain:
        """g∘a + (1 − g)∘b."""
        steered = gate.scaled((a - b).most)
        flat = [Plain(v.low, v.high, _lifted(v.worst)) for v in (a, b)]
        ends = (gate.low,) if torch.equal(gate.low, gate.high) else (gate.low, gate.high)
        sides = [flat[0].scaled(g) + flat[1].scaled(1 - g) for g in ends]
        known = [side.slopes for side in sides if side.slopes is not None]
        slopes = _sum(torch.cat(known) if known else None, _lifted(steered.worst))
        terms = a.scaled(gate.high).terms + b.scaled(1 - gate.low).terms + steered.terms
        low, high = (
            torch.stack([g * getattr(a, end) + (1 - g) * getattr(b, end) for g in ends])
            for end in ("low", "high")
        )
        return Plain(low.amin(0), high.amax(0), slopes, terms)

    def join(self, *parts: Plain) -> Plain:
        """All units of the parts, one after another."""
        known = [part.slopes for part in parts if part.slopes is not None]
        slopes, start, total = None, 0, sum(part.size for part in parts)
        terms: list[Term] = []
        for part in parts:
            terms += [term.among(start, total - start - part.size) for term in part.terms]
            start += part.size
        if known:
            R, N = max(map(len, known)), known[0].shape[2]
            still = (known[0].new_zeros(1, part.size, N) for part in parts)
            told = (zero if part.slopes is None else part.slopes
                    for part, zero in zip(parts, still, strict=True))  # fmt: skip
            slopes = torch.cat([one.expand(R, -1, -1) for one in told], dim=1)
        low, high = (
            torch.cat([part.low for part in parts]),
            torch.cat([part.high for part in parts]),
        )
        return Plain(low, high, slopes, tuple(terms))


def _sum(a: Tensor | None, b: Tensor | None) -> Tensor | None:
    if a is None or b is None:
        return b if a is None else a
    return a + b


def _lifted(a: Tensor | None) -> Tensor | None:
    return None if a is None else a[None]
