"""Formal terms of a cell's program: its units one after another, and their jets.

A unit u is a real function of the state and of the weights: a leaf (an entry of the state, of the
input or of a weight, a constant), a product p q, an activation f(p), a sum p + c q with a number c,
or a mixture g p + (1 − g) q.  A row of W h is a chain of sums, the last of which counts what all of
its own weights multiply.  Directions come in blocks, all states or some of the weights, and a
derivative in a block is a covector in the dual norm: that of ‖·‖_box, or the Euclidean one.
"""

from sympy import Symbol

from rnnbounds.theory.language.terms.networks import boxed, unit_weights
from rnnbounds.theory.language.terms.variables import a, b, vector
from rnnbounds.theory.language.terms.vectors import Scalar, function, max_norm

unit_value = function("unit_value", Scalar)  # unit_value(u, s) = u(s)
unit_slope = function("unit_slope")  # unit_slope(u, s, c) = ∂u/∂c at s
# The operands p, q and g of a unit; which kind it is of, and from how many operations it comes
first, second, gate = (function(name) for name in ("first", "second", "gate"))
kind, depth = function("kind", Scalar), function("depth", Scalar)
factor = function("factor", Scalar)  # the number c of p + c q
tangent = function("tangent", Scalar)  # tangent(u, s) = f'(p(s)) of u = f(p)
# own_slope(u, s, c): the derivative of a sum in those of its weights that are in block c.  Its i-th
# entry is the unit that the weight multiplies, and the i-th of moves(u, c, z) is z ℓ_s of that unit
own_slope, moves = function("own_slope"), function("moves")
multiplied = function("multiplied")
# Bounds on the box: sup |u| of a unit, its jets ℓ_c and s_sc
size = function("size", Scalar)
steep, bent = function("steep", Scalar), function("bent", Scalar)
# The ends of the interval of a unit: where its operation puts it, from those of its operands
lowest, highest = (function(name, Scalar) for name in ("lowest", "highest"))
is_sigmoid = function("is_sigmoid", Scalar)  # of a gate 1 for σ, and 0 for tanh
# of an activation sup |f'| and sup |f''|; of a mixture sup |p − q|
slope_most, bend_most = (function(f"{name}_most", Scalar) for name in ("slope", "bend"))
spread = function("spread", Scalar)
# of a sum's own slope its largest norm, and the norm of ℓ_s of what its weights multiply
reach, tilt = function("reach", Scalar), function("tilt", Scalar)
# The block m of weights, and all before it; Σ ℓ_c² and Σ s_sc² over the first m blocks c
block, before = function("block"), function("before")
steep_squares, bent_squares = (function(f"{name}_squares", Scalar) for name in ("steep", "bent"))
row = function("row")  # row(A, i), the i-th row of an operator into states
shown = function("shown")  # shown(i), the unit which the i-th row is of
unit_weight = function("unit_weight", Scalar)  # v_i
# 1 where weighted(s) of states is max |s_i|/v_i, and 0 where it is another norm
in_largest = Symbol("in_largest", real=True)

LEAF, PRODUCT, ACTIVATION, SUM, MIXTURE = range(5)
STATES = vector("all_states")
one, two = boxed(a), boxed(b)
gap = max_norm(unit_weights * (one - two))
