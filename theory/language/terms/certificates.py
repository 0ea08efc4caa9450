"""Formal terms of what a certificate says: the whole state, where the output is a part of it."""

from rnnbounds.theory.language.terms.vectors import Norm, Scalar, function

# unitary_computed(x, j): of a unitary network the first n states after j steps in float64,
# unscaled; computed_double(x, j): the state of its model so
unitary_computed = function("unitary_computed", module=__name__)
computed_double = function("computed_double", module=__name__)
whole = function("whole", Norm, __name__)  # the Euclidean norm of all of s, (c, h) of an LSTM
# remaining(v, j): at least ‖h‖₂ of what is left of a difference v of two states after j steps
remaining = function("remaining", Scalar, __name__)
