"""How far two runs under the same inputs come apart, beyond the two that are computed.

With D = (u − u′) − (û − û′), o = u − û and o′ = u′ − û′ it is, for what mixes two units,

    D(p q) = H(p, q) + H(q, p),    H(p, q) = m D(q) + ½d(o + o′)(p) + ½(o + o′)(p) D(q),

m = ½(p̂ + p̂′) and d = q̂ − q̂′; and D(f(p)) is D, o and o′ of p times mean slopes, up to a rest.
"""

from sympy import Abs, Add, Expr

from rnnbounds.theory.axioms.entries import DIFFERENCES
from rnnbounds.theory.language import ZERO, Clause, Statement, Use, assume, at, eq, le, lt
from rnnbounds.theory.language.terms.jets import ACTIVATION, LEAF, PRODUCT, SUM, shown
from rnnbounds.theory.language.terms.tubes import (
    anchor,
    centre,
    error,
    fed,
    gap_boxed_by,
    gap_carried,
    gap_linear,
    gap_rest,
    gap_unboxed,
    gap_width,
    later,
    lost,
    met,
    one,
    other_unit,
    pair,
    spot,
    turn,
    turn_at,
    turn_off,
    two,
    unit,
)
from rnnbounds.theory.language.terms.unitary import part
from rnnbounds.theory.language.terms.variables import c, i, v
from rnnbounds.theory.language.terms.vectors import phi
from rnnbounds.theory.models.jets.model import all_unit_steps, has_kind
from rnnbounds.theory.models.tube.affine import AffineForm, UncertainFactor, product_uses
from rnnbounds.theory.models.tube.lines import (
    deviation,
    exact_value,
    in_tube,
    operation_clauses,
    p,
    q,
    residual_steps,
    weight_factor,
)
from rnnbounds.theory.proof import Step, step

TWO = (one(pair), two(pair))


def gap(u: Expr) -> AffineForm:
    """Affine form of D = (u − u′) − (û − û′)."""
    first, second = (deviation(u, on).value for on in TWO)
    forms = (gap_linear(pair, u, c), gap_rest(pair, u), gap_width(pair, u))
    return AffineForm(first - second, *forms)


def middle(u: Expr) -> UncertainFactor:
    """The factor ½(û + û′), within a radius of the computed one."""
    return UncertainFactor(
        Add(*(exact_value(u, on) for on in TWO)) / 2,
        Add(*(centre(on, u) for on in TWO)) / 2,
        Add(*(error(on, u) for on in TWO)) / 2,
    )


def half_gap(u: Expr) -> UncertainFactor:
    """The factor ½(û − û′), within a radius of the computed one."""
    return UncertainFactor(
        (exact_value(u, TWO[0]) - exact_value(u, TWO[1])) / 2,
        (centre(TWO[0], u) - centre(TWO[1], u)) / 2,
        Add(*(error(on, u) for on in TWO)) / 2,
    )


def half_off(u: Expr) -> UncertainFactor:
    """The factor ½(o + o′), within a radius of 0."""
    values = Add(*(deviation(u, on).value for on in TWO)) / 2
    return UncertainFactor(values, ZERO, Add(*(deviation(u, on).size for on in TWO)) / 2)


def product_half(by: Expr, u: Expr) -> tuple[AffineForm, ...]:
    """Parts of H(by, u), whose sum over both orders is D of a product."""
    deviations = (deviation(by, on).scale(half_gap(u)) for on in TWO)
    return (gap(u).scale(middle(by)), *deviations, gap(u).scale(half_off(by)))


def _slope_term(m: int, z: AffineForm) -> tuple[AffineForm, UncertainFactor]:
    return z, UncertainFactor(turn(pair, v, m, c), turn_at(pair, v, m), turn_off(pair, v, m))


