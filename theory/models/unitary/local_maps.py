"""ReLU networks where no unit changes between active and inactive: what their patterns select.

A network h_t = ReLU(W h_{t−1} + x_t + b), y = h, with n units and a candidate
s_t = ReLU(V s_{t−1} + G x_t + d), ŷ = E s, with m states, on an open set of inputs, a cell, on
which the activity patterns are the same.  Every open set of inputs contains a cell: off finitely
many hyperplanes a unit is on, off, or 0 all around, which counts as off.
"""

from rnnbounds.theory.language import ZERO, Assumption, Clause, assume, eq, le, symbols
from rnnbounds.theory.language.terms.unitary import rank, rows
from rnnbounds.theory.language.terms.variables import m, operator, v
from rnnbounds.theory.language.terms.vectors import Operator, function, norm

n, states, T, separation = symbols("n states T separation")
W, V, E, G = operator("W"), operator("V"), operator("E"), operator("G")

# pattern(j) = D_j, with 1 on its diagonal for a unit active at time j, and rest(j) = I − D_j
pattern, rest = function("pattern", Operator), function("rest", Operator)

SAME = eq(separation, ZERO)
MATCH = Assumption("match", "the candidate agrees with the network on the cell", SAME)
ORTHOGONAL = assume("orthogonal", "V is an orthogonal m × m matrix", forall=(v,)).that(
    Clause(eq(norm(V * v), norm(v)), (le(rows(v), states),)), le(rows(V), states)
)
PATTERNS = assume(
    "patterns",
    "D_t and I − D_t select the candidate's active units and the others",
    forall=(m, v),
).that(
    Clause(
        eq(norm(pattern(m) * v) ** 2 + norm(rest(m) * v) ** 2, norm(v) ** 2), (le(rows(v), states),)
    ),
    le(rank(pattern(m)) + rank(rest(m)), states),
    le(rows(pattern(m)), states),
)
