"""tanh networks with planted relations: duplicates, opposite, constant and undriven units, delays.

Pre-activations are linear forms in the last input and in the units of one step before, where equal
and opposite units are one symbol. Units are equal or opposite as functions of the inputs if their
forms are, which bounds the rank of their values from above; a minor in balls that excludes 0 bounds
it from below. Source: Emami et al., proof of Theorem 4.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from rnnbounds.properties.systems.limits.exact_candidates import small_rational
from rnnbounds.properties.systems.limits.sigmoid import run_network
from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.unitary.exact import (
    ExactMember,
    Table,
    Vector,
    member_random,
    recurrence_tables,
)

ZERO = fmpq(0)
# 77 digits first; then twice and four times as many.
PRECISIONS = (256, 512, 1024)
# Samples beyond the number of classes, drawn from multiples of 1/UNIT: from so many of them that
# sums of several inputs differ too.
SPARE, UNIT = 3, 2**20
GRID = range(-3 * UNIT // 2, 3 * UNIT // 2 + 1)

# A linear form: coefficients by symbol; the symbols are ``1``, ``x`` and the classes one step ago.
Form = tuple[tuple[str, fmpq], ...]


@dataclass(frozen=True)
class Unit:
    """A unit at one time: ± tanh of a form whose first coefficient is positive, or 0."""

    sign: int
    form: Form
    constant: bool


def make_unit(terms: dict[str, fmpq], constants: set[str]) -> Unit:
    """tanh of a form; tanh is odd, and 0 at 0."""
    form = tuple(sorted((name, v) for name, v in terms.items() if v != 0))
    if not form:
        return Unit(0, (), True)
    sign = 1 if form[0][1] > 0 else -1
    form = tuple((name, sign * v) for name, v in form)
    return Unit(sign, form, all(name in constants for name, _ in form))


@dataclass(frozen=True, eq=False)
class Planted(ExactMember):
    """t_k = tanh(A t_{k−1} + G x_k + d), k < T, from ``start``; scalar inputs."""

    A: fmpq_mat
    G: Vector
    d: Vector
    start: Vector
    T: int
    samples: tuple[Vector, ...]
    # A_1 = θ + g x of the pair tanh A_1, tanh A_2 = tanh(A_1)/2.
    pair: tuple[fmpq, fmpq]

    @cached_property
    def units(self) -> list[Unit]:
        """The units at the last time."""
        rows = self.A.tolist()
        # Before the first input the units are the rationals that they start at.
        before = [{"1": v} for v in self.start]
        constants = {"1"}
        for k in range(self.T):
            units = []
            for row, g, d in zip(rows, self.G, self.d, strict=True):
                terms = {"1": d, f"x{k}": g}
                for weight, value in zip(row, before, strict=True):
                    for name, v in value.items():
                        terms[name] = terms.get(name, ZERO) + weight * v
                units.append(make_unit(terms, constants))
            names: dict[Form, str] = {}
            for u in units:
                names.setdefault(u.form, f"t{len(names)}")
            before = [{names[u.form]: fmpq(u.sign)} for u in units]
            constants = {"1", *(names[u.form] for u in units if u.constant)}
        return units

    @property
    def sign_classes(self) -> int:
        """Units that are not constant, equal and opposite ones counted once."""
        return len({u.form for u in self.units if not u.constant})

    @property
    def equal_classes(self) -> int:
        """Units that are not constant, equal ones counted once."""
        return len({(u.sign, u.form) for u in self.units if not u.constant})

    @property
    def unit_count(self) -> int:
        """All units."""
        return len(self.d)

    def values(self) -> arb_mat:
        """t at the last time of every sample, (n, samples), in balls of the current precision."""
        *_, last = run_network(arb.tanh, self.A, self.G, self.d, self.start, self.samples)
        return last

    @cached_property
    def least_rank(self) -> int:
        """A certified lower bound on the rank of the values, each minus the first sample's."""
        best = 0
        for precision in PRECISIONS:
            with ctx.workprec(precision):
                units = [[v - first for v in others] for first, *others in self.values().tolist()]
                best = max(best, self.full_class_rank(units) or certified_rank(units))
            if best == self.sign_classes:
                break
        return best

    def full_class_rank(self, units: list[list[arb]]) -> int:
        """The number of classes, if one unit of each has a Gram determinant that excludes 0."""
        places = {u.form: j for j, u in enumerate(self.units) if not u.constant}
        if not places:
            return 0
        one_each = arb_mat([units[j] for j in places.values()])
        return len(places) if (one_each * one_each.transpose()).det() > 0 else 0

    @cached_property
    def analytic(self) -> tuple[int, int]:
        """Certified lower bounds on the rank of tanh A_1 and tanh A_2 and on the number of their
        ±-classes, A_2 = artanh(tanh(A_1)/2): the first is 1, as one is half of the other."""
        theta, g = self.pair
        with ctx.workprec(PRECISIONS[0]):
            ones = [arb(theta + g * x[0]) for x in self.samples]
            twos = [(a.tanh() / 2).atanh() for a in ones]
            varies = any(a.tanh() != ones[0].tanh() for a in ones)
            differ = any(a != b for a, b in zip(ones, twos, strict=True))
            oppose = any(a != -b for a, b in zip(ones, twos, strict=True))
        return int(varies), 2 if differ and oppose and varies else int(varies)

    def tables(self) -> dict[str, Table]:
        """The network, read in full, and the inputs of all samples."""
        U, x, start = [[v] for v in self.G], [[[v] for v in self.samples[0]]], [list(self.start)]
        return recurrence_tables(self.A.tolist(), U, list(self.d), x, start, start) | {
            "samples": [list(x) for x in self.samples], "pair": list(self.pair),
        }  # fmt: skip


