"""All units of a step, and so the next state, in the affine forms of a line."""

from sympy import Abs, Expr

from rnnbounds.theory.axioms.entries import DIFFERENCES, LEAST_BOUND
from rnnbounds.theory.language import ONE, Use, at, eq, le
from rnnbounds.theory.language.terms.jets import ACTIVATION, PRODUCT, SUM, shown
from rnnbounds.theory.language.terms.tubes import (
    anchor,
    carried,
    fed,
    later,
    line,
    met,
    spot,
    unboxed,
)
from rnnbounds.theory.language.terms.unitary import part
from rnnbounds.theory.language.terms.variables import c, i, v
from rnnbounds.theory.language.terms.vectors import max_norm, phi
from rnnbounds.theory.models.jets.model import of_all_units, of_kind
from rnnbounds.theory.models.tube.affine import MULTIPLES, written_out
from rnnbounds.theory.models.tube.lines import (
    OF_ACTIVATION,
    OF_PRODUCT,
    OF_SUM,
    by_weight,
    mean,
    off,
    p,
    q,
    slope,
)
from rnnbounds.theory.proof import Step, step

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
