"""Formal terms of linear recurrences: modes, powers of a Jordan block, scans of one unit."""

from rnnbounds.theory.language.definitions import define
from rnnbounds.theory.language.statement import eq
from rnnbounds.theory.language.terms.variables import j, s, v, x
from rnnbounds.theory.language.terms.vectors import Operator, Scalar, entry, function

# mode(x, s, j): one mode of a diagonal recurrence after j steps from zero at time s
mode, turned, pushed = (function(name, module=__name__) for name in ("mode", "turned", "pushed"))
# shifted(i, j) = Nⁱ Aʲ for A = ρ I + N
shifted = function("shifted", Operator, __name__)
# scan(x, s, j): one unit after j steps from zero at time s, of which decay(x_t) is kept and
# fed(x_t) is new; decays(x, s, j), the product of what these steps keep
scan, decay, fed = (function(name, Scalar, __name__) for name in ("scan", "decay", "fed"))
decays = function("decays", Scalar, __name__, defined=True)
least_decay = function("least_decay", Scalar, __name__)  # the least decay of these steps
# tangent(v, c) = exp(g(v)(c − v)), and tangents(v, x, s, j), their product over these inputs
tangent = function("tangent", Scalar, __name__)
tangents = function("tangents", Scalar, __name__, defined=True)
mean_input = function("mean_input", module=__name__)  # the mean of the inputs of these steps

_now = entry(x, s + j + 1)
DECAYS = define(
    "product of decays",
    (x, s, j),
    eq(decays(x, s, 0), 1),
    eq(decays(x, s, j + 1), decay(_now) * decays(x, s, j)),
)
TANGENTS = define(
    "product of tangents",
    (v, x, s, j),
    eq(tangents(v, x, s, 0), 1),
    eq(tangents(v, x, s, j + 1), tangent(v, _now) * tangents(v, x, s, j)),
)
