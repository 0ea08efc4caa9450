"""The ranges of all units of a program, operation by operation: interval arithmetic.

inf [u] ≤ u(s) ≤ sup [u] for each state s of the box, by induction on the operations; and so |u| ≤ ū
and, of the operands of a mixture, |p − q| ≤ sup |p − q|.  The functions of a gate are increasing,
so that their values on an interval lie between those at its ends.
"""

from sympy import Abs, Expr, Max, tanh

from rnnbounds.theory.language import ONE, ZERO, Clause, Statement, assume, at, eq, le
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
from rnnbounds.theory.language.terms.networks import sigmoid
from rnnbounds.theory.language.terms.variables import a, v
from rnnbounds.theory.models.gates.gate import TANH_RISES
from rnnbounds.theory.models.jets.model import OPERANDS, all_unit_steps, g, has_kind, p, q
from rnnbounds.theory.proof import step


def within(u: Expr) -> Statement:
    """Statement that the unit's value is in its interval."""
    value = unit_value(u, one)
    return le(Max(lowest(u) - value, value - highest(u), evaluate=False), ZERO)


_values, _intervals = at("values", v, one), at("intervals", v, a)
OPERATIONS = tuple(
    step(f"range of {name}", within(v), (v, a), (has_kind(number), *map(within, operands))).by(
        _values, _intervals
    )
    for number, name, operands in (
        (PRODUCT, "a product", (p, q)),
        (SUM, "a sum", (p, q)),
        (MIXTURE, "a mixture", (g, p, q)),
    )
)
_operations = (*(at(operation.id, v, a) for operation in OPERATIONS), at("images", v, a))
RANGES = (
    *OPERATIONS,
    *all_unit_steps("ranges", within(v), (v, a), _intervals, _operations, *OPERANDS),
)
SIZES = step("sizes", le(Abs(unit_value(v, one)), size(v)), (v, a)).by(
    at("ranges", v, a), _intervals
)
SPREADS = step(
    "spreads",
    le(Abs(unit_value(p, one) - unit_value(q, one)), spread(v)),
    (v, a),
    (has_kind(MIXTURE),),
).by(at("ranges", p, a), at("ranges", q, a), _intervals)

# σ and tanh, of which a gate is one.
_operand_value = unit_value(p, one)
_gate_functions = {ONE: sigmoid, ZERO: tanh}
GATES = assume(
    "gates",
    "each activation is σ or tanh, and its interval reaches from its value at the lower end of its "
    "operand's interval to that at the upper one",
    forall=(v, a),
).that(
    eq(is_sigmoid(v) * (is_sigmoid(v) - 1), ZERO),
    *(
        Clause(statement, (has_kind(ACTIVATION), eq(is_sigmoid(v), which)))
        for which, f in _gate_functions.items()
        for statement in (
            eq(unit_value(v, one), f(_operand_value)),
            le(lowest(v), f(lowest(p))),
            le(f(highest(p)), highest(v)),
        )
    ),
)
_image_premises = (has_kind(ACTIVATION), within(p))
IMAGES_OF_GATES = (
    TANH_RISES,
    *(
        step(name, within(v), (v, a), (*_image_premises, eq(is_sigmoid(v), which))).by(
            at("gates", v, a),
            at("tanh rises", lowest(p) / scale, _operand_value / scale),
            at("tanh rises", _operand_value / scale, highest(p) / scale),
        )
        for name, which, scale in (("image under σ", ONE, 2), ("image under tanh", ZERO, 1))
    ),
    step("images", within(v), (v, a), _image_premises).by(
        at("gates", v, a), at("image under σ", v, a), at("image under tanh", v, a)
    ),
)
