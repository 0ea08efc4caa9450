"""The rules for jets, from the operands of a unit to the unit, and by induction to all units.

|u(s) − u(s′)| ≤ ℓ_s ‖s − s′‖,  ‖∂_c u‖ ≤ ℓ_c,  ‖∂_c u(s) − ∂_c u(s′)‖ ≤ s_sc ‖s − s′‖
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from sympy import Abs, Add, Expr, Symbol

from rnnbounds.theory.axioms.base import HOMOGENEITY_WEIGHTED, TRIANGLE_WEIGHTED
from rnnbounds.theory.axioms.entries import DIFFERENCES
from rnnbounds.theory.axioms.jets import CHAIN_RULE_UNITS
from rnnbounds.theory.axioms.unitary import MONOTONE_NORM
from rnnbounds.theory.language import ONE, ZERO, Statement, Use, at, le
from rnnbounds.theory.language.terms import jets
from rnnbounds.theory.language.terms.jets import (
    ACTIVATION,
    MIXTURE,
    PRODUCT,
    STATES,
    SUM,
    bend_most,
    bent,
    depth,
    factor,
    gap,
    one,
    own_slope,
    steep,
    tangent,
    two,
    unit_slope,
    unit_value,
)
from rnnbounds.theory.language.terms.unitary import part
from rnnbounds.theory.language.terms.variables import a, b, c, i, j, v
from rnnbounds.theory.language.terms.vectors import weighted
from rnnbounds.theory.models.jets.model import (
    OPERANDS,
    g,
    mixed_bent,
    mixed_crossing,
    mixed_steep,
    of_all_units,
    of_kind,
    p,
    q,
)
from rnnbounds.theory.models.jets.ranges import RANGES, SIZES, SPREADS
from rnnbounds.theory.proof import Step, step

Parts: TypeAlias = tuple[tuple[Expr, Expr], ...]  # (z, A), … for z A + …


def values_move(u: Expr) -> Statement:
    """|u(s) − u(s′)| ≤ ℓ_s ‖s − s′‖."""
    return le(Abs(unit_value(u, one) - unit_value(u, two)), steep(u, STATES) * gap)


def slope_bounded(u: Expr, state: Expr = one) -> Statement:
    """‖∂_c u‖ ≤ ℓ_c."""
    return le(weighted(unit_slope(u, state, c)), steep(u, c))


def slopes_move(u: Expr) -> Statement:
    """‖∂_c u(s) − ∂_c u(s′)‖ ≤ s_sc ‖s − s′‖."""
    return le(weighted(unit_slope(u, one, c) - unit_slope(u, two, c)), bent(u, c) * gap)


def _sum(parts: Parts) -> Expr:
    return Add(*(z * A for z, A in parts))


def _sizes(parts: Parts) -> Expr:
    return Add(*(Abs(z) * weighted(A) for z, A in parts))


def _apart(parts: Parts) -> tuple[Use, ...]:
    """‖Σ z A‖ ≤ Σ |z| ‖A‖."""
    each = tuple(HOMOGENEITY_WEIGHTED.at(z, A) for z, A in parts if z != 1)
    ends = range(1, len(parts))
    sums = (TRIANGLE_WEIGHTED.at(_sum(parts[n - 1 : n]), _sum(parts[n:])) for n in ends)
    return (*each, *sums)


@dataclass(frozen=True)
class Rule:
    """How one kind of unit comes from its operands.

    `slope` is its derivative, in parts; between two states that changes by `turned`, where operands
    turn, and by `crossed`, where they move, which is at most `crossing` times the distance.
    `moves`, `steepens`, `crosses` and `bends` are what bounds these, besides the operands.
    """

    number: int
    name: str
    operands: tuple[Expr, ...]
    slope: Parts
    turned: Parts
    moves: tuple[Use, ...]
    steepens: tuple[Use, ...]
    bends: tuple[Use, ...]
    crossed: Parts = ()
    crossing: Expr = ZERO
    crosses: tuple[Use, ...] = ()

    @property
    def kind(self) -> Statement:
        """That the unit is of this kind."""
        return of_kind(self.number)

    @property
    def value_step(self) -> Step:
        """How far the unit moves, from how far its operands do."""
        known = (self.kind, *map(values_move, self.operands))
        return step(f"value of {self.name}", values_move(v), (v, a, b), known).by(*self.moves)

    @property
    def slope_step(self) -> Step:
        """How steep it is."""
        known = (self.kind, *map(slope_bounded, self.operands))
        chain = CHAIN_RULE_UNITS[self.number].at(v, one, c)
        steep = step(f"slope of {self.name}", slope_bounded(v), (v, a, c), known)
        return steep.by(chain, *_apart(self.slope), *self.steepens)

    @property
    def _crossing(self) -> tuple[Statement, ...]:
        bound = le(_sizes(self.crossed), self.crossing * gap)
        return (bound,) if self.crossed else ()

    @property
    def bend_steps(self) -> tuple[Step, ...]:
        """How its slope changes: in parts, where operands move, and where they turn as well."""
        chain = (CHAIN_RULE_UNITS[self.number].at(v, state, c) for state in (one, two))
        whole = weighted(unit_slope(v, one, c) - unit_slope(v, two, c))
        change, variables = (*self.turned, *self.crossed), (v, a, b, c)
        parts = step(
            f"bend of {self.name}, in parts",
            le(whole, _sizes(change)),
            forall=variables,
            given=(self.kind,),
        ).by(*chain, *_apart(change))
        known = (self.kind, *map(slopes_move, self.operands), *self._crossing)
        bend = step(f"bend of {self.name}", slopes_move(v), variables, known)
        return (parts, bend.by(at(parts.id, *variables), *self.bends))

    @property
    def crossing_steps(self) -> tuple[Step, ...]:
        """Steps that bound `crossed`, by induction hypotheses on operands of depth at most j."""
        few = (*((self.kind,) if self.crosses else ()), *(le(depth(u), j) for u in self.operands))
        known = (
            *(at("values of all units", u, a, b, j) for u in self.operands),
            *(at("slopes of all units", u, b, c, j) for u in self.operands),
        )
        return tuple(
            step(f"crossing of {self.name}", bound, (v, a, b, c, j), few).by(*known, *self.crosses)
            for bound in self._crossing
        )


_values = {u: (unit_value(u, one), unit_value(u, two)) for u in (p, q, g)}
_slopes = {u: (unit_slope(u, one, c), unit_slope(u, two, c)) for u in (p, q, g)}
(vp, vp_two), (vq, vq_two), (vg, vg_two) = (_values[u] for u in (p, q, g))
(dp, dp_two), (dq, dq_two), (dg, dg_two) = (_slopes[u] for u in (p, q, g))
own, own_two = own_slope(v, one, c), own_slope(v, two, c)
bent_f, bent_f_two = tangent(v, one), tangent(v, two)
_both = (at("values", v, one), at("values", v, two))
_rules, _rules_of_states = at("jet rules", v, c), at("jet rules", v, STATES)

_mixed = (at("intervals", v, a), at("ranges", g, a), at("spreads", v, a))

# A gate's mixture is as steep, and as bent, as at the worse end of the gate.
BETWEEN = tuple(
    step(
        f"{name} between the ends",
        le(vg * jet(p, c) + (1 - vg) * jet(q, c) + rest, jet(v, c)),
        forall=(v, a, c),
        given=(of_kind(MIXTURE),),
    ).by(at("ranges", g, a), _rules)
    for name, jet, rest in (("steep", steep, mixed_steep), ("bent", bent, mixed_bent))
)

RULES_OF_UNITS = (
    Rule(
        PRODUCT,
        "a product",
        (p, q),
        slope=((vp, dq), (vq, dp)),
        turned=((vp, dq - dq_two), (vq, dp - dp_two)),
        moves=(*_both, at("sizes", p, a), at("sizes", q, b), _rules_of_states),
        steepens=(at("sizes", p, a), at("sizes", q, a), _rules),
        bends=(at("sizes", p, a), at("sizes", q, a), _rules),
        crossed=((vp - vp_two, dq_two), (vq - vq_two, dp_two)),
        crossing=steep(p, STATES) * steep(q, c) + steep(q, STATES) * steep(p, c),
    ),
    Rule(
        ACTIVATION,
        "an activation",
        (p,),
        slope=((bent_f, dp),),
        turned=((bent_f, dp - dp_two),),
        moves=(at("activations", v, a, b), _rules_of_states),
        steepens=(at("activations", v, a, a), _rules),
        bends=(at("activations", v, a, a), _rules),
        crossed=((bent_f - bent_f_two, dp_two),),
        crossing=bend_most(v) * steep(p, STATES) * steep(p, c),
        crosses=(at("curvatures", v, a, b),),
    ),
    Rule(
        SUM,
        "a sum",
        (p, q),
        slope=((ONE, dp), (factor(v), dq), (ONE, own)),
        turned=((ONE, dp - dp_two), (factor(v), dq - dq_two), (ONE, own - own_two)),
        moves=(*_both, _rules_of_states),
        steepens=(at("own weights", v, a, c), _rules),
        bends=(at("own slopes", v, a, b, c), _rules),
    ),
    Rule(
        MIXTURE,
        "a mixture",
        (g, p, q),
        slope=((vp - vq, dg), (vg, dp), (1 - vg, dq)),
        turned=((vp - vq, dg - dg_two), (vg, dp - dp_two), (1 - vg, dq - dq_two)),
        moves=(
            *_both,
            at("intervals", v, a),
            at("ranges", g, a),
            at("spreads", v, b),
            at("steep between the ends", v, a, STATES),
        ),
        steepens=(*_mixed, at("steep between the ends", v, a, c)),
        bends=(*_mixed, at("bent between the ends", v, a, c)),
        crossed=((vp - vq - vp_two + vq_two, dg_two), (vg - vg_two, dp_two), (vg_two - vg, dq_two)),
        crossing=mixed_crossing,
    ),
)


STEEP_BETWEEN, BENT_BETWEEN = BETWEEN


def _of_all(
    name: str, goal: Callable[[Expr], Statement], forall: tuple[Symbol, ...], *uses: Use
) -> Step:
    """Of all units that come from at most j operations, from those that come from fewer."""
    block = c if c in forall else jets.STATES
    leaf = at("leaves", v, a, b if b in forall else a, block)
    rules = tuple(at(f"{name} of {rule.name}", *forall) for rule in RULES_OF_UNITS)
    of_all, _ = of_all_units(f"{name}s", goal(v), forall, leaf, (*rules, *uses), *OPERANDS)
    return of_all


RANGES_OF_UNITS = (*RANGES, SIZES, SPREADS)
VALUES_OF_UNITS = (
    *RANGES_OF_UNITS,
    STEEP_BETWEEN,
    *(rule.value_step for rule in RULES_OF_UNITS),
    _of_all("value", values_move, (v, a, b)),
)
SLOPES = (*(rule.slope_step for rule in RULES_OF_UNITS), _of_all("slope", slope_bounded, (v, a, c)))

own_gap = jets.own_slope(v, jets.one, c) - jets.own_slope(v, jets.two, c)
OWN_SLOPES = (
    step(
        "each unit multiplied",
        le(Abs(part(own_gap, i)), Abs(part(jets.moves(v, c, jets.gap), i))),
        forall=(i,),
    ).by(
        DIFFERENCES.at(jets.own_slope(v, jets.one, c), jets.own_slope(v, jets.two, c), i),
        at("multiplied units", v, jets.one, a, c, i, jets.gap),
        at("multiplied units", v, jets.two, a, c, i, jets.gap),
        at("values of all units", jets.multiplied(v, c, i), a, b, i),
    ),
    step("own slopes", le(weighted(own_gap), jets.tilt(v, c) * jets.gap), forall=(v, a, b, c)).by(
        "each unit multiplied",
        MONOTONE_NORM.at(own_gap, jets.moves(v, c, jets.gap)),
        at("multiplied units", v, a, b, c, 0, jets.gap),
    ),
)
CROSSINGS = tuple(step for rule in RULES_OF_UNITS for step in rule.crossing_steps)
BENDS = (
    *OWN_SLOPES,
    BENT_BETWEEN,
    *CROSSINGS,
    *(step for rule in RULES_OF_UNITS for step in rule.bend_steps),
    _of_all("bend", slopes_move, (v, a, b, c), *(at(step.id, v, a, b, c, j) for step in CROSSINGS)),
)
