"""Formal terms of what a certificate says: the whole state, where the output is a part of it."""

from theory.language.terms.vectors import Norm, function

# unitary_computed(x, j): of a unitary network the first n states after j steps in float64,
# unscaled; computed_double(x, j): the state of its model so
unitary_computed = function("unitary_computed", module=__name__)
computed_double = function("computed_double", module=__name__)
on_record = function("on_record", module=__name__)  # the state that float64 computes on inputs
whole = function("whole", Norm, __name__)  # the Euclidean norm of all of s, (c, h) of an LSTM
