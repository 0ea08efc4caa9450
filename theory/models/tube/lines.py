"""One run near a recorded one: affine arithmetic, operation by operation (Lohner).

Of each unit u of a step, |u(s, x) − u(ŝ, x̄) − ⟨g, c⟩| ≤ β for the coordinates c of the state s and
of the input x.  Differences are times factors that are known up to a radius,

    p q − p̂ q̂ = ½(q + q̂)(p − p̂) + ½(p + p̂)(q − q̂),    f(p) − f(p̂) = f[p, p̂](p − p̂).
"""

from sympy import Abs, Expr

from rnnbounds.theory.axioms.entries import DIFFERENCES, LEAST_BOUND
from rnnbounds.theory.language import ONE, ZERO, Clause, Statement, Use, assume, at, eq, le, lt
from rnnbounds.theory.language.terms.jets import (
    ACTIVATION,
    LEAF,
    PRODUCT,
    SUM,
    factor,
    first,
    second,
    shown,
)
from rnnbounds.theory.language.terms.tubes import (
    anchor,
    boxed_by,
    carried,
    centre,
    chord,
    chord_off,
    divided,
    error,
    fed,
    later,
    line,
    linear,
    met,
    rest,
    spot,
    unboxed,
    unit_at,
    width,
)
from rnnbounds.theory.language.terms.unitary import part
from rnnbounds.theory.language.terms.variables import a, b, c, i, v
from rnnbounds.theory.language.terms.vectors import max_norm, phi
from rnnbounds.theory.models.jets.model import all_unit_steps, has_kind, program_assumption
from rnnbounds.theory.models.tube.affine import MULTIPLES, AffineForm, UncertainFactor, product_uses
from rnnbounds.theory.proof import Step, step

p, q = first(v), second(v)


def exact_value(u: Expr, on: Expr = line) -> Expr:
    """û, the unit's exact value from the computed state on the recorded input."""
    return unit_at(u, anchor(on), met(on))


def tube_value(u: Expr, on: Expr = line) -> Expr:
    """The unit's value at the state and input with the coordinates c."""
    return unit_at(u, spot(on, c), fed(on, c))


def deviation(u: Expr, on: Expr = line) -> AffineForm:
    """Affine form of u − û, the unit's deviation from its value on the recorded input."""
    return AffineForm(
        tube_value(u, on) - exact_value(u, on), linear(on, u, c), rest(on, u), width(on, u)
    )


def mean_factor(u: Expr) -> UncertainFactor:
    """The mean ½(u + û), within a radius of the computed value."""
    radius = error(line, u) + deviation(u).size / 2
    return UncertainFactor((tube_value(u) + exact_value(u)) / 2, centre(line, u), radius)


weight_factor = UncertainFactor(factor(v), factor(v))
slope_factor = UncertainFactor(divided(line, v, c), chord(line, v), chord_off(line, v))
PROGRAM = program_assumption(
    4,
    (p, q),
    "a step is a program: each unit is a leaf, or comes from units before it as a product, an "
    "activation or a sum p + c q, a mixture as g p + (1 − g) q; no unit comes from more operations "
    "than the program has",
)
VALUES = assume("values", "the values of products and sums", forall=(v, a, b)).that(
    Clause(eq(unit_at(v, a, b), unit_at(p, a, b) * unit_at(q, a, b)), (has_kind(PRODUCT),)),
    Clause(eq(unit_at(v, a, b), unit_at(p, a, b) + factor(v) * unit_at(q, a, b)), (has_kind(SUM),)),
)
RUNNING = assume(
    "running errors",
    "each float64 value on the recorded input is within its running error of the exact value from "
    "the computed state, and those of a step are the next computed state",
    forall=(line, v, i),
    inclusion=True,
).that(
    le(Abs(exact_value(v) - centre(line, v)), error(line, v)),
    eq(part(anchor(later(line)), i), centre(line, shown(i))),
)
LEAVES = assume(
    "leaves",
    "the affine form of a leaf: the generators of its entry of the state, δ along a coordinate of "
    "its own of an entry of the input, none of what is the same for all runs",
    forall=(line, v, c),
).that(Clause(deviation(v).enclosure, (has_kind(LEAF),)))


def operation_clauses(form: AffineForm, *parts: tuple[AffineForm, ...]) -> tuple[Clause, ...]:
    """Clauses: the affine form of a sum, product or activation sums up its operands' `parts`."""
    kinds = zip((SUM, PRODUCT, ACTIVATION), parts, strict=True)
    return tuple(
        Clause(form.collects(*operands), (has_kind(number),)) for number, operands in kinds
    )


OF_SUM = (deviation(p), deviation(q).scale(weight_factor))
OF_PRODUCT = (deviation(p).scale(mean_factor(q)), deviation(q).scale(mean_factor(p)))
OF_ACTIVATION = (deviation(p).scale(slope_factor),)
FORMS = assume(
    "affine forms",
    "Σ |g_j| bounds ⟨g, c⟩; the generators of a sum, a product or an activation are those of its "
    "operands times known numbers: 1 and c, the operands' values, a slope; to its rest go their "
    "rests times what bounds the factors, their generators times what the factors are off by, and "
    "all that is rounded",
    forall=(line, v, c),
).that(
    le(Abs(linear(line, v, c)), width(line, v)),
    *operation_clauses(deviation(v), OF_SUM, OF_PRODUCT, OF_ACTIVATION),
)


