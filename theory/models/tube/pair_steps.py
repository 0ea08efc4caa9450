"""How far two runs are apart in all units of a step, and so in the next state."""

from sympy import Abs, Add, Expr

from rnnbounds.theory.axioms.entries import DIFFERENCES
from rnnbounds.theory.language import Statement, Use, at, eq, le
from rnnbounds.theory.language.terms.jets import ACTIVATION, PRODUCT, SUM, shown
from rnnbounds.theory.language.terms.tubes import (
    anchor,
    fed,
    gap_carried,
    gap_unboxed,
    later,
    met,
    other_unit,
    pair,
    spot,
    unit,
)
from rnnbounds.theory.language.terms.variables import c, i, v
from rnnbounds.theory.language.terms.vectors import phi
from rnnbounds.theory.models.jets.model import of_all_units, of_kind
from rnnbounds.theory.models.tube.affine import Affine, Factor, written_out
from rnnbounds.theory.models.tube.line_steps import residual_steps
from rnnbounds.theory.models.tube.lines import by_weight, off, p, q
from rnnbounds.theory.models.tube.pairs import (
    OF_PRODUCT,
    OF_SUM,
    TURNS,
    TWO,
    gap,
    half,
    half_apart,
    half_off,
    middle,
)
from rnnbounds.theory.proof import Step, step

known = gap(v).known
_all = (pair, v, c)
_forms, _operands = at("affine forms of two runs", *_all), (gap(p).known, gap(q).known)
_values = tuple(
    at("values", v, *at_place)
    for on in TWO
    for at_place in ((spot(on, c), fed(on, c)), (anchor(on), met(on)))
)


def _both(law: str, *terms: Expr) -> tuple[Use, ...]:
    """The law of both lines."""
    return tuple(at(law, on, *terms) for on in TWO)


def _part(name: str, z: Affine, by: Factor, given: tuple[Statement, ...], *uses: Use) -> Step:
    """One part of a half, from what is known of the factor and of the form."""
    return step(name, z.times(by).known, _halved, given).by(*uses, z.scaled(by))


_halved, _parts = (pair, unit, other_unit, c), half(unit, other_unit)
_apart = gap(other_unit)
_given = (_apart.known,)
_of_gap = at("affine forms of two runs", pair, other_unit, c)
HALF_PARTS = (
    _part(
        "gap by middles", gap(other_unit), middle(unit), _given, _of_gap, at("middles", pair, unit)
    ),
    *(
        _part(
            f"{name} by half the difference",
            off(unit, on),
            half_apart(other_unit),
            (),
            at("offs", on, unit, c),
            at("affine forms", on, unit, c),
            at("halves apart", pair, other_unit),
        )
        for name, on in zip(("first", "second"), TWO, strict=True)
    ),
    _part(
        "gap by halves",
        gap(other_unit),
        half_off(unit),
        _given,
        _of_gap,
        at("halves off", pair, unit, c),
    ),
)
HALF = (
    step("middles", middle(v).within, (pair, v)).by(*_both("running errors", v, 0)),
    step("halves apart", half_apart(v).within, (pair, v)).by(*_both("running errors", v, 0)),
    step("halves off", half_off(v).within, _all).by(
        *_both("offs", v, c), *_both("affine forms", v, c)
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
        _all,
        (of_kind(PRODUCT),),
    ).by(*_values, *written_out(*OF_PRODUCT)),
)
OPERATIONS = (
    step("gap of a sum", known, _all, (of_kind(SUM), *_operands)).by(
        *_values,
        _forms,
        at("affine forms of two runs", pair, q, c),
        gap(q).scaled(by_weight),
        *written_out(OF_SUM[1]),
    ),
    step("gap of a product", known, _all, (of_kind(PRODUCT), *_operands)).by(
        _forms,
        at("a product moves apart", *_all),
        at("half of a product", pair, p, q, c),
        at("half of a product", pair, q, p, c),
    ),
    step("gap of an activation", known, _all, (of_kind(ACTIVATION), gap(p).known)).by(
        _forms,
        at("affine forms of two runs", pair, p, c),
        *_both("offs", p, c),
        *_both("affine forms", p, c),
        *_both("running errors", p, 0),
        at("divided differences of two runs", *_all),
        *(z.scaled(by) for z, by in TURNS),
    ),
)
_made = tuple(at(operation.id, *_all) for operation in OPERATIONS)
UNITS = (
    *HALF,
    *OPERATIONS,
    *of_all_units("gaps", known, _all, at("leaves of two runs", *_all), _made, p, q),
)
_moved = tuple(phi(spot(on, c), fed(on, c)) for on in TWO)
_ahead = tuple(anchor(later(on)) for on in TWO)
RESIDUAL = _moved[0] - _moved[1] - _ahead[0] + _ahead[1] - gap_carried(pair, c)
PAIRS = (
    *UNITS,
    *residual_steps(
        "next difference in the box",
        RESIDUAL,
        gap_unboxed(pair),
        (pair, c),
        DIFFERENCES.at(_moved[0] - _moved[1] - _ahead[0] + _ahead[1], gap_carried(pair, c), i),
        DIFFERENCES.at(_moved[0] - _moved[1], _ahead[0] - _ahead[1], i),
        DIFFERENCES.at(*_moved, i),
        DIFFERENCES.at(*_ahead, i),
        at("next difference", pair, c, RESIDUAL, i),
        *(at("next state", on, spot(on, c), fed(on, c), c, RESIDUAL, i) for on in TWO),
        *_both("running errors", shown(i), i),
        at("gaps", pair, shown(i), c),
    ),
)
