"""The jets of all units of a program, by induction on its operations, and of its step's rows."""

from collections.abc import Callable

from sympy import Abs, Expr, Symbol

from rnnbounds.theory.axioms.entries import DIFFERENCES
from rnnbounds.theory.axioms.unitary import MONOTONE_NORM
from rnnbounds.theory.language import Statement, Use, at, le
from rnnbounds.theory.language.terms import jets
from rnnbounds.theory.language.terms.unitary import part
from rnnbounds.theory.language.terms.variables import a, b, c, i, j, v
from rnnbounds.theory.language.terms.vectors import weighted
from rnnbounds.theory.models.jets.model import OPERANDS, of_all_units
from rnnbounds.theory.models.jets.ranges import RANGES, SIZES, SPREADS
from rnnbounds.theory.models.jets.rules import (
    BETWEEN,
    RULES_OF_UNITS,
    slope_bounded,
    slopes_move,
    values_move,
)
from rnnbounds.theory.proof import Step, step

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
