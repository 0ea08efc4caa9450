"""Assumptions of jets on a cell: its program, the ranges of its units, and the rules."""

from collections.abc import Iterable

from sympy import Abs, Expr, Integer, Mul, Symbol

from rnnbounds.theory.language import (
    ONE,
    ZERO,
    Assumption,
    Clause,
    Statement,
    Use,
    assume,
    at,
    eq,
    le,
)
from rnnbounds.theory.language.terms.jets import (
    ACTIVATION,
    LEAF,
    MIXTURE,
    PRODUCT,
    STATES,
    SUM,
    bend_most,
    bent,
    depth,
    factor,
    first,
    gap,
    gate,
    highest,
    kind,
    lowest,
    moves,
    multiplied,
    one,
    own_slope,
    reach,
    second,
    size,
    slope_most,
    spread,
    steep,
    tangent,
    tilt,
    two,
    unit_slope,
    unit_value,
)
from rnnbounds.theory.language.terms.unitary import part
from rnnbounds.theory.language.terms.variables import a, b, c, i, j, v, z
from rnnbounds.theory.language.terms.vectors import norm, weighted
from rnnbounds.theory.proof import Step, step
from rnnbounds.theory.proof.methods import HYPOTHESIS

p, q, g = first(v), second(v), gate(v)
OPERANDS = (p, q, g)
LENGTH = Symbol("operations", integer=True)  # of the program


def has_kind(number: int) -> Statement:
    """Statement that the unit v has the kind `number`."""
    return eq(kind(v), Integer(number))


def all_unit_steps(
    name: str,
    statement: Statement,
    forall: tuple[Symbol, ...],
    leaf_use: Use,
    uses: Iterable[Use],
    *operands: Expr,
) -> tuple[Step, Step]:
    """Steps that prove `statement` for every unit by induction on its depth: from
    `leaf_use` for leaves, from `uses` for units whose `operands` satisfy it."""
    premises, depth_use = ("given 1", at("program", v)), at(f"{name} of all units", *forall, LENGTH)
    return (
        step(f"{name} of all units", statement, (*forall, j), (le(depth(v), j),)).inductively(
            base=(*premises, at("program", p), leaf_use),
            step=(*premises, leaf_use, *uses, *(at(HYPOTHESIS, u) for u in operands)),
            others=(v,),
        ),
        step(name, statement, forall).by(depth_use, at("program", v)),
    )


def program_assumption(kinds: int, operands: tuple[Expr, ...], text: str) -> Assumption:
    """A program of units of so many kinds, each made of operands before it."""
    return assume("program", text, forall=(v,)).that(
        eq(Mul(*(kind(v) - number for number in range(kinds))), ZERO),
        le(ZERO, depth(v)),
        le(depth(v), LENGTH),
        *(Clause(le(depth(u) + 1, depth(v)), (le(ONE, kind(v)),)) for u in operands),
    )


def _clauses_of_kind(number: int, *statements: Statement) -> tuple[Clause, ...]:
    return tuple(Clause(statement, (has_kind(number),)) for statement in statements)


def _ends(unit: Expr) -> tuple[Expr, Expr]:
    return lowest(unit), highest(unit)


def _contains(low: Expr, high: Expr) -> tuple[Statement, Statement]:
    """The unit's interval reaches from the one number, or below, to the other, or above."""
    return le(lowest(v), low), le(high, highest(v))


PROGRAM = program_assumption(
    5,
    OPERANDS,
    "a step is a program: each unit is a leaf, or comes from units before it as a product, an "
    "activation, a sum p + c q or a mixture g p + (1 − g) q; no unit comes from more operations "
    "than the program has",
)
VALUES = assume("values", "the values of products, sums and mixtures", forall=(v, a)).that(
    *_clauses_of_kind(PRODUCT, eq(unit_value(v, a), unit_value(p, a) * unit_value(q, a))),
    *_clauses_of_kind(SUM, eq(unit_value(v, a), unit_value(p, a) + factor(v) * unit_value(q, a))),
    *_clauses_of_kind(
        MIXTURE,
        eq(
            unit_value(v, a),
            unit_value(g, a) * unit_value(p, a) + (1 - unit_value(g, a)) * unit_value(q, a),
        ),
    ),
)
INTERVALS = assume(
    "intervals",
    "each leaf lies in its interval: entries of the state in the box, what inputs and weights make "
    "alone in its range; the interval of a product, a sum or a mixture, with 0 ≤ g ≤ 1, contains "
    "what the ends of its operands' intervals give, in any combination; ū and sup |p − q| are "
    "read off the ends",
    forall=(v, a),
).that(
    *_clauses_of_kind(LEAF, le(lowest(v), unit_value(v, one)), le(unit_value(v, one), highest(v))),
    *_clauses_of_kind(
        PRODUCT,
        *(statement for y in _ends(p) for z in _ends(q) for statement in _contains(y * z, y * z)),
    ),
    *_clauses_of_kind(
        SUM,
        *(
            statement
            for z in _ends(q)
            for statement in _contains(lowest(p) + factor(v) * z, highest(p) + factor(v) * z)
        ),
    ),
    *_clauses_of_kind(
        MIXTURE,
        le(ZERO, lowest(g)),
        le(highest(g), ONE),
        *(
            statement
            for z in _ends(g)
            for statement in _contains(
                *(z * end(p) + (1 - z) * end(q) for end in (lowest, highest))
            )
        ),
        le(highest(p) - lowest(q), spread(v)),
        le(highest(q) - lowest(p), spread(v)),
    ),
    le(-size(v), lowest(v)),
    le(highest(v), size(v)),
)
_operand_in_range = (le(lowest(p), unit_value(p, one)), le(unit_value(p, one), highest(p)))
IMAGES = assume(
    "images",
    "the interval of an activation contains its values on the interval of its operand: those "
    "between its values at the ends, where it increases",
    forall=(v, a),
).that(
    *(
        Clause(statement, (has_kind(ACTIVATION), *_operand_in_range))
        for statement in _contains(unit_value(v, one), unit_value(v, one))
    )
)
_operand_change = unit_value(p, one) - unit_value(p, two)
ACTIVATIONS = assume(
    "activations",
    "sup |f′| on the interval where an activation is taken, at its corners on either side",
    forall=(v, a, b),
).that(
    *_clauses_of_kind(
        ACTIVATION,
        le(Abs(unit_value(v, one) - unit_value(v, two)), slope_most(v) * Abs(_operand_change)),
        le(Abs(tangent(v, one)), slope_most(v)),
    )
)