SLOPE_TERMS = tuple(
    _slope_term(m, z) for m, z in enumerate((gap(p), *(deviation(p, on) for on in TWO)))
)
_slope_forms = tuple(z.scale(by) for z, by in SLOPE_TERMS)
remainder = gap(v).value - Add(*(part.value for part in _slope_forms))
OF_SUM = (gap(p), gap(q).scale(weight_factor))
OF_PRODUCT = (*product_half(p, q), *product_half(q, p))
OF_ACTIVATION = (*_slope_forms, AffineForm(remainder, ZERO, lost(pair, v)))
LEAVES = assume(
    "leaves of two runs",
    "the affine form of how far two runs are apart in a leaf: the generators of the difference of "
    "the states in its entry, none of an input, which both meet",
    forall=(pair, v, c),
).that(Clause(gap(v).enclosure, (has_kind(LEAF),)))
FORMS = assume(
    "affine forms of two runs",
    "Σ |g_j| bounds ⟨g, c⟩; the generators of a sum, a product or an activation are those of the "
    "differences of its operands, and of how far each run is off, times known numbers; to its rest "
    "go theirs times what bounds the factors, their generators times what the factors are off by, "
    "and all that is rounded",
    forall=(pair, v, c),
).that(
    le(Abs(gap_linear(pair, v, c)), gap_width(pair, v)),
    *operation_clauses(gap(v), OF_SUM, OF_PRODUCT, OF_ACTIVATION),
)
_there = (has_kind(ACTIVATION), *(in_tube(p, on) for on in TWO), le(Abs(gap(p).value), gap(p).size))
CHORDS = assume(
    "divided differences of two runs",
    "for arguments in the reachtube (f(u) − f(u′)) − (f(û) − f(û′)) is D, o and o′ times mean "
    "slopes of f, each within the radius of a known one, up to a known rest: f[u, u′] to the first "
    "order, or f[u, û] and f[u′, û′]",
    forall=(pair, v, c),
).that(
    Clause(le(Abs(remainder), lost(pair, v)), _there),
    *(Clause(by.is_near, _there) for _, by in SLOPE_TERMS),
)
NEXT_STATE = assume(
    "next difference",
    "the box of the i-th difference is at least the generators left out of it, its rest and both "
    "running errors",
    forall=(pair, c, v, i),
).that(
    le(
        Abs(part(gap_carried(pair, c), i) - gap_linear(pair, shown(i), c))
        + gap_rest(pair, shown(i))
        + Add(*(error(on, shown(i)) for on in TWO)),
        gap_boxed_by(pair, i),
    ),
    lt(ZERO, gap_boxed_by(pair, i)),
    eq(gap_boxed_by(pair, i) * part(gap_unboxed(pair) * v, i), part(v, i)),
)
ASSUMED = (LEAVES, FORMS, CHORDS, NEXT_STATE)


enclosure = gap(v).enclosure
_variables = (pair, v, c)
_forms, _operands = (
    at("affine forms of two runs", *_variables),
    (gap(p).enclosure, gap(q).enclosure),
)
_values = tuple(
    at("values", v, *at_place)
    for on in TWO
    for at_place in ((spot(on, c), fed(on, c)), (anchor(on), met(on)))
)


def _use_both_lines(law: str, *terms: Expr) -> tuple[Use, ...]:
    """Uses of the law for both runs."""
    return tuple(at(law, on, *terms) for on in TWO)


def _half_part_step(
    name: str, z: AffineForm, by: UncertainFactor, given: tuple[Statement, ...], *uses: Use
) -> Step:
    """Step: one part of H has its affine form."""
    return step(name, z.scale(by).enclosure, _halved, given).by(*uses, z.scaling_use(by))


