"""Formal terms of the claims on unitary equivalents: networks, their blocks, and ranks.

A network h_j = ReLU(W h_{j−1} + U x_j + b) starts from any h_0.  Its unitary equivalent has the
recurrent matrix V = (W W_2; W_3 W_4) and the states s_j.  J embeds the network's n units into the
m units of V, J_2 the added ones.
"""

from sympy import Integer

from rnnbounds.theory.language.definitions import define, maximum
from rnnbounds.theory.language.statement import eq
from rnnbounds.theory.language.terms.variables import b, j, operator, vector, x
from rnnbounds.theory.language.terms.vectors import Norm, Operator, Scalar, function, norm, readout

network = function("network", module=__name__)  # network(x, j) = h_j
# urnn(b_2, x, j) = s_j with the bias b_2 of the added units, upper(b_2, x, j) its first n entries,
# preactivation(b_2, x, j) what the activation then makes s_{j+1} of
urnn, upper = function("urnn", module=__name__), function("upper", module=__name__)
preactivation = function("preactivation", module=__name__)
# The network without its activation, h_j = W h_{j-1} + U x_j + b; the one with the states T h_j
linear_network = function("linear_network", module=__name__)
similar_network = function("similar_network", module=__name__)
# below(z, A), whose entries are -z ‖i-th row of A‖, or less where such roots are rounded
below = function("below", module=__name__)
part = function("part", Scalar, __name__)  # part(v, i), the i-th entry of v, 0 beyond the last
line = function("line", module=__name__)  # line(A, i), the i-th row of A, as a vector
d_run = function("d_run", Operator, __name__)  # d_run(x, s, j) = ∂h_{s+j}/∂h_s

rank = function("rank", Norm, __name__)  # rank(0) = 0 and rank(-A) = rank(A)
# rows(A), the number of rows of A, the last ones that are 0 not counted
rows = function("rows", Scalar, __name__)
identity = function("identity", Operator, __name__)  # identity(m), the m × m identity
beside = function("beside", Operator, __name__)  # beside(A, B), the matrix (A, B)

# The largest gap between the outputs of a network and of its equivalent in the first j steps.
largest_gap = function("largest_gap", Scalar, __name__, defined=True)

# Outputs in all runs together: their norm is the largest that any of them has at any time.
OUTPUTS = tuple(vector(f"y_{name}") for name in ("cell", "candidate", "sigmoid", "unitary"))

V, W_2, W_3, W_4 = operator("V"), operator("W_2"), operator("W_3"), operator("W_4")
J, J_2 = operator("J"), operator("J_2")
start = vector("h_start")
similarity, similarity_inverse = operator("T_similar"), operator("T_inverse")
eye_all = operator("I_m")  # the identity of all units


LARGEST_GAP = define(
    "largest gap",
    (b, x, j),
    eq(largest_gap(b, x, 0), Integer(0)),
    *maximum(
        largest_gap(b, x, j + 1),
        largest_gap(b, x, j),
        norm(readout(network(x, j + 1)) - readout(upper(b, x, j + 1))),
    ),
)
