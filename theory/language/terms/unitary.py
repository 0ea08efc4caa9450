"""Formal terms of the claims on unitary equivalents: blocks, ranks, powers, lists of functions.

A network h_j = ReLU(W h_{j−1} + U x_j + b) starts from any h_0.  Its unitary equivalent has the
recurrent matrix V = (W W_2; W_3 W_4) and the states s_j.  J embeds the network's n units into the
m units of V, J_2 the added ones.  A list P of analytic functions of the inputs is an operator: P c
= Σ c_i P_i is a function, of which the gain is half of how far it varies.
"""

from sympy import Integer

from rnnbounds.theory.language.definitions import define, maximum
from rnnbounds.theory.language.statement import eq
from rnnbounds.theory.language.terms.variables import A, b, j, operator, v, vector, x
from rnnbounds.theory.language.terms.vectors import (
    Norm,
    Operator,
    Scalar,
    Vector,
    function,
    norm,
    readout,
)

network = function("network")  # network(x, j) = h_j
# urnn(b_2, x, j) = s_j with the bias b_2 of the added units, upper(b_2, x, j) its first n entries,
# preactivation(b_2, x, j) what the activation then makes s_{j+1} of
urnn, upper = function("urnn"), function("upper")
preactivation = function("preactivation")
# The network without its activation, h_j = W h_{j-1} + U x_j + b; the one with the states T h_j
linear_network = function("linear_network")
similar_network = function("similar_network")
# below(z, A), whose entries are -z ‖i-th row of A‖, or less where such roots are rounded
below = function("below")
part = function("part", Scalar)  # part(v, i), the i-th entry of v, 0 beyond the last
line = function("line")  # line(A, i), the i-th row of A, as a vector
d_run = function("d_run", Operator)  # d_run(x, s, j) = ∂h_{s+j}/∂h_s

rank = function("rank", Norm)  # rank(0) = 0 and rank(-A) = rank(A)
# rows(A), the number of rows of A, the last ones that are 0 not counted
rows = function("rows", Scalar)
identity = function("identity", Operator)  # identity(m), the m × m identity
beside = function("beside", Operator)  # beside(A, B), the matrix (A, B)

# The largest gap between the outputs of a network and of its equivalent in the first j steps.
largest_gap = function("largest_gap", Scalar, defined=True)

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

power = function("power", defined=True)  # power(A, v, j) = A^j v
radius = function("radius", Norm)  # the spectral radius
# ratio(A) lies between the spectral radius and 1, and ‖A^j v‖ ≤ outset(A, v) ratio(A)^j
ratio, outset = function("ratio", Scalar), function("outset", Scalar)
POWERS = define(
    "powers of an operator",
    (A, v, j),
    eq(power(A, v, 0), v),
    eq(power(A, v, j + 1), A * power(A, v, j)),
)


class FunctionList(Operator):
    """A list of functions of the inputs."""


analytic = function("analytic", Scalar)  # 1 for a list of real analytic functions
count = function("count", Norm)  # how many functions a list has
tangents = function("tangents", FunctionList)  # tangents(P), tanh of each function of P
exponentials = function("exponentials", FunctionList)  # exponentials(Y), exp of each
differentials = function("differentials", Operator)  # the matrix of partial derivatives

# The group that the functions of P and X generate, modulo constants, and a ℤ-basis of it.
basis = function("basis", FunctionList)  # basis(P, X)
independent = function("independent", Scalar)  # 1: over ℚ, modulo constants
# generated(P, Y): 1 if each of P is a sum of integer multiples of those of Y, and a constant
generated = function("generated", Scalar)
transcendence = function("transcendence", Norm)  # degree over ℂ of the field of a list
algebraic = function("algebraic", Scalar)  # algebraic(P, X): 1 if over the field of X

# lines(P, Y): θ_i + g_i z for each P_i, where θ_i is its value at one point, and g_i that of an
# injective homomorphism into ℝ of the group with the ℤ-basis Y
lines = function("lines", FunctionList)
slope = function("slope", Scalar)  # slope(L, u) = g_i for the i-th unit vector u
offset = function("offset", Scalar)  # offset(L, u) = θ_i
# pole(L, u, y, z): 1 if tanh(θ_i + g_i ζ) has a pole at ζ = y + i z π/2
pole = function("pole", Scalar)

unit = function("unit", Scalar)  # unit(u): 1 for the unit vectors of the coordinates
support = function("support", Norm)  # support(c), how many entries of c are not 0
steepest = function("steepest", Vector)  # steepest(L, c): largest |g_i| with c_i ≠ 0
partner = function("partner", Vector)  # partner(L, c, u, y, z): shares the pole of u
