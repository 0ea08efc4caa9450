"""Formal terms of the powers of an operator, and of how fast they fade."""

from rnnbounds.theory.language.definitions import define
from rnnbounds.theory.language.statement import eq
from rnnbounds.theory.language.terms.variables import A, j, v
from rnnbounds.theory.language.terms.vectors import Norm, Scalar, function

power = function("power", module=__name__, defined=True)  # power(A, v, j) = A^j v
radius = function("radius", Norm, __name__)  # the spectral radius
# ratio(A) lies between the spectral radius and 1, and ‖A^j v‖ ≤ outset(A, v) ratio(A)^j
ratio, outset = function("ratio", Scalar, __name__), function("outset", Scalar, __name__)
POWERS = define(
    "powers of an operator",
    (A, v, j),
    eq(power(A, v, 0), v),
    eq(power(A, v, j + 1), A * power(A, v, j)),
)
