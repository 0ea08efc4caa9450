"""Formal terms of what a certificate says: the whole state, where the output is a part of it."""

from theory.language.terms.vectors import Norm, function

whole = function("whole", Norm, __name__)  # the Euclidean norm of all of s, (c, h) of an LSTM
