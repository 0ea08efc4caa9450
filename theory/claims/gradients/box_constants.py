"""The constants of any cell in the norm of the box, by jets (Miller & Hardt, section 3).

‖∂φ/∂w‖ ≤ L_w,  ‖∂φ/∂w(s) − ∂φ/∂w(s′)‖ ≤ β_wh ‖s − s′‖,  ‖∂φ/∂s(s) − ∂φ/∂s(s′)‖ ≤ β_hh ‖s − s′‖
"""

from sympy import Expr, Symbol

from rnnbounds.theory.axioms.entries import ROWS_OF_DIFFERENCE
from rnnbounds.theory.axioms.jets import LARGEST_ROW
from rnnbounds.theory.claims.contraction.box import CONTRACTS, PLAIN
from rnnbounds.theory.language import (
    ONE,
    ZERO,
    Assumption,
    Statement,
    Use,
    assume,
    at,
    eq,
    le,
    lt,
    symbols,
)
from rnnbounds.theory.language.terms.jets import (
    STATES,
    before,
    bent,
    bent_squares,
    block,
    depth,
    gap,
    in_largest,
    one,
    row,
    shown,
    steep,
    steep_squares,
    two,
    unit_slope,
    unit_weight,
)
from rnnbounds.theory.language.terms.networks import d_state, d_weights
from rnnbounds.theory.language.terms.variables import a, b, i, j, m, v, x
from rnnbounds.theory.language.terms.vectors import entry, weighted
from rnnbounds.theory.models.jets import units
from rnnbounds.theory.models.jets.model import (
    ACTIVATIONS,
    IMAGES,
    INTERVALS,
    LEAVES,
    MULTIPLIED,
    OWN,
    PROGRAM,
    RULES,
    VALUES,
    curvature_assumption,
)
from rnnbounds.theory.proof import Form, Step, step, theorem

L_w_box, beta_wh_box, beta_hh_box, L_x_box = symbols("L_w_box beta_wh_box beta_hh_box L_x_box")
dphi_w_box, dphi_w_gap_box, dphi_h_gap_box = symbols("dphi_w_box dphi_w_gap_box dphi_h_gap_box")
gate_state_gap_box, lam_box = symbols("gate_state_gap_box lam_box")

first_input = entry(x, 1)
state_derivative, state_derivative_two = d_state(one, first_input), d_state(two, first_input)
weight_derivative, weight_derivative_two = d_weights(one, first_input), d_weights(two, first_input)
DIFFERENTIATED = assume(
    "rows",
    "the rows of ∂φ/∂s and of ∂φ/∂w are derivatives of units, numbered so that the i-th comes "
    "from at most i operations and its weights lie in at most i blocks; ‖s‖_box = max |s_i|/v_i",
    forall=(a, i),
).that(
    eq(row(d_state(a, first_input), i), unit_slope(shown(i), a, STATES)),
    eq(row(d_weights(a, first_input), i), unit_slope(shown(i), a, before(i))),
    le(depth(shown(i)), i),
    lt(ZERO, unit_weight(i)),
    eq(in_largest, ONE),
)


def _slope_split(slope: Expr, last: Expr, rest: Expr) -> Statement:
    return eq(weighted(slope) ** 2, weighted(rest) ** 2 + weighted(last) ** 2)


def _block_slopes(state: Expr) -> tuple[Expr, Expr, Expr]:
    """In the first m + 1 blocks, in the last of them, and in those before it."""
    first, last, rest = (unit_slope(v, state, c) for c in (before(m + 1), block(m), before(m)))
    return first, last, rest


_slopes_one, _slopes_two = _block_slopes(one), _block_slopes(two)
BLOCKS = assume(
    "blocks",
    "the square of a derivative's Euclidean norm is the sum of those in the blocks of weights",
    forall=(v, a, b, m),
).that(
    eq(unit_slope(v, one, before(0)), ZERO),
    eq(unit_slope(v, two, before(0)), ZERO),
    _slope_split(*_slopes_one),
    _slope_split(*(here - there for here, there in zip(_slopes_one, _slopes_two, strict=True))),
    eq(steep_squares(v, 0), ZERO),
    eq(steep_squares(v, m + 1), steep_squares(v, m) + steep(v, block(m)) ** 2),
    eq(bent_squares(v, 0), ZERO),
    eq(bent_squares(v, m + 1), bent_squares(v, m) + bent(v, block(m)) ** 2),
)
PROGRAM_MODEL = (
    *(PROGRAM, VALUES, INTERVALS, IMAGES, ACTIVATIONS, OWN, RULES, LEAVES, DIFFERENTIATED),
)