def curvature_assumption(constant: Expr) -> Assumption:
    """Assumption that sup |f″| is finite; false for ReLU, where `constant` is infinite."""
    return assume(
        "curvatures",
        "sup |f″| on the interval where an activation is taken is finite",
        forall=(v, a, b),
        condition=le(ZERO, constant),
    ).that(
        *_clauses_of_kind(
            ACTIVATION,
            le(ZERO, bend_most(v)),
            le(Abs(tangent(v, one) - tangent(v, two)), bend_most(v) * Abs(_operand_change)),
        )
    )


OWN = assume(
    "own weights",
    "a sum's derivative in its own weights consists of the factors of these weights; its reach "
    "bounds their Euclidean norm",
    forall=(v, a, c),
).that(le(weighted(own_slope(v, one, c)), reach(v, c)))
_own_slope_gap = own_slope(v, one, c) - own_slope(v, two, c)
MULTIPLIED = assume(
    "multiplied units",
    "these are units of the program, numbered so that the i-th comes from at most i operations, "
    "and a sum's tilt is the Euclidean norm of their ℓ_s",
    forall=(v, a, b, c, i, z),
).that(
    eq(part(own_slope(v, a, c), i), unit_value(multiplied(v, c, i), a)),
    eq(weighted(_own_slope_gap), norm(_own_slope_gap)),
    le(depth(multiplied(v, c, i)), i),
    eq(part(moves(v, c, z), i), z * steep(multiplied(v, c, i), STATES)),
    eq(norm(moves(v, c, z)), Abs(z) * tilt(v, c)),
)
LEAVES = assume(
    "leaves",
    "the jets of the leaves: derivatives of the entries of the state and of the weights are "
    "constant",
    forall=(v, a, b, c),
).that(
    *_clauses_of_kind(
        LEAF,
        le(Abs(unit_value(v, one) - unit_value(v, two)), steep(v, STATES) * gap),
        le(weighted(unit_slope(v, one, c)), steep(v, c)),
        le(weighted(unit_slope(v, one, c) - unit_slope(v, two, c)), bent(v, c) * gap),
    )
)

mixed_steep = spread(v) * steep(g, c)
mixed_crossing = steep(g, c) * (steep(p, STATES) + steep(q, STATES)) + steep(g, STATES) * (
    steep(p, c) + steep(q, c)
)
mixed_bent = spread(v) * bent(g, c) + mixed_crossing
RULES = assume(
    "jet rules",
    "ℓ and s of a unit are at least what the rules give from those of its operands: "
    "ū ℓ^w + w̄ ℓ^u and ū s^w + w̄ s^u + 2 ℓ^u ℓ^w of a product in the state, sup |f′| ℓ and "
    "sup |f′| s + sup |f″| ℓ² of an activation",
    forall=(v, c),
).that(
    *_clauses_of_kind(
        PRODUCT,
        le(size(p) * steep(q, c) + size(q) * steep(p, c), steep(v, c)),
        le(
            size(p) * bent(q, c)
            + size(q) * bent(p, c)
            + steep(p, STATES) * steep(q, c)
            + steep(q, STATES) * steep(p, c),
            bent(v, c),
        ),
    ),
    *_clauses_of_kind(
        ACTIVATION,
        le(slope_most(v) * steep(p, c), steep(v, c)),
        le(slope_most(v) * bent(p, c) + bend_most(v) * steep(p, STATES) * steep(p, c), bent(v, c)),
    ),
    *_clauses_of_kind(
        SUM,
        le(ZERO, reach(v, c)),
        le(steep(p, c) + Abs(factor(v)) * steep(q, c) + reach(v, c), steep(v, c)),
        le(bent(p, c) + Abs(factor(v)) * bent(q, c) + tilt(v, c), bent(v, c)),
    ),
    *_clauses_of_kind(
        MIXTURE,
        *(le(z * steep(p, c) + (1 - z) * steep(q, c) + mixed_steep, steep(v, c)) for z in _ends(g)),
        *(le(z * bent(p, c) + (1 - z) * bent(q, c) + mixed_bent, bent(v, c)) for z in _ends(g)),
    ),
)
