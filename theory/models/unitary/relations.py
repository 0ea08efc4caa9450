"""Relations between the units of sigmoid networks, as functions of the inputs.

A unitary network s_t = ρ(U s_{t−1} + g x_t + d), ŷ_t = e·s_t + e_0, with m states and another one
h_t = ρ(W h_{t−1} + f x_t + b), y_t = c·h_t, ρ the sigmoid or tanh, are written by tanh alone: with
σ(z) = ½ + ½ tanh(z/2) all that follows speaks of τ_t = tanh(…) and r_t = tanh(…), whose
pre-activations carry U/4 and W/4 instead.  Functions of the inputs x_0, …, x_t, each from an
interval, count up to constants: 0 is any constant, and the norm is half of how far they vary.
"""

from sympy import Rational, tanh

from theory.language import (
    ONE,
    ZERO,
    Assumption,
    Clause,
    Statement,
    assume,
    at,
    eq,
    law,
    le,
    symbols,
)
from theory.language.functions import TANH
from theory.language.terms.unitary import rows
from theory.language.terms.variables import b, j, operator, v, vector, z
from theory.language.terms.vectors import Operator, Scalar, exponential, function, norm, transpose
from theory.models.unitary.independence import INDEPENDENCE
from theory.models.unitary.local_maps import W, states
from theory.proof import step

sigmoid_gap, same_activation, sigmoidal = symbols("sigmoid_gap same_activation sigmoidal")

# units(j) v = v·τ_j and others(j) b = b·r_j; arguments(j) v and other_arguments(j) b: of the
# pre-activations
units, others = function("units", Operator, __name__), function("others", Operator, __name__)
arguments = function("arguments", Operator, __name__)
other_arguments = function("other_arguments", Operator, __name__)
sigmoid = function("sigmoid", Scalar, __name__)
U, e, c = operator("U"), vector("e"), vector("c_out")
back = transpose(U)

SIGMOID = law(
    "definition of the sigmoid", (z,), eq(sigmoid(z) * (exponential(z) + 1), exponential(z))
)

EQUAL = eq(sigmoid_gap, ZERO)
SAME = Assumption(
    "same activation", "both networks have the same activation", eq(same_activation, ONE)
)
SIGMOIDAL = Assumption("sigmoidal", "it is the sigmoid or tanh", eq(sigmoidal, ONE), ties=True)
ORTHOGONAL = assume("orthogonal", "U is an orthogonal m × m matrix", forall=(b,)).that(
    Clause(eq(norm(back * b), norm(b)), (le(rows(b), states),))
)


def networks(matrix: str, *more: Statement, scalar: Statement | None = None) -> Assumption:
    """Both networks, and what more is known of the one with this recurrent matrix."""
    return assume(
        "networks",
        "a relation between the pre-activations at time j + 1 is one, by the rows of U and "
        f"{matrix}, between the states at time j, on which x_{{j+1}} has no effect"
        f"{'; the one network is scalar' if scalar else ''}",
        forall=(j, v, b),
        condition=scalar,
    ).that(
        Clause(
            eq(norm(units(j) * back * v + others(j) * transpose(W) * b), ZERO),
            (eq(norm(arguments(j + 1) * v + other_arguments(j + 1) * b), ZERO),),
        ),
        le(rows(back), states),
        le(rows(e), states),
        *more,
    )


OUTPUTS = (
    "Let y_t = c·h_t and ŷ_t = e·s_t + e_0 agree at all times on all inputs from an interval."
    " For tanh, e·τ_t − c·r_t = −e_0 there. For the sigmoid put s = ½ + ½τ and h = ½ + ½r, by"
    " the normal form component by component: e·τ_t − c·r_t is constant again. Both sides are"
    " real-analytic in the inputs, so that this holds for all real inputs. Activations that "
    "differ would leave two different normal forms on the two sides."
)
HALF = Rational(1, 2)
ACTIVATIONS = (eq(same_activation, ONE), eq(sigmoidal, ONE))
related = norm(units(j) * v + others(j) * b)
# Relations, with the other network's units too, move back by a step.
RELATIONS = (
    step("normal form", eq(sigmoid(z), HALF + HALF * tanh(z / 2)), forall=(z,)).by(
        SIGMOID.at(z), TANH.at(z / 2)
    ),
    step(
        "outputs",
        eq(norm(units(j) * e - others(j) * c), ZERO),
        forall=(j,),
        given=(EQUAL, *ACTIVATIONS),
    ).in_words(OUTPUTS),
    step(
        "independence lemma",
        eq(norm(arguments(j) * v + other_arguments(j) * b), ZERO),
        forall=(j, v, b),
        given=(eq(related, ZERO), *ACTIVATIONS),
    ).in_words(INDEPENDENCE),
    step(
        "relations move back",
        eq(norm(units(j) * back * v + others(j) * transpose(W) * b), ZERO),
        forall=(j, v, b),
        given=(eq(related.subs(j, j + 1), ZERO),),
    ).by(
        "same activation",
        "sigmoidal",
        at("independence lemma", j + 1, v, b),
        at("networks", j, v, b),
    ),
)