def in_tube(u: Expr, on: Expr = line) -> Statement:
    """Statement that the unit's value is in the reachtube around its computed value."""
    return le(Abs(tube_value(u, on) - centre(on, u)), error(on, u) + deviation(u, on).size)


CHORDS = assume(
    "divided differences",
    "f(u) − f(û) = f[u, û](u − û), where f[u, û] is the mean of f′ between the two, within the "
    "radius of the known slope for arguments in the reachtube",
    forall=(line, v, c),
).that(
    Clause(
        eq(deviation(v).value, slope_factor.exact * deviation(p).value), (has_kind(ACTIVATION),)
    ),
    Clause(slope_factor.is_near, (has_kind(ACTIVATION), in_tube(p))),
)
NEXT_STATE = assume(
    "next state",
    "the entries of φ(s, x) are units; what is left out of the generators of the i-th, its rest "
    "and its running error go to box_i",
    forall=(line, a, b, c, v, i),
).that(
    eq(part(phi(a, b), i), unit_at(shown(i), a, b)),
    le(
        Abs(part(carried(line, c), i) - linear(line, shown(i), c))
        + rest(line, shown(i))
        + error(line, shown(i)),
        boxed_by(line, i),
    ),
    lt(ZERO, boxed_by(line, i)),
    eq(boxed_by(line, i) * part(unboxed(line) * v, i), part(v, i)),
)
ASSUMED = (PROGRAM, VALUES, RUNNING, LEAVES, FORMS, CHORDS, NEXT_STATE)


enclosure = deviation(v).enclosure
_variables = (line, v, c)
_operands = (deviation(p).enclosure, deviation(q).enclosure)
_forms = at("affine forms", *_variables)
_values = (at("values", v, spot(line, c), fed(line, c)), at("values", v, anchor(line), met(line)))


def _half_product_step(name: str, u: Expr, by: Expr) -> Step:
    """Step: affine form of an operand's deviation times the mean of the other one."""
    return step(name, deviation(u).scale(mean_factor(by)).enclosure, _variables, _operands).by(
        at("means", line, by, c),
        at("affine forms", line, u, c),
        deviation(u).scaling_use(mean_factor(by)),
    )


OPERATIONS = (
    step("off of a sum", enclosure, _variables, (has_kind(SUM), *_operands)).by(
        *_values,
        _forms,
        at("affine forms", line, q, c),
        deviation(q).scaling_use(weight_factor),
        *product_uses(OF_SUM[1]),
    ),
    step("off of a product", enclosure, _variables, (has_kind(PRODUCT), *_operands)).by(
        _forms,
        at("a product moves", *_variables),
        at("first by second", *_variables),
        at("second by first", *_variables),
    ),
    step(
        "off of an activation",
        enclosure,
        _variables,
        (has_kind(ACTIVATION), deviation(p).enclosure),
    ).by(
        _forms,
        at("affine forms", line, p, c),
        at("running errors", line, p, 0),
        at("divided differences", *_variables),
        deviation(p).scaling_use(slope_factor),
        *product_uses(*OF_ACTIVATION),
    ),
)
_operations = tuple(at(operation.id, *_variables) for operation in OPERATIONS)
UNITS = (
    MULTIPLES,
    step("means", mean_factor(v).is_near, _variables, (enclosure,)).by(
        at("running errors", line, v, 0), _forms
    ),
    _half_product_step("first by second", p, q),
    _half_product_step("second by first", q, p),
    step(
        "a product moves",
        eq(deviation(v).value, OF_PRODUCT[0].value + OF_PRODUCT[1].value),
        _variables,
        (has_kind(PRODUCT),),
    ).by(*_values, *product_uses(*OF_PRODUCT)),
    *OPERATIONS,
    *all_unit_steps("offs", enclosure, _variables, at("leaves", *_variables), _operations, p, q),
)


def residual_steps(
    name: str, residual: Expr, box: Expr, forall: tuple[Expr, ...], *uses: Use
) -> tuple[Step, Step]:
    """Steps: each entry of the residual is within the box, and so is the whole."""
    return (
        step(f"{name}, each entry", le(Abs(part(box * residual, i)), ONE), (i,)).by(*uses),
        step(name, le(max_norm(box * residual), ONE), forall).by(
            f"{name}, each entry", LEAST_BOUND.at(1, box * residual)
        ),
    )


next_state, next_anchor = phi(spot(line, c), fed(line, c)), anchor(later(line))
RESIDUAL = next_state - next_anchor - carried(line, c)
LINES = (
    *UNITS,
    *residual_steps(
        "next state in the box",
        RESIDUAL,
        unboxed(line),
        (line, c),
        DIFFERENCES.at(next_state - next_anchor, carried(line, c), i),
        DIFFERENCES.at(next_state, next_anchor, i),
        at("next state", line, spot(line, c), fed(line, c), c, RESIDUAL, i),
        at("running errors", line, shown(i), i),
        at("offs", line, shown(i), c),
    ),
)
