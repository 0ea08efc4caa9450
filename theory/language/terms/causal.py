"""Formal terms of causal models, step by step, each step with two taps.

A convolution with K taps and dilation d is K − 1 steps of delay d (Horner's scheme), attention over
w positions is w − 1 steps of delay 1 that gather them.  What is done at one time alone (gates,
softmax, residual and skip connections, padding before the first input) belongs to a step, and may
differ from time to time.  A time is a real variable here: inputs have whole ones.
"""

from sympy import Expr, Integer, Symbol

from rnnbounds.theory.language.definitions import define
from rnnbounds.theory.language.law import Clause, law
from rnnbounds.theory.language.statement import eq
from rnnbounds.theory.language.terms.variables import a, b, j, z
from rnnbounds.theory.language.terms.vectors import Scalar, entry, function, norm

# tap(x, j, t), what step j has gathered at time t
tap = function("tap", module=__name__, defined=True)
delay = function("delay", Scalar, __name__)  # delay(j), from the new tap of step j to the old one
# delays(j), the delays of the first j steps together
delays = function("delays", Scalar, __name__, defined=True)
J = Symbol("J_steps", integer=True)  # how many steps there are: y_t = tap(x, J, t)


def apart(one: Expr, two: Expr, step: Expr, time: Expr) -> Expr:
    """How far apart two input sequences take a step at one time."""
    return norm(tap(one, step, time) - tap(two, step, time))


INPUTS = define("inputs are the first tap", (a, z), eq(tap(a, 0, z), entry(a, z)))
REACH = define(
    "delays add up", (j,), eq(delays(0), Integer(0)), eq(delays(j + 1), delays(j) + delay(j))
)
TWO_TAPS = law(
    "two taps",
    (a, b, j, z),
    Clause(
        eq(apart(a, b, j + 1, z), Integer(0)),
        (eq(apart(a, b, j, z), Integer(0)), eq(apart(a, b, j, z - delay(j)), Integer(0))),
    ),
)
