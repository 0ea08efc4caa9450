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
    all_unit_steps,
    g,
    has_kind,
    mixed_bent,
    mixed_crossing,
    mixed_steep,
    p,
    q,
)
from rnnbounds.theory.models.jets.ranges import RANGES, SIZES, SPREADS
from rnnbounds.theory.models.jets.unit_terms import slope_bound, slope_change, value_change
from rnnbounds.theory.proof import Step, step

WeightedSum: TypeAlias = tuple[tuple[Expr, Expr], ...]  # (z, A), … for z A + …


def _sum(parts: WeightedSum) -> Expr:
    return Add(*(z * A for z, A in parts))


def _norm_sum(parts: WeightedSum) -> Expr:
    return Add(*(Abs(z) * weighted(A) for z, A in parts))


def _norm_sum_uses(parts: WeightedSum) -> tuple[Use, ...]:
    """Uses: ‖Σ z A‖ ≤ Σ |z| ‖A‖."""
    scalings = tuple(HOMOGENEITY_WEIGHTED.at(z, A) for z, A in parts if z != 1)
    cuts = range(1, len(parts))
    triangles = (TRIANGLE_WEIGHTED.at(_sum(parts[n - 1 : n]), _sum(parts[n:])) for n in cuts)
    return (*scalings, *triangles)


@dataclass(frozen=True)
class UnitRule:
    """How one kind of unit comes from its operands.

    `slope` is its derivative, in parts.  Between two states it changes by `turning`, as the slopes
    of operands change, and by `cross_terms`, as their values do, which is at most `cross_bound`
    times the distance.  The uses bound these, besides the operands' own bounds.
    """

    number: int
    name: str
    operands: tuple[Expr, ...]
    slope: WeightedSum
    turning: WeightedSum
    value_uses: tuple[Use, ...]
    slope_uses: tuple[Use, ...]
    bend_uses: tuple[Use, ...]
    cross_terms: WeightedSum = ()
    cross_bound: Expr = ZERO
    crosses: tuple[Use, ...] = ()

    @property
    def of_kind(self) -> Statement:
        """Statement that the unit is of this kind."""
        return has_kind(self.number)

    @property
    def value_step(self) -> Step:
        """Step: bound on the change of the unit's value, from those of its operands."""
        premises = (self.of_kind, *map(value_change, self.operands))
        return step(f"value of {self.name}", value_change(v), (v, a, b), premises).by(
            *self.value_uses
        )

    @property
    def slope_step(self) -> Step:
        """Step: bound on the unit's slope, from those of its operands."""
        premises = (self.of_kind, *map(slope_bound, self.operands))
        chain = CHAIN_RULE_UNITS[self.number].at(v, one, c)
        steep = step(f"slope of {self.name}", slope_bound(v), (v, a, c), premises)
        return steep.by(chain, *_norm_sum_uses(self.slope), *self.slope_uses)

    @property
    def _operand_statement(self) -> tuple[Statement, ...]:
        bound = le(_norm_sum(self.cross_terms), self.cross_bound * gap)
        return (bound,) if self.cross_terms else ()

    @property
    def bend_steps(self) -> tuple[Step, ...]:
        """Steps: bound on the change of the unit's slope, in parts and as a whole."""
        chain = (CHAIN_RULE_UNITS[self.number].at(v, state, c) for state in (one, two))
        total = weighted(unit_slope(v, one, c) - unit_slope(v, two, c))
        changes, variables = (*self.turning, *self.cross_terms), (v, a, b, c)
        parts = step(
            f"bend of {self.name}, in parts",
            le(total, _norm_sum(changes)),
            forall=variables,
            given=(self.of_kind,),
        ).by(*chain, *_norm_sum_uses(changes))
        premises = (self.of_kind, *map(slope_change, self.operands), *self._operand_statement)
        bend = step(f"bend of {self.name}", slope_change(v), variables, premises)
        return (parts, bend.by(at(parts.id, *variables), *self.bend_uses))

    @property
    def crossing_steps(self) -> tuple[Step, ...]:
        """Steps that bound `crossed`, by induction hypotheses on operands of depth at most j."""
        few = (
            *((self.of_kind,) if self.crosses else ()),
            *(le(depth(u), j) for u in self.operands),
        )
        hypotheses = (
            *(at("values of all units", u, a, b, j) for u in self.operands),
            *(at("slopes of all units", u, b, c, j) for u in self.operands),
        )
        return tuple(
            step(f"crossing of {self.name}", bound, (v, a, b, c, j), few).by(
                *hypotheses, *self.crosses
            )
            for bound in self._operand_statement
        )