_halved, _parts = (pair, unit, other_unit, c), product_half(unit, other_unit)
_other_gap = gap(other_unit)
_given = (_other_gap.enclosure,)
_gap_use = at("affine forms of two runs", pair, other_unit, c)
HALF_PARTS = (
    _half_part_step(
        "gap by middles", gap(other_unit), middle(unit), _given, _gap_use, at("middles", pair, unit)
    ),
    *(
        _half_part_step(
            f"{name} by half the difference",
            deviation(unit, on),
            half_gap(other_unit),
            (),
            at("offs", on, unit, c),
            at("affine forms", on, unit, c),
            at("halves apart", pair, other_unit),
        )
        for name, on in zip(("first", "second"), TWO, strict=True)
    ),
    _half_part_step(
        "gap by halves",
        gap(other_unit),
        half_off(unit),
        _given,
        _gap_use,
        at("halves off", pair, unit, c),
    ),
)
HALF = (
    step("middles", middle(v).is_near, (pair, v)).by(*_use_both_lines("running errors", v, 0)),
    step("halves apart", half_gap(v).is_near, (pair, v)).by(
        *_use_both_lines("running errors", v, 0)
    ),
    step("halves off", half_off(v).is_near, _variables).by(
        *_use_both_lines("offs", v, c), *_use_both_lines("affine forms", v, c)
    ),
    *HALF_PARTS,
    step(
        "half of a product",
        le(
            Abs(Add(*(z.value for z in _parts)) - Add(*(z.linear for z in _parts))),
            Add(*(z.rest for z in _parts)),
        ),
        _halved,
        _given,
    ).by(*(at(part.id, *_halved) for part in HALF_PARTS)),
    step(
        "a product moves apart",
        eq(gap(v).value, Add(*(z.value for z in OF_PRODUCT))),
        _variables,
        (has_kind(PRODUCT),),
    ).by(*_values, *product_uses(*OF_PRODUCT)),
)
OPERATIONS = (
    step("gap of a sum", enclosure, _variables, (has_kind(SUM), *_operands)).by(
        *_values,
        _forms,
        at("affine forms of two runs", pair, q, c),
        gap(q).scaling_use(weight_factor),
        *product_uses(OF_SUM[1]),
    ),
    step("gap of a product", enclosure, _variables, (has_kind(PRODUCT), *_operands)).by(
        _forms,
        at("a product moves apart", *_variables),
        at("half of a product", pair, p, q, c),
        at("half of a product", pair, q, p, c),
    ),
    step(
        "gap of an activation", enclosure, _variables, (has_kind(ACTIVATION), gap(p).enclosure)
    ).by(
        _forms,
        at("affine forms of two runs", pair, p, c),
        *_use_both_lines("offs", p, c),
        *_use_both_lines("affine forms", p, c),
        *_use_both_lines("running errors", p, 0),
        at("divided differences of two runs", *_variables),
        *(z.scaling_use(by) for z, by in SLOPE_TERMS),
    ),
)
_operations = tuple(at(operation.id, *_variables) for operation in OPERATIONS)
UNITS = (
    *HALF,
    *OPERATIONS,
    *all_unit_steps(
        "gaps", enclosure, _variables, at("leaves of two runs", *_variables), _operations, p, q
    ),
)
_next_states = tuple(phi(spot(on, c), fed(on, c)) for on in TWO)
_next_anchors = tuple(anchor(later(on)) for on in TWO)
RESIDUAL = (
    _next_states[0] - _next_states[1] - _next_anchors[0] + _next_anchors[1] - gap_carried(pair, c)
)
PAIRS = (
    *UNITS,
    *residual_steps(
        "next difference in the box",
        RESIDUAL,
        gap_unboxed(pair),
        (pair, c),
        DIFFERENCES.at(
            _next_states[0] - _next_states[1] - _next_anchors[0] + _next_anchors[1],
            gap_carried(pair, c),
            i,
        ),
        DIFFERENCES.at(_next_states[0] - _next_states[1], _next_anchors[0] - _next_anchors[1], i),
        DIFFERENCES.at(*_next_states, i),
        DIFFERENCES.at(*_next_anchors, i),
        at("next difference", pair, c, RESIDUAL, i),
        *(at("next state", on, spot(on, c), fed(on, c), c, RESIDUAL, i) for on in TWO),
        *_use_both_lines("running errors", shown(i), i),
        at("gaps", pair, shown(i), c),
    ),
)
