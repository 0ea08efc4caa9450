"""Formal terms of gated cells: a state s = (c, h), the box in which it stays, and the norms there.

A gate is σ or tanh, entry by entry, of W h + U x + b.  A GRU's state is its output h alone.
"""

from sympy import Expr, tanh

from rnnbounds.theory.language.definitions import define
from rnnbounds.theory.language.statement import eq
from rnnbounds.theory.language.terms.variables import j, operator, v, x
from rnnbounds.theory.language.terms.vectors import Scalar, entry, function, phi

# boxed(v), the state of the box nearest to v: each state of the box is one, boxed(v) = v
boxed = function("boxed", module=__name__)
in_box = function("in_box", Scalar, __name__)  # in_box(v): 1 in an invariant set in the box
# gated_run(v, x, j), after j steps from v
gated_run = function("gated_run", module=__name__, defined=True)
# Unit by unit: the box |c_i| ≤ cell_box(i), |h_i| ≤ output_box(i).
cell_box = function("cell_box", Scalar, __name__)
output_box = function("output_box", Scalar, __name__)

to_cell, to_output = operator("P_c"), operator("P_h")  # c = P_c s and h = P_h s
unit_weights = operator("V_unit")  # diag(1/v) over the whole state


def sigmoid(z: Expr) -> Expr:
    """σ(z) = 1/(1 + exp(−z))."""
    return (1 + tanh(z / 2)) / 2


GATED_RUN = define(
    "run from a state",
    (v, x, j),
    eq(gated_run(v, x, 0), v),
    eq(gated_run(v, x, j + 1), phi(gated_run(v, x, j), entry(x, j + 1))),
)