def certified_rank(rows: list[list[arb]]) -> int:
    """How many pivots elimination finds that exclude 0: so many rows and columns have a minor that
    does."""
    remaining, rank = [list(row) for row in rows], 0
    while remaining and remaining[0]:
        sizes = [
            (row[j].abs_lower(), i, j) for i, row in enumerate(remaining) for j in range(len(row))
        ]
        size, i, j = max(sizes, key=lambda entry: float(entry[0]))
        if not size > 0:
            break
        pivot, rank = remaining.pop(i), rank + 1
        remaining = [
            [v - row[j] / pivot[j] * p for c, (v, p) in enumerate(zip(row, pivot, strict=True))
             if c != j]
            for row in remaining
        ]  # fmt: skip
    return rank


PLANTS = ("duplicates", "signs", "constant", "undriven", "chain")


def planted_member(spec: SystemSpec, member: int) -> Planted:
    """One member: n units with the regime's relations planted, seen after T steps."""
    draw, n = member_random(spec, member, "planted"), spec.n
    A = [[small_rational(draw) for _ in range(n)] for _ in range(n)]
    G, d, start = ([small_rational(draw) for _ in range(n)] for _ in range(3))
    chosen = PLANTS if spec.regime == "all" else (spec.regime,)
    for j in range(1, n):
        if spec.regime == "none" or draw.random() < 0.25:
            continue
        plant, i = draw.choice(chosen), draw.randrange(j)
        if plant in ("duplicates", "signs"):
            sign = -1 if plant == "signs" else 1
            A[j], G[j], d[j] = [sign * v for v in A[i]], sign * G[i], sign * d[i]
        elif plant == "constant":
            A[j], G[j] = [ZERO] * n, ZERO
        elif plant == "undriven":
            G[j] = ZERO
        else:
            A[j], G[j] = [small_rational(draw) if p == i else ZERO for p in range(n)], ZERO
    # Where two samples had one x_k, units that depend on x_k alone would have too few values.
    inputs = [draw.sample(GRID, n + SPARE) for _ in range(spec.T)]
    samples = [tuple(fmpq(v, UNIT) for v in values) for values in zip(*inputs, strict=True)]
    pair = (small_rational(draw), fmpq(draw.randint(1, 4), 2))
    return Planted(fmpq_mat(A), tuple(G), tuple(d), tuple(start), spec.T, tuple(samples), pair)
