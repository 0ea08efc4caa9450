"""Formal terms of the powers of an operator, and of how fast they fade."""

from theory.language.law import law
from theory.language.statement import eq
from theory.language.terms.variables import A, j, v
from theory.language.terms.vectors import Norm, Scalar, function

power = function("power", module=__name__)  # power(A, v, j) = A^j v
radius = function("radius", Norm, __name__)  # the spectral radius
# ratio(A) lies between the spectral radius and 1, and ‖A^j v‖ ≤ reach(A, v) ratio(A)^j
ratio, reach = function("ratio", Scalar, __name__), function("reach", Scalar, __name__)
POWERS = law(
    "powers of an operator",
    (A, v, j),
    eq(power(A, v, 0), v),
    eq(power(A, v, j + 1), A * power(A, v, j)),
)
