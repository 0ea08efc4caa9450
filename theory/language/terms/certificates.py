"""Formal terms of what a certificate says: the whole state, where the output is a part of it; runs
from any state at any time."""

from rnnbounds.theory.language.definitions import define
from rnnbounds.theory.language.statement import eq
from rnnbounds.theory.language.terms.gradients import d_state
from rnnbounds.theory.language.terms.variables import j, s, v, x
from rnnbounds.theory.language.terms.vectors import Norm, Operator, Scalar, entry, function, phi

# unitary_computed(x, j): of a unitary network the first n states after j steps in float64,
# unscaled; computed_double(x, j): the state of its model so
unitary_computed = function("unitary_computed", module=__name__)
computed_double = function("computed_double", module=__name__)
whole = function("whole", Norm, __name__)  # the Euclidean norm of all of s, (c, h) of an LSTM
# remaining(v, j): at least ‖h‖₂ of what is left of a difference v of two states after j steps
remaining = function("remaining", Scalar, __name__)
# begun(v, x, s, j), after j steps from v at time s
begun = function("begun", module=__name__, defined=True)

BEGUN = define(
    "run from a state at a time",
    (v, x, s, j),
    eq(begun(v, x, s, 0), v),
    eq(begun(v, x, s, j + 1), phi(begun(v, x, s, j), entry(x, s + j + 1))),
)
# run_slope(v, x, s, j): the derivative in v of the run from v at time s, after j + 1 steps
run_slope = function("run_slope", Operator, __name__, defined=True)
# The reader finds the derivative by it; no proof needs it.
define(
    "derivative of a run in its start",
    (v, x, s, j),
    eq(run_slope(v, x, s, 0), d_state(v, entry(x, s + 1))),
    eq(
        run_slope(v, x, s, j + 1),
        d_state(begun(v, x, s, j + 1), entry(x, s + j + 2)) * run_slope(v, x, s, j),
    ),
)
# slope_bound(v, x, s, j), at least the norm of run_slope(z v, x, s, j) for all 0 ≤ z ≤ 1
slope_bound = function("slope_bound", Scalar, __name__)
