"""Formal terms of the reachtube around a recorded run: zonotopes, and affine forms of all units.

A line is the set in which a run is at one time: the states ŝ + G c of all coordinates |c_j| ≤ 1,
where ŝ is computed on the recorded inputs, with inputs near the recorded one that are moved along
coordinates of their own.  A pair is the set in which two runs under the same inputs are: two lines
with the same coordinates, in which the difference of both has generators too.  Coordinates that are
none of the set stand for 0.
"""

from rnnbounds.theory.language.terms.variables import vector
from rnnbounds.theory.language.terms.vectors import Operator, Scalar, function

# Bound variables: a line, a pair, and two units
line, pair = vector("line"), vector("pair")
unit, other_unit = vector("unit"), vector("other_unit")
# The unit's value in a state under an input
unit_at = function("unit_at", Scalar, __name__)
# Of a line: ŝ; the recorded input that is met there; the state and the input with coordinates c
anchor, met = function("anchor", module=__name__), function("met", module=__name__)
spot, fed = function("spot", module=__name__), function("fed", module=__name__)
# The line, or the pair, after one step; a line of a pair is taken by itself, beside no other
later = function("later", module=__name__)
# 1 of the states of a line; the coordinates of such a state and an input near the recorded one, and
# those in the next line of the state v, whose parts within the line have the coordinates c
near = function("near", Scalar, __name__)
coordinates = function("coordinates", module=__name__)
regrouped = function("regrouped", module=__name__)
# The line of the run from time 0 after j steps; the pair of it and of the run from time s
alone, both = function("alone", module=__name__), function("both", module=__name__)
# Of a line and a unit: the float64 value on the recorded input from ŝ, and what it may be off by;
# the linear part ⟨g, c⟩ of how far the unit is from there, Σ |g_j|, and a bound on the rest
centre, error = (function(name, Scalar, __name__) for name in ("centre", "running_error"))
linear = function("linear", Scalar, __name__)
width, rest = (function(name, Scalar, __name__) for name in ("spread_of", "rest_of"))
# Of an activation: f[u, û], and a number from which it is within a radius
divided = function("divided", Scalar, __name__)
chord, chord_off = (function(name, Scalar, __name__) for name in ("chord", "chord_off"))
# Of a line and i: the i-th entry of the box of the next state; D with D_ii = 1/box_i; the vector
# K c of the linear parts that are kept
boxed_by = function("boxed_by", Scalar, __name__)
unboxed = function("unboxed", Operator, __name__)
carried = function("carried", module=__name__)

# The lines of a pair; 1 of two states in it, and coordinates as above
one, two = function("line_one", module=__name__), function("line_two", module=__name__)
together = function("together", Scalar, __name__)
shared = function("shared_coordinates", module=__name__)
shared_regrouped = function("shared_regrouped", module=__name__)
# The same of how far two runs are apart, less that of the computed ones
gap_linear = function("gap_linear", Scalar, __name__)
gap_width, gap_rest = (function(name, Scalar, __name__) for name in ("gap_spread", "gap_rest"))
gap_boxed_by = function("gap_boxed_by", Scalar, __name__)
gap_unboxed = function("gap_unboxed", Operator, __name__)
gap_carried = function("gap_carried", module=__name__)
# What an activation makes of the difference (m = 0) and of how far each run is off (m = 1, 2): the
# factors, numbers from which they are within a radius, and a bound on what is left
turn, turn_at, turn_off = (
    function(name, Scalar, __name__) for name in ("turn", "turn_at", "turn_off")
)
lost = function("lost", Scalar, __name__)

# 1 of the states within r of a recorded end state, and of those of a ball of starts that is printed
follows_past = function("follows_past", Scalar, __name__)
in_ball = function("in_ball", Scalar, __name__)
# Of a line: the metric in which derivatives are measured there, and a bound on those of all runs
# to it from the first line
metric = function("metric_of", Operator, __name__)
growth = function("growth_of", Scalar, __name__)
