"""What jets presuppose of a cell: its program, the ranges of its units, and the rules."""

from sympy import Abs, Expr, Integer

from theory.language import ONE, ZERO, Assumption, Clause, Statement, assume, eq, le
from theory.language.terms.jets import (
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
    gate_least,
    gate_most,
    kind,
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
from theory.language.terms.unitary import part
from theory.language.terms.variables import a, b, c, i, v, z
from theory.language.terms.vectors import norm, weighted

p, q, g = first(v), second(v), gate(v)
OPERANDS = (p, q, g)


def of_kind(number: int) -> Statement:
    """What the unit is."""
    return eq(kind(v), Integer(number))


def _where(number: int, *statements: Statement) -> tuple[Clause, ...]:
    return tuple(Clause(statement, (of_kind(number),)) for statement in statements)


_kinds = kind(v) * (kind(v) - 1) * (kind(v) - 2) * (kind(v) - 3) * (kind(v) - 4)
PROGRAM = assume(
    "program",
    "a step is a program: each unit is a leaf, or comes from units before it as a product, an "
    "activation, a sum p + c q or a mixture g p + (1 − g) q",
    forall=(v,),
).that(
    eq(_kinds, ZERO),
    le(ZERO, depth(v)),
    *(Clause(le(depth(u) + 1, depth(v)), (le(ONE, kind(v)),)) for u in OPERANDS),
)
VALUES = assume("values", "the values of products, sums and mixtures", forall=(v, a)).that(
    *_where(PRODUCT, eq(unit_value(v, a), unit_value(p, a) * unit_value(q, a))),
    *_where(SUM, eq(unit_value(v, a), unit_value(p, a) + factor(v) * unit_value(q, a))),
    *_where(
        MIXTURE,
        eq(
            unit_value(v, a),
            unit_value(g, a) * unit_value(p, a) + (1 - unit_value(g, a)) * unit_value(q, a),
        ),
    ),
)
RANGES = assume(
    "ranges",
    "intervals bound, on the box, sup |u| of each unit and, of a mixture, inf g, sup g and "
    "sup |p − q|, with 0 ≤ g ≤ 1",
    forall=(v, a),
    inclusion=True,
).that(
    le(Abs(unit_value(v, one)), size(v)),
    *_where(
        MIXTURE,
        le(ZERO, gate_least(v)),
        le(gate_least(v), unit_value(g, one)),
        le(unit_value(g, one), gate_most(v)),
        le(gate_most(v), ONE),
        le(Abs(unit_value(p, one) - unit_value(q, one)), spread(v)),
    ),
)
_moved = unit_value(p, one) - unit_value(p, two)
ACTIVATIONS = assume(
    "activations",
    "sup |f′| on the interval where an activation is taken, at its corners on either side",
    forall=(v, a, b),
).that(
    *_where(
        ACTIVATION,
        le(Abs(unit_value(v, one) - unit_value(v, two)), slope_most(v) * Abs(_moved)),
        le(Abs(tangent(v, one)), slope_most(v)),
    )
)


def curved(constant: Expr) -> Assumption:
    """What ReLU does not have, whose derivative jumps: there the constant is infinite."""
    return assume(
        "curvatures",
        "sup |f″| on the interval where an activation is taken is finite",
        forall=(v, a, b),
        condition=le(ZERO, constant),
    ).that(
        *_where(
            ACTIVATION,
            le(ZERO, bend_most(v)),
            le(Abs(tangent(v, one) - tangent(v, two)), bend_most(v) * Abs(_moved)),
        )
    )


OWN = assume(
    "own weights",
    "a sum's derivative in its own weights consists of the factors of these weights; its reach "
    "bounds their Euclidean norm",
    forall=(v, a, c),
).that(le(weighted(own_slope(v, one, c)), reach(v, c)))
_own_gap = own_slope(v, one, c) - own_slope(v, two, c)
MULTIPLIED = assume(
    "multiplied units",
    "these are units of the program, numbered so that the i-th comes from at most i operations, "
    "and a sum's tilt is the Euclidean norm of their ℓ_s",
    forall=(v, a, b, c, i, z),
).that(
    eq(part(own_slope(v, a, c), i), unit_value(multiplied(v, c, i), a)),
    eq(weighted(_own_gap), norm(_own_gap)),
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
    *_where(
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
_ends = (gate_least(v), gate_most(v))
RULES = assume(
    "jet rules",
    "ℓ and s of a unit are at least what the rules give from those of its operands: "
    "ū ℓ^w + w̄ ℓ^u and ū s^w + w̄ s^u + 2 ℓ^u ℓ^w of a product in the state, sup |f′| ℓ and "
    "sup |f′| s + sup |f″| ℓ² of an activation",
    forall=(v, c),
).that(
    *_where(
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
    *_where(
        ACTIVATION,
        le(slope_most(v) * steep(p, c), steep(v, c)),
        le(slope_most(v) * bent(p, c) + bend_most(v) * steep(p, STATES) * steep(p, c), bent(v, c)),
    ),
    *_where(
        SUM,
        le(ZERO, reach(v, c)),
        le(steep(p, c) + Abs(factor(v)) * steep(q, c) + reach(v, c), steep(v, c)),
        le(bent(p, c) + Abs(factor(v)) * bent(q, c) + tilt(v, c), bent(v, c)),
    ),
    *_where(
        MIXTURE,
        *(le(z * steep(p, c) + (1 - z) * steep(q, c) + mixed_steep, steep(v, c)) for z in _ends),
        *(le(z * bent(p, c) + (1 - z) * bent(q, c) + mixed_bent, bent(v, c)) for z in _ends),
    ),
)
