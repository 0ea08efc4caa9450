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
from rnnbounds.theory.models.jets.model import of_all_units, of_kind, program
from rnnbounds.theory.models.tube.affine import MULTIPLES, Affine, Factor, written_out
from rnnbounds.theory.proof import Step, step

p, q = first(v), second(v)


def exact(u: Expr, on: Expr = line) -> Expr:
    """û, the unit's exact value from the computed state on the recorded input."""
    return unit_at(u, anchor(on), met(on))


def value(u: Expr, on: Expr = line) -> Expr:
    """The unit's value with the coordinates c."""
    return unit_at(u, spot(on, c), fed(on, c))


def off(u: Expr, on: Expr = line) -> Affine:
    """u − û."""
    return Affine(value(u, on) - exact(u, on), linear(on, u, c), rest(on, u), width(on, u))


def mean(u: Expr) -> Factor:
    """½(u + û), near the computed value."""
    radius = error(line, u) + off(u).reach / 2
    return Factor((value(u) + exact(u)) / 2, centre(line, u), radius)


by_weight = Factor(factor(v), factor(v))
slope = Factor(divided(line, v, c), chord(line, v), chord_off(line, v))
PROGRAM = program(
    4,
    (p, q),
    "a step is a program: each unit is a leaf, or comes from units before it as a product, an "
    "activation or a sum p + c q, a mixture as g p + (1 − g) q; no unit comes from more operations "
    "than the program has",
)
VALUES = assume("values", "the values of products and sums", forall=(v, a, b)).that(
    Clause(eq(unit_at(v, a, b), unit_at(p, a, b) * unit_at(q, a, b)), (of_kind(PRODUCT),)),
    Clause(eq(unit_at(v, a, b), unit_at(p, a, b) + factor(v) * unit_at(q, a, b)), (of_kind(SUM),)),
)
RUNNING = assume(
    "running errors",
    "each float64 value on the recorded input is within its running error of the exact value from "
    "the computed state, and those of a step are the next computed state",
    forall=(line, v, i),
    inclusion=True,
).that(
    le(Abs(exact(v) - centre(line, v)), error(line, v)),
    eq(part(anchor(later(line)), i), centre(line, shown(i))),
)
LEAVES = assume(
    "leaves",
    "the affine form of a leaf: the generators of its entry of the state, δ along a coordinate of "
    "its own of an entry of the input, none of what is the same for all runs",
    forall=(line, v, c),
).that(Clause(off(v).known, (of_kind(LEAF),)))


def gathered(of: Affine, *parts: tuple[Affine, ...]) -> tuple[Clause, ...]:
    """Clauses: the affine form of a sum, product or activation sums up its operands' `parts`."""
    kinds = zip((SUM, PRODUCT, ACTIVATION), parts, strict=True)
    return tuple(Clause(of.gathers(*each), (of_kind(number),)) for number, each in kinds)


OF_SUM = (off(p), off(q).times(by_weight))
OF_PRODUCT = (off(p).times(mean(q)), off(q).times(mean(p)))
OF_ACTIVATION = (off(p).times(slope),)
FORMS = assume(
    "affine forms",
    "Σ |g_j| bounds ⟨g, c⟩; the generators of a sum, a product or an activation are those of its "
    "operands times known numbers: 1 and c, the operands' values, a slope; to its rest go their "
    "rests times what bounds the factors, their generators times what the factors are off by, and "
    "all that is rounded",
    forall=(line, v, c),
).that(
    le(Abs(linear(line, v, c)), width(line, v)),
    *gathered(off(v), OF_SUM, OF_PRODUCT, OF_ACTIVATION),
)


def located(u: Expr, on: Expr = line) -> Statement:
    """The unit is no further from its computed value than the reachtube is wide, and rounding."""
    return le(Abs(value(u, on) - centre(on, u)), error(on, u) + off(u, on).reach)


CHORDS = assume(
    "divided differences",
    "f(u) − f(û) = f[u, û](u − û), where f[u, û] is the mean of f′ between the two, within the "
    "radius of the known slope for arguments in the reachtube",
    forall=(line, v, c),
).that(
    Clause(eq(off(v).value, slope.exact * off(p).value), (of_kind(ACTIVATION),)),
    Clause(slope.within, (of_kind(ACTIVATION), located(p))),
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


known = off(v).known
_all = (line, v, c)
_operands = (off(p).known, off(q).known)
_forms = at("affine forms", *_all)
_values = (at("values", v, spot(line, c), fed(line, c)), at("values", v, anchor(line), met(line)))


def _by_mean(name: str, u: Expr, by: Expr) -> Step:
    """How far an operand is off, times the mean of the other one."""
    return step(name, off(u).times(mean(by)).known, _all, _operands).by(
        at("means", line, by, c), at("affine forms", line, u, c), off(u).scaled(mean(by))
    )


OPERATIONS = (
    step("off of a sum", known, _all, (of_kind(SUM), *_operands)).by(
        *_values,
        _forms,
        at("affine forms", line, q, c),
        off(q).scaled(by_weight),
        *written_out(OF_SUM[1]),
    ),
    step("off of a product", known, _all, (of_kind(PRODUCT), *_operands)).by(
        _forms,
        at("a product moves", *_all),
        at("first by second", *_all),
        at("second by first", *_all),
    ),
    step("off of an activation", known, _all, (of_kind(ACTIVATION), off(p).known)).by(
        _forms,
        at("affine forms", line, p, c),
        at("running errors", line, p, 0),
        at("divided differences", *_all),
        off(p).scaled(slope),
        *written_out(*OF_ACTIVATION),
    ),
)
_made = tuple(at(operation.id, *_all) for operation in OPERATIONS)
UNITS = (
    MULTIPLES,
    step("means", mean(v).within, _all, (known,)).by(at("running errors", line, v, 0), _forms),
    _by_mean("first by second", p, q),
    _by_mean("second by first", q, p),
    step(
        "a product moves",
        eq(off(v).value, OF_PRODUCT[0].value + OF_PRODUCT[1].value),
        _all,
        (of_kind(PRODUCT),),
    ).by(*_values, *written_out(*OF_PRODUCT)),
    *OPERATIONS,
    *of_all_units("offs", known, _all, at("leaves", *_all), _made, p, q),
)


def residual_steps(
    name: str, residual: Expr, box: Expr, forall: tuple[Expr, ...], *uses: Use
) -> tuple[Step, Step]:
    """No entry of what is left of a vector is larger than that of the box, for each of them is."""
    return (
        step(f"{name}, each entry", le(Abs(part(box * residual, i)), ONE), (i,)).by(*uses),
        step(name, le(max_norm(box * residual), ONE), forall).by(
            f"{name}, each entry", LEAST_BOUND.at(1, box * residual)
        ),
    )


moved, ahead = phi(spot(line, c), fed(line, c)), anchor(later(line))
RESIDUAL = moved - ahead - carried(line, c)
LINES = (
    *UNITS,
    *residual_steps(
        "next state in the box",
        RESIDUAL,
        unboxed(line),
        (line, c),
        DIFFERENCES.at(moved - ahead, carried(line, c), i),
        DIFFERENCES.at(moved, ahead, i),
        at("next state", line, spot(line, c), fed(line, c), c, RESIDUAL, i),
        at("running errors", line, shown(i), i),
        at("offs", line, shown(i), c),
    ),
)
