"""The ranges of all units of a program, operation by operation: interval arithmetic.

inf [u] ≤ u(s) ≤ sup [u] for each state s of the box, by induction on the operations; and so |u| ≤ ū
and, of the operands of a mixture, |p − q| ≤ sup |p − q|.  The functions of a gate are increasing,
so that their values on an interval lie between those at its ends.
"""

from sympy import Abs, Expr, Max, tanh

from rnnbounds.theory.language import ONE, ZERO, Clause, Statement, assume, at, eq, le
from rnnbounds.theory.language.terms.gates import sigmoid
from rnnbounds.theory.language.terms.jets import (
    ACTIVATION,
    MIXTURE,
    PRODUCT,
    SUM,
    highest,
    is_sigmoid,
    lowest,
    one,
    size,
    spread,
    unit_value,
)
from rnnbounds.theory.language.terms.variables import a, v
from rnnbounds.theory.models.gates.gate import TANH_RISES
from rnnbounds.theory.models.jets.model import OPERANDS, g, of_all_units, of_kind, p, q
from rnnbounds.theory.proof import step


def within(u: Expr) -> Statement:
    """The unit's value is in its interval."""
    value = unit_value(u, one)
    return le(Max(lowest(u) - value, value - highest(u), evaluate=False), ZERO)


_values, _intervals = at("values", v, one), at("intervals", v, a)
OPERATIONS = tuple(
    step(f"range of {name}", within(v), (v, a), (of_kind(number), *map(within, operands))).by(
        _values, _intervals
    )
    for number, name, operands in (
        (PRODUCT, "a product", (p, q)),
        (SUM, "a sum", (p, q)),
        (MIXTURE, "a mixture", (g, p, q)),
    )
)
_made = (*(at(operation.id, v, a) for operation in OPERATIONS), at("images", v, a))
RANGES = (*OPERATIONS, *of_all_units("ranges", within(v), (v, a), _intervals, _made, *OPERANDS))
SIZES = step("sizes", le(Abs(unit_value(v, one)), size(v)), (v, a)).by(
    at("ranges", v, a), _intervals
)
SPREADS = step(
    "spreads",
    le(Abs(unit_value(p, one) - unit_value(q, one)), spread(v)),
    (v, a),
    (of_kind(MIXTURE),),
).by(at("ranges", p, a), at("ranges", q, a), _intervals)

# σ and tanh, of which a gate is one.
_fed = unit_value(p, one)
_squashes = {ONE: sigmoid, ZERO: tanh}
GATES = assume(
    "gates",
    "each activation is σ or tanh, and its interval reaches from its value at the lower end of its "
    "operand's interval to that at the upper one",
    forall=(v, a),
).that(
    eq(is_sigmoid(v) * (is_sigmoid(v) - 1), ZERO),
    *(
        Clause(statement, (of_kind(ACTIVATION), eq(is_sigmoid(v), which)))
        for which, f in _squashes.items()
        for statement in (
            eq(unit_value(v, one), f(_fed)),
            le(lowest(v), f(lowest(p))),
            le(f(highest(p)), highest(v)),
        )
    ),
)
_taken = (of_kind(ACTIVATION), within(p))
IMAGES_OF_GATES = (
    TANH_RISES,
    *(
        step(name, within(v), (v, a), (*_taken, eq(is_sigmoid(v), which))).by(
            at("gates", v, a),
            at("tanh rises", lowest(p) / scale, _fed / scale),
            at("tanh rises", _fed / scale, highest(p) / scale),
        )
        for name, which, scale in (("image under σ", ONE, 2), ("image under tanh", ZERO, 1))
    ),
    step("images", within(v), (v, a), _taken).by(
        at("gates", v, a), at("image under σ", v, a), at("image under tanh", v, a)
    ),
)
