"""Units of a cell in balls: where they lie, and how far they move with states and inputs.

Each unit u lies between two balls, and moves by |Δu| ≤ Σ_c row_c δ_c, where the columns c are what
moves: |Δs_i| ≤ v_i δ_0 for all units of the state alike, or a unit of state or input each.
What a mix g a + (1 − g) b multiplies by g is linear in it, so it is largest at an end. Euclidean
norms are kept apart, as terms of `impl.checker.cells.units`.

Nothing here is the maker's. Sources: Moore, Kearfott & Cloud, Introduction to Interval Analysis;
Miller & Hardt, Proposition 1.

Euclidean norms of how units move with the blocks s_b of a state, in balls: a sum of terms

    Δu = Σ_k D_k A_k Δy_k,    |D_k| ≤ diag(scale_k),    ‖Δy_k‖₂ ≤ Σ_b reach_kb ‖Δs_b‖₂,

those of one and the same Δy also together: by Cauchy and Schwarz, unit by unit with
t = Σ_k scale_k, at most the norm of all diag(√(scale_k t)) A_k, one below another. Nothing here is
the maker's. Source: Miller & Hardt, Proposition 1.

Ranges of inputs in balls.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import NamedTuple

from flint import arb, arb_mat

from rnnbounds.impl.checker.cells.activations import BallActivation
from rnnbounds.impl.checker.definite import norm_above
from rnnbounds.impl.format.fields import InputBox
from rnnbounds.impl.format.tensors import Array

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


Row = dict[int, arb]  # of columns that are not 0
ALL = slice(None)


@dataclass(frozen=True, eq=False)
class Units:
    """A vector of units; `radius` bounds the Euclidean norm of those that are inputs."""

    low: list[arb]
    high: list[arb]
    rows: list[Row]
    terms: tuple[Term, ...] = ()
    radius: arb | None = None

    @cached_property
    def sizes(self) -> list[arb]:
        """At least |u| = max(−u, u); infinite for what is no number. An upper end near −1 plays no
        part, so that its radius does not lead out of a box of side 1."""
        return [_number((-a).max(b)) for a, b in zip(self.low, self.high, strict=True)]

    def __len__(self) -> int:
        return len(self.low)

    def __add__(self, other: "Units") -> "Units":
        low, high = (
            [a + b for a, b in zip(*ends, strict=True)]
            for ends in ((self.low, other.low), (self.high, other.high))
        )
        rows = [_added(a, b) for a, b in zip(self.rows, other.rows, strict=True)]
        return Units(low, high, rows, self.terms + other.terms)

    def __neg__(self) -> "Units":
        return Units([-b for b in self.high], [-a for a in self.low], self.rows, self.terms)

    def __sub__(self, other: "Units") -> "Units":
        return self + -other

    def __mul__(self, other: "Units") -> "Units":
        ends = [_product(*both) for both in zip(self._ends, other._ends, strict=True)]
        u, v = self.sizes, other.sizes
        rows = [
            _added(_scaled(b, mine), _scaled(a, theirs))
            for a, b, mine, theirs in zip(u, v, self.rows, other.rows, strict=True)
        ]
        terms = _terms(v, self.terms) + _terms(u, other.terms)
        low, high = ([pair[i] for pair in ends] for i in (0, 1))
        return Units(low, high, rows, terms)

    @property
    def _ends(self) -> list[tuple[arb, arb]]:
        return list(zip(self.low, self.high, strict=True))

    def through(self, rho: BallActivation) -> "Units":
        """ρ of each unit."""
        images = [rho.image(*ends) for ends in self._ends]
        steep = [rho.steepest(*ends) for ends in self._ends]
        rows = [_scaled(a, row) for a, row in zip(steep, self.rows, strict=True)]
        low, high = ([image[i] for image in images] for i in (0, 1))
        return Units(low, high, rows, _terms(steep, self.terms))

    def part(self, start: int, stop: int) -> "Units":
        """The units from start on, before stop."""
        at = slice(start, stop)
        terms = tuple(
            Term(term.scale[at], None if term.A is None else term.A[at], term.reach)
            for term in self.terms
            if not all(d.is_zero() for d in term.scale[at])
        )
        return Units(self.low[at], self.high[at], self.rows[at], terms)

    def chunk(self, count: int) -> "list[Units]":
        """So many equal parts."""
        size = len(self) // count
        return [self.part(i * size, (i + 1) * size) for i in range(count)]


def joined(*parts: Units) -> Units:
    """All units of the parts, one after another."""
    total, start, terms = sum(map(len, parts)), 0, []
    for part in parts:
        before, after = [arb(0)] * start, [arb(0)] * (total - start - len(part))
        for term in part.terms:
            width = 0 if term.A is None else len(term.A[0])
            still = [arb(0)] * width
            A = None
            if term.A is not None:
                A = [still] * len(before) + term.A + [still] * len(after)
            terms.append(Term(before + term.scale + after, A, term.reach))
        start += len(part)
    low, high = ([a for part in parts for a in getattr(part, end)] for end in ("low", "high"))
    return Units(low, high, [row for part in parts for row in part.rows], tuple(terms))


def mixed(gate: Units, a: Units, b: Units) -> Units:
    """g∘a + (1 − g)∘b for gates with 0 ≤ g ≤ 1: sigmoids, and numbers that were looked at."""
    apart = (a - b).sizes
    low, high, rows = [], [], []
    for i, ends in zip(range(len(a)), gate._ends, strict=True):
        high.append(_between(ends, a.high[i], b.high[i]))
        low.append(-_between(ends, -a.low[i], -b.low[i]))
        sides = [_added(_scaled(g, a.rows[i]), _scaled(1 - g, b.rows[i])) for g in ends]
        rows.append(_added(_largest(*sides), _scaled(apart[i], gate.rows[i])))
    rest = [abs(1 - g).max(abs(G - 1)) for g, G in gate._ends]
    terms = _terms(gate.sizes, a.terms) + _terms(rest, b.terms) + _terms(apart, gate.terms)
    return Units(low, high, rows, terms)


@dataclass(frozen=True)
class Weights:
    """The tensors of one cell by role, as the numbers that they are."""

    stored: Mapping[str, Array]

    def __contains__(self, name: str) -> bool:
        return name in self.stored

    @cached_property
    def _known(self) -> dict[str, Weight]:
        return {}

    def matrix(self, name: str) -> Weight:
        """A matrix, row by row."""
        if name not in self._known:
            self._known[name] = [[arb(v) for v in row] for row in self.stored[name].tolist()]
        return self._known[name]

    def vector(self, name: str) -> list[arb]:
        """A vector."""
        return [arb(v) for v in self.stored[name].tolist()]

    def constant(self, name: str) -> Units:
        """A vector as units, which stand still."""
        return still(self.vector(name))

    def affine(self, weight: str, bias: str | None, v: Units, rows: slice = ALL) -> Units:
        """W v + b; no bias where there is none of that name."""
        found = through(self.matrix(weight)[rows], v)
        if bias is None or bias not in self.stored:
            return found
        return found + still(self.vector(bias)[rows])


Step = Callable[[Weights, Units, Units], Units]  # the next state, of state and input


def still(values: list[arb]) -> Units:
    """Numbers that move with nothing."""
    return Units(values, values, [{} for _ in values])


def through(W: Weight, v: Units) -> Units:
    """W v, also by Cauchy and Schwarz where ‖v‖₂ is known."""
    even = all(bool(a == -b) for a, b in v._ends)
    low, high = [], []
    for weights in W:
        used = [(w, a, b) for w, a, b in zip(weights, v.low, v.high, strict=True)
                if not w.is_zero()]  # fmt: skip
        top = sum((abs(w) * b if even else (w * a).max(w * b) for w, a, b in used), arb(0))
        low.append(-top if even else sum(((w * a).min(w * b) for w, a, b in used), arb(0)))
        high.append(top)
        if v.radius is not None:
            reach = sum((w * w for w, _, _ in used), arb(0)).sqrt() * v.radius
            low[-1], high[-1] = low[-1].max(-reach), high[-1].min(reach)
    terms: tuple[Term, ...] = ()
    if v.terms:
        terms = (Term([arb(1)] * len(W), W, norms(v.terms)),)
    return Units(low, high, _moved(W, v.rows), terms)


def _moved(W: Weight, rows: list[Row]) -> list[Row]:
    """|W| rows."""
    columns = sorted({c for row in rows for c in row})
    if all(len(row) <= 1 for row in rows):
        found: list[Row] = []
        for weights in W:
            told: Row = {}
            for w, row in zip(weights, rows, strict=True):
                for c, a in row.items():
                    if not w.is_zero():
                        told[c] = told[c] + abs(w) * a if c in told else abs(w) * a
            found.append(told)
        return found
    dense = arb_mat([[row.get(c, arb(0)) for c in columns] for row in rows])
    product = arb_mat([[abs(w) for w in weights] for weights in W]) * dense
    return [
        {c: a for c, a in zip(columns, row, strict=True) if not a.is_zero()}
        for row in product.tolist()
    ]


def _terms(by: list[arb], terms: tuple[Term, ...]) -> tuple[Term, ...]:
    return tuple(term.scaled(by) for term in terms)


def _scaled(by: arb, row: Row) -> Row:
    return {} if by.is_zero() else {c: by * a for c, a in row.items()}


def _added(a: Row, b: Row) -> Row:
    if not (a and b):
        return a or b
    return a | {c: a[c] + v if c in a else v for c, v in b.items()}


def _largest(a: Row, b: Row) -> Row:
    return a | {c: a[c].max(v) if c in a else v for c, v in b.items()}


def _between(gate: tuple[arb, arb], a: arb, b: arb) -> arb:
    """At least g a + (1 − g) b, which is no larger than both."""
    top, found = a.max(b), _most([b + g * (a - b) for g in gate])
    return found if found <= top else top


def _number(size: arb) -> arb:
    return arb("inf") if size.is_nan() else size


def _product(a: tuple[arb, arb], b: tuple[arb, arb]) -> tuple[arb, arb]:
    """The ends of a product, infinite where it is of 0 and of what may be anything."""
    four = [x * y for x in a for y in b]
    if any(v.is_nan() for v in four):
        return arb("-inf"), arb("inf")
    return -_most([-v for v in four]), _most(four)


def _most(values: list[arb]) -> arb:
    return reduce(arb.max, values)


class InputRanges(NamedTuple):
    """Inputs between low and high (d,)."""

    low: list[arb]
    high: list[arb]

    @classmethod
    def of(cls, stated: InputBox | None) -> "InputRanges | None":
        """Those of a stated set, None for a ball alone."""
        return None if stated is None else cls([*map(arb, stated.low)], [*map(arb, stated.high)])