def _blockwise_step(name: str, goal: Statement, forall: tuple[Symbol, ...], slopes: Use) -> Step:
    """Step: the goal over the first m blocks of units, by induction on m."""
    variables = (v, a, b if b in forall else a)
    return step(name, goal, forall=(*forall, j, m), given=(le(depth(v), j),)).by_induction(
        base=at("blocks", *variables, 0), step=(at("blocks", *variables, m), slopes), over=m
    )


def _constant_form(
    name: str,
    statement: Statement,
    constant: Assumption,
    model: tuple[Assumption, ...],
    steps: tuple[Step, ...],
    bound: Expr,
    operator: Expr,
    *uses: Use,
    note: str,
) -> Form:
    """Form: the bound on the whole operator, from that on each row."""
    row_step = step(
        "each row", le(weighted(row(operator, i)), bound * unit_weight(i)), forall=(i,)
    ).by(*uses)
    form = theorem(name, statement, (*model, constant), "cell", (*steps, row_step), note)
    return form.by("each row", at("rows", one, 0), LARGEST_ROW.at(bound, operator))


WEIGHTS = _constant_form(
    "box-weights",
    le(dphi_w_box, L_w_box),
    assume(
        "constants",
        "L_w_box is at least √(Σ ℓ_c²)/v_i over the blocks c of weights, of each row",
        forall=(i,),
    ).that(le(ZERO, L_w_box), le(steep_squares(shown(i), i), (L_w_box * unit_weight(i)) ** 2)),
    (*PROGRAM_MODEL, BLOCKS),
    (
        *units.RANGES_OF_UNITS,
        units.STEEP_BETWEEN,
        *units.SLOPES,
        _blockwise_step(
            "slopes in the weights",
            le(weighted(unit_slope(v, one, before(m))) ** 2, steep_squares(v, m)),
            (v, a),
            at("slopes of all units", v, a, block(m), j),
        ),
    ),
    L_w_box,
    weight_derivative,
    at("rows", one, i),
    at("slopes in the weights", shown(i), a, i, i),
    at("constants", i),
    note="any cell, by jets",
)
MIXED = _constant_form(
    "box-mixed",
    le(dphi_w_gap_box, beta_wh_box * gate_state_gap_box),
    assume(
        "constants",
        "β_wh_box is at least √(Σ s_sc²)/v_i over the blocks c of weights, of each row",
        forall=(i,),
    ).that(
        le(ZERO, beta_wh_box), le(bent_squares(shown(i), i), (beta_wh_box * unit_weight(i)) ** 2)
    ),
    (*PROGRAM_MODEL, curvature_assumption(beta_wh_box), MULTIPLIED, BLOCKS),
    (
        *units.VALUES_OF_UNITS,
        *units.SLOPES,
        *units.BENDS,
        _blockwise_step(
            "bends in the weights",
            le(
                weighted(unit_slope(v, one, before(m)) - unit_slope(v, two, before(m))) ** 2,
                bent_squares(v, m) * gap**2,
            ),
            (v, a, b),
            at("bends of all units", v, a, b, block(m), j),
        ),
    ),
    beta_wh_box * gap,
    weight_derivative - weight_derivative_two,
    ROWS_OF_DIFFERENCE.at(weight_derivative, weight_derivative_two, i),
    at("rows", one, i),
    at("rows", two, i),
    at("bends in the weights", shown(i), a, b, i, i),
    at("constants", i),
    note="any cell, by jets; β_hw is the same",
)
STATE = _constant_form(
    "box-state",
    le(dphi_h_gap_box, beta_hh_box * gate_state_gap_box),
    assume("constants", "β_hh_box is at least s_ss/v_i of each row", forall=(i,)).that(
        le(bent(shown(i), STATES), beta_hh_box * unit_weight(i))
    ),
    (*PROGRAM_MODEL, curvature_assumption(beta_hh_box), MULTIPLIED),
    (*units.VALUES_OF_UNITS, *units.SLOPES, *units.BENDS),
    beta_hh_box * gap,
    state_derivative - state_derivative_two,
    ROWS_OF_DIFFERENCE.at(state_derivative, state_derivative_two, i),
    at("rows", one, i),
    at("rows", two, i),
    at("bends of all units", shown(i), a, b, STATES, i),
    at("constants", i),
    note="any cell, by jets",
)

BOX_FORMS = (CONTRACTS, WEIGHTS, MIXED, STATE)
BOX_VARIANTS = (
    PLAIN,
    WEIGHTS.variant(
        "box-inputs-alone", "a cell's weights are taken for no more than its inputs", L_x_box
    ),
    MIXED.variant(
        "box-mixed-as-state",
        "the state bends the derivative in the weights no more than that in the state",
        beta_hh_box * gate_state_gap_box,
    ),
    STATE.variant(
        "box-first-order",
        "the second derivative is no larger than the first",
        lam_box * gate_state_gap_box,
    ),
)