_operand_values = {u: (unit_value(u, one), unit_value(u, two)) for u in (p, q, g)}
_operand_slopes = {u: (unit_slope(u, one, c), unit_slope(u, two, c)) for u in (p, q, g)}
(vp, vp_two), (vq, vq_two), (vg, vg_two) = (_operand_values[u] for u in (p, q, g))
(dp, dp_two), (dq, dq_two), (dg, dg_two) = (_operand_slopes[u] for u in (p, q, g))
own, own_two = own_slope(v, one, c), own_slope(v, two, c)
bent_f, bent_f_two = tangent(v, one), tangent(v, two)
_both_values = (at("values", v, one), at("values", v, two))
_rules, _rules_of_states = at("jet rules", v, c), at("jet rules", v, STATES)

_mixed = (at("intervals", v, a), at("ranges", g, a), at("spreads", v, a))

# A gate's mixture is as steep, and as bent, as at the worse end of the gate.
BETWEEN = tuple(
    step(
        f"{name} between the ends",
        le(vg * jet(p, c) + (1 - vg) * jet(q, c) + rest, jet(v, c)),
        forall=(v, a, c),
        given=(has_kind(MIXTURE),),
    ).by(at("ranges", g, a), _rules)
    for name, jet, rest in (("steep", steep, mixed_steep), ("bent", bent, mixed_bent))
)

RULES_OF_UNITS = (
    UnitRule(
        PRODUCT,
        "a product",
        (p, q),
        slope=((vp, dq), (vq, dp)),
        turning=((vp, dq - dq_two), (vq, dp - dp_two)),
        value_uses=(*_both_values, at("sizes", p, a), at("sizes", q, b), _rules_of_states),
        slope_uses=(at("sizes", p, a), at("sizes", q, a), _rules),
        bend_uses=(at("sizes", p, a), at("sizes", q, a), _rules),
        cross_terms=((vp - vp_two, dq_two), (vq - vq_two, dp_two)),
        cross_bound=steep(p, STATES) * steep(q, c) + steep(q, STATES) * steep(p, c),
    ),
    UnitRule(
        ACTIVATION,
        "an activation",
        (p,),
        slope=((bent_f, dp),),
        turning=((bent_f, dp - dp_two),),
        value_uses=(at("activations", v, a, b), _rules_of_states),
        slope_uses=(at("activations", v, a, a), _rules),
        bend_uses=(at("activations", v, a, a), _rules),
        cross_terms=((bent_f - bent_f_two, dp_two),),
        cross_bound=bend_most(v) * steep(p, STATES) * steep(p, c),
        crosses=(at("curvatures", v, a, b),),
    ),
    UnitRule(
        SUM,
        "a sum",
        (p, q),
        slope=((ONE, dp), (factor(v), dq), (ONE, own)),
        turning=((ONE, dp - dp_two), (factor(v), dq - dq_two), (ONE, own - own_two)),
        value_uses=(*_both_values, _rules_of_states),
        slope_uses=(at("own weights", v, a, c), _rules),
        bend_uses=(at("own slopes", v, a, b, c), _rules),
    ),
    UnitRule(
        MIXTURE,
        "a mixture",
        (g, p, q),
        slope=((vp - vq, dg), (vg, dp), (1 - vg, dq)),
        turning=((vp - vq, dg - dg_two), (vg, dp - dp_two), (1 - vg, dq - dq_two)),
        value_uses=(
            *_both_values,
            at("intervals", v, a),
            at("ranges", g, a),
            at("spreads", v, b),
            at("steep between the ends", v, a, STATES),
        ),
        slope_uses=(*_mixed, at("steep between the ends", v, a, c)),
        bend_uses=(*_mixed, at("bent between the ends", v, a, c)),
        cross_terms=(
            (vp - vq - vp_two + vq_two, dg_two),
            (vg - vg_two, dp_two),
            (vg_two - vg, dq_two),
        ),
        cross_bound=mixed_crossing,
    ),
)


STEEP_BETWEEN, BENT_BETWEEN = BETWEEN


def _of_all(
    name: str, goal: Callable[[Expr], Statement], forall: tuple[Symbol, ...], *uses: Use
) -> Step:
    """Step: the goal for all units of at most j operations, by induction on j."""
    block = c if c in forall else jets.STATES
    leaf = at("leaves", v, a, b if b in forall else a, block)
    rules = tuple(at(f"{name} of {rule.name}", *forall) for rule in RULES_OF_UNITS)
    all_units_step, _ = all_unit_steps(
        f"{name}s", goal(v), forall, leaf, (*rules, *uses), *OPERANDS
    )
    return all_units_step


RANGES_OF_UNITS = (*RANGES, SIZES, SPREADS)
VALUES_OF_UNITS = (
    *RANGES_OF_UNITS,
    STEEP_BETWEEN,
    *(rule.value_step for rule in RULES_OF_UNITS),
    _of_all("value", value_change, (v, a, b)),
)
SLOPES = (*(rule.slope_step for rule in RULES_OF_UNITS), _of_all("slope", slope_bound, (v, a, c)))

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
    _of_all(
        "bend", slope_change, (v, a, b, c), *(at(step.id, v, a, b, c, j) for step in CROSSINGS)
    ),
)
