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
from rnnbounds.theory.models.jets.model import of_all_units, of_kind
from rnnbounds.theory.models.tube.affine import Affine, Factor, written_out
from rnnbounds.theory.models.tube.lines import (
    by_weight,
    exact,
    gathered,
    located,
    off,
    p,
    q,
    residual_steps,
)
from rnnbounds.theory.proof import Step, step

TWO = (one(pair), two(pair))


def gap(u: Expr) -> Affine:
    """D."""
    first, second = (off(u, on).value for on in TWO)
    forms = (gap_linear(pair, u, c), gap_rest(pair, u), gap_width(pair, u))
    return Affine(first - second, *forms)


def middle(u: Expr) -> Factor:
    """½(û + û′)."""
    return Factor(
        Add(*(exact(u, on) for on in TWO)) / 2,
        Add(*(centre(on, u) for on in TWO)) / 2,
        Add(*(error(on, u) for on in TWO)) / 2,
    )


def half_apart(u: Expr) -> Factor:
    """½(û − û′)."""
    return Factor(
        (exact(u, TWO[0]) - exact(u, TWO[1])) / 2,
        (centre(TWO[0], u) - centre(TWO[1], u)) / 2,
        Add(*(error(on, u) for on in TWO)) / 2,
    )


def half_off(u: Expr) -> Factor:
    """½(o + o′)."""
    values = Add(*(off(u, on).value for on in TWO)) / 2
    return Factor(values, ZERO, Add(*(off(u, on).reach for on in TWO)) / 2)


def half(by: Expr, u: Expr) -> tuple[Affine, ...]:
    """H(by, u), in parts."""
    turned = (off(by, on).times(half_apart(u)) for on in TWO)
    return (gap(u).times(middle(by)), *turned, gap(u).times(half_off(by)))


def _turned(m: int, z: Affine) -> tuple[Affine, Factor]:
    return z, Factor(turn(pair, v, m, c), turn_at(pair, v, m), turn_off(pair, v, m))


TURNS = tuple(_turned(m, z) for m, z in enumerate((gap(p), *(off(p, on) for on in TWO))))
_turns = tuple(z.times(by) for z, by in TURNS)
remainder = gap(v).value - Add(*(part.value for part in _turns))
OF_SUM = (gap(p), gap(q).times(by_weight))
OF_PRODUCT = (*half(p, q), *half(q, p))
OF_ACTIVATION = (*_turns, Affine(remainder, ZERO, lost(pair, v)))
LEAVES = assume(
    "leaves of two runs",
    "the affine form of how far two runs are apart in a leaf: the generators of the difference of "
    "the states in its entry, none of an input, which both meet",
    forall=(pair, v, c),
).that(Clause(gap(v).known, (of_kind(LEAF),)))
FORMS = assume(
    "affine forms of two runs",
    "Σ |g_j| bounds ⟨g, c⟩; the generators of a sum, a product or an activation are those of the "
    "differences of its operands, and of how far each run is off, times known numbers; to its rest "
    "go theirs times what bounds the factors, their generators times what the factors are off by, "
    "and all that is rounded",
    forall=(pair, v, c),
).that(
    le(Abs(gap_linear(pair, v, c)), gap_width(pair, v)),
    *gathered(gap(v), OF_SUM, OF_PRODUCT, OF_ACTIVATION),
)
_there = (of_kind(ACTIVATION), *(located(p, on) for on in TWO), le(Abs(gap(p).value), gap(p).reach))
CHORDS = assume(
    "divided differences of two runs",
    "for arguments in the reachtube (f(u) − f(u′)) − (f(û) − f(û′)) is D, o and o′ times mean "
    "slopes of f, each within the radius of a known one, up to a known rest: f[u, u′] to the first "
    "order, or f[u, û] and f[u′, û′]",
    forall=(pair, v, c),
).that(
    Clause(le(Abs(remainder), lost(pair, v)), _there),
    *(Clause(by.within, _there) for _, by in TURNS),
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
