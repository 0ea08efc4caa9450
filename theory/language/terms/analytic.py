"""Formal terms of lists of functions of the inputs, and of what their exponentials satisfy.

A list P of analytic functions is an operator: P c = Σ c_i P_i is a function of the inputs, and its
norm is half of how far it varies, which is 0 of constants alone.
"""

from rnnbounds.theory.language.terms.vectors import Norm, Operator, Scalar, Vector, function


class FunctionList(Operator):
    """A list of functions of the inputs."""


analytic = function("analytic", Scalar, __name__)  # 1 for a list of real analytic functions
count = function("count", Norm, __name__)  # how many functions a list has
tangents = function("tangents", FunctionList, __name__)  # tangents(P), tanh of each function of P
exponentials = function("exponentials", FunctionList, __name__)  # exponentials(Y), exp of each
differentials = function("differentials", Operator, __name__)  # the matrix of partial derivatives

# The group that the functions of P and X generate, modulo constants, and a ℤ-basis of it.
basis = function("basis", FunctionList, __name__)  # basis(P, X)
independent = function("independent", Scalar, __name__)  # 1: over ℚ, modulo constants
# generated(P, Y): 1 if each of P is a sum of integer multiples of those of Y, and a constant
generated = function("generated", Scalar, __name__)
transcendence = function("transcendence", Norm, __name__)  # degree over ℂ of the field of a list
algebraic = function("algebraic", Scalar, __name__)  # algebraic(P, X): 1 if over the field of X

# lines(P, Y): θ_i + g_i z for each P_i, where θ_i is its value at one point, and g_i that of an
# injective homomorphism into ℝ of the group with the ℤ-basis Y
lines = function("lines", FunctionList, __name__)
slope = function("slope", Scalar, __name__)  # slope(L, u) = g_i for the i-th unit vector u
offset = function("offset", Scalar, __name__)  # offset(L, u) = θ_i
# pole(L, u, y, z): 1 if tanh(θ_i + g_i ζ) has a pole at ζ = y + i z π/2
pole = function("pole", Scalar, __name__)

unit = function("unit", Scalar, __name__)  # unit(u): 1 for the unit vectors of the coordinates
support = function("support", Norm, __name__)  # support(c), how many entries of c are not 0
steepest = function("steepest", Vector, __name__)  # steepest(L, c): largest |g_i| with c_i ≠ 0
partner = function("partner", Vector, __name__)  # partner(L, c, u, y, z): shares the pole of u
