"""ReLU networks where no unit changes between active and inactive: there they are affine.

A network h_t = ReLU(W h_{t−1} + x_t + b), y = h, with n units and a candidate
s_t = ReLU(V s_{t−1} + G x_t + d), ŷ = E s, with m states, on an open set of inputs, a cell, on
which the activity patterns are the same.  Where the two maps agree there, so do their derivatives.
Every open set of inputs contains a cell: off finitely many hyperplanes a unit is on, off, or 0 all
around, which counts as off.
"""
# ruff: noqa: N816 - the names of the vocabulary

from sympy import Symbol

from theory.language import ZERO, Assumption, Clause, assume, eq, le, symbols
from theory.language.terms.unitary import identity, rank, rows
from theory.language.terms.variables import j, m, operator, v
from theory.language.terms.vectors import Operator, function, norm

n, states, T, separation = symbols("n states T separation")
pattern_constant, scalar_W = symbols("pattern_constant scalar_W")
W, V, E, G = operator("W"), operator("V"), operator("E"), operator("G")
D = operator("D_active")
rho = Symbol("rho", real=True)

# pattern(j) = D_j, with 1 on its diagonal for a unit active at time j, and rest(j) = I − D_j
pattern, rest = function("pattern", Operator, __name__), function("rest", Operator, __name__)
# response(j, i) = ∂y_j/∂x_i of the network, response_candidate(j, i) = ∂ŷ_j/∂x_i
response = function("response", Operator, __name__)
response_candidate = function("response_candidate", Operator, __name__)

SAME = eq(separation, ZERO)
MATCH = Assumption("match", "the candidate agrees with the network on the cell", SAME)
AGREEMENT = assume(
    "agreement",
    "equal on an open set of x_0, …, x_{T−1}, two maps have equal derivatives there",
    forall=(j, m),
).that(Clause(eq(response_candidate(j, m), response(j, m)), (SAME, le(j + 1, T))))
ORTHOGONAL = assume("orthogonal", "V is an orthogonal m × m matrix", forall=(v,)).that(
    Clause(eq(norm(V * v), norm(v)), (le(rows(v), states),)), le(rows(V), states)
)
PATTERNS = assume(
    "patterns",
    "D_t and I − D_t select the candidate's active units and the others",
    forall=(m, v),
    ties=True,
).that(
    Clause(
        eq(norm(pattern(m) * v) ** 2 + norm(rest(m) * v) ** 2, norm(v) ** 2), (le(rows(v), states),)
    ),
    le(rank(pattern(m)) + rank(rest(m)), states),
    le(rows(pattern(m)), states),
)
CELL = assume(
    "cell",
    "there is a cell, an open set of inputs on which no unit of the candidate changes "
    "between active and inactive (off finitely many hyperplanes each is on, off, or 0 all around), "
    "and there, by the chain rule, ∂ŷ_t/∂x_t = E D_t G and ∂ŷ_{t+1}/∂x_t = E D_{t+1} V D_t G",
    forall=(m,),
    inclusion=True,
).that(
    eq(response_candidate(m, m), E * pattern(m) * G),
    eq(response_candidate(m + 1, m), E * pattern(m + 1) * V * pattern(m) * G),
)
NETWORK = assume(
    "network",
    "on the cell all units of the network are active, and so ∂y_t/∂x_t = I and ∂y_{t+1}/∂x_t = W",
    forall=(m,),
    inclusion=True,
).that(eq(response(m, m), identity(n)), eq(response(m + 1, m), W))
