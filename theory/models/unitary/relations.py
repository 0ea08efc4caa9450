"""Relations between the units of sigmoid networks, as functions of the inputs.

A unitary network s_t = ρ(U s_{t−1} + g x_t + d), ŷ_t = e·s_t + e_0, with m states and another one
h_t = ρ(W h_{t−1} + f x_t + b), y_t = c·h_t, ρ the sigmoid or tanh, are written by tanh alone: with
σ(z) = ½ + ½ tanh(z/2) all that follows speaks of τ_t = tanh(…) and r_t = tanh(…), whose
pre-activations carry U/4 and W/4 instead.  Functions of the inputs x_0, …, x_t, each from an
interval, have as their norm half of how far they vary, which is 0 of constants alone.  Outputs come
from any time before as units(i) (Uᵀ)^j e, which come back, and (Wᵀ)^j c.
"""

from sympy import Expr, Rational, Symbol, tanh

from rnnbounds.theory.axioms.base import HOMOGENEITY_GAIN, TRIANGLE_GAIN
from rnnbounds.theory.axioms.functions import TANH
from rnnbounds.theory.axioms.ranks import ROWS_OF_PRODUCT, ROWS_OF_SUM
from rnnbounds.theory.language import (
    ONE,
    ZERO,
    Assumption,
    Clause,
    Statement,
    assume,
    at,
    define,
    eq,
    le,
    lt,
    symbols,
)
from rnnbounds.theory.language.terms.unitary import (
    J_2,
    POWERS,
    FunctionList,
    J,
    power,
    rows,
    support,
    tangents,
)
from rnnbounds.theory.language.terms.variables import a, b, i, j, operator, v, vector, z
from rnnbounds.theory.language.terms.vectors import (
    Scalar,
    exponential,
    function,
    gain,
    norm,
    transpose,
)
from rnnbounds.theory.language.vocabulary import unfold
from rnnbounds.theory.models.unitary.lines import INDEPENDENCE, history, present
from rnnbounds.theory.models.unitary.local_maps import W, n, states
from rnnbounds.theory.proof import step
from rnnbounds.theory.proof.methods import HYPOTHESIS

sigmoid_gap, same_activation = symbols("sigmoid_gap same_activation")

# Of both networks' units J embeds the unitary one's, J₂ the other one's.
latest = function("latest", FunctionList)  # latest(j) a, what x_j adds to the pre-activations
sigmoid = function("sigmoid", Scalar, defined=True)
U, e, c = operator("U"), vector("e"), vector("c_out")
back, back_other = transpose(U), transpose(W)
# multiple(ρ): ρ is a constant and this multiple of a tanh
multiple = function("multiple", Scalar)
factor, factor_other = multiple(vector("rho_candidate")), multiple(vector("rho_other"))
share = Symbol("share", real=True)  # pre-activations are by this share of Uᵀ and Wᵀ


def candidate_units(time: Expr) -> Expr:
    """The map v ↦ v·τ_j of the candidate's units at time j."""
    return tangents(history(time)) * present(time) * J


def other_units(time: Expr) -> Expr:
    """The map b ↦ b·r_j of the other network's units at time j."""
    return tangents(history(time)) * present(time) * J_2


SIGMOID = define("sigmoid", (z,), eq(sigmoid(z), exponential(z) / (exponential(z) + 1)))
HALF = Rational(1, 2)
NORMAL_FORM = eq(sigmoid(z), HALF + HALF * tanh(z / 2))

EQUAL = eq(sigmoid_gap, ZERO)
SAME = assume(
    "same activation", "both networks have the same activation", condition=eq(same_activation, ONE)
).that(eq(factor_other, factor))
SIGMOIDAL = assume(
    "sigmoidal",
    "it is the sigmoid, σ(z) = ½ + ½ tanh(z/2), or tanh: up to constants and a factor, ½ or 1, "
    "states are tanh units; and a difference of outputs varies by at most twice the largest",
    forall=(j, z),
).that(
    Clause(
        le(
            gain(factor * candidate_units(j) * e - factor_other * other_units(j) * c),
            sigmoid_gap,
        ),
        (NORMAL_FORM,),
    ),
    Clause(le(HALF, factor), (NORMAL_FORM,)),
)
ORTHOGONAL = assume("orthogonal", "U is an orthogonal m × m matrix", forall=(b,)).that(
    Clause(eq(norm(back * b), norm(b)), (le(rows(b), states),))
)


def combined_units(time: Expr, first: Expr, second: Expr) -> Expr:
    """The function v·τ_j + b·r_j of the inputs."""
    return candidate_units(time) * first + other_units(time) * second


def networks_assumption(
    matrix: str, *more: Statement, scalar: Statement | None = None
) -> Assumption:
    """Both networks, and what more is known of the one with this recurrent matrix."""
    earlier = combined_units(j, back * v, back_other * b)
    return assume(
        "networks",
        f"pre-activations at time j + 1 are by U and {matrix} of the states at time j, and of "
        "x_{j+1}, which does not depend on these; there are m + n of them"
        f"{'; the one network is scalar' if scalar else ''}",
        forall=(j, v, b, a),
        condition=scalar,
    ).that(
        eq(
            gain(
                history(j + 1) * present(j + 1) * (J * v + J_2 * b)
                - share * earlier
                - latest(j + 1) * (J * v + J_2 * b)
            ),
            ZERO,
        ),
        lt(ZERO, share),
        le(gain(combined_units(j, v, b)), gain(combined_units(j, v, b) + latest(j + 1) * a)),
        le(support(present(j) * a), states + n),
        le(rows(back), states),
        le(rows(e), states),
        *more,
    )


weights = J * v + J_2 * b
preactivations = history(j + 1) * present(j + 1) * weights
earlier_units = combined_units(j, back * v, back_other * b)
# Relations, with the other network's units too, move back by a step.
RELATIONS = (
    step("normal form", NORMAL_FORM, forall=(z,)).by(SIGMOID.at(z), TANH.at(z / 2)),
    step(
        "outputs", eq(gain(candidate_units(j) * e - other_units(j) * c), ZERO), (j, z), (EQUAL,)
    ).by(
        "same activation",
        at("normal form", z),
        at("sigmoidal", j, z),
        HOMOGENEITY_GAIN.at(factor, candidate_units(j) * e - other_units(j) * c),
    ),
    *INDEPENDENCE,
    step(
        "relations of arguments",
        eq(gain(preactivations), ZERO),
        (j, v, b),
        (eq(gain(combined_units(j + 1, v, b)), ZERO),),
    ).by(
        at("networks", j + 1, 0, 0, weights),
        at("independence", j + 1, states + n, present(j + 1) * weights),
    ),
    step(
        "relations move back",
        eq(gain(earlier_units), ZERO),
        (j, v, b),
        (eq(gain(combined_units(j + 1, v, b)), ZERO),),
    ).by(
        at("relations of arguments", j, v, b),
        at("networks", j, v, b, 0),
        at("networks", j, share * back * v, share * back_other * b, weights),
        HOMOGENEITY_GAIN.at(share, earlier_units),
        TRIANGLE_GAIN.at(
            share * earlier_units + latest(j + 1) * weights - preactivations, preactivations
        ),
    ),
)


def moved(steps: Expr) -> Expr:
    """The weights (Uᵀ)^j e."""
    return power(back, e, steps)


def faded(steps: Expr) -> Expr:
    """The weights (Wᵀ)^j c."""
    return power(back_other, c, steps)


OF_U, OF_W = POWERS.at(back, e, j), POWERS.at(back_other, c, j)
# What the axiom on returns is told: the sequence, its space, its size, and what is supposed.
SEQUENCE = (back, e, states)
SUPPOSED = (norm(e), unfold(EQUAL).lhs)
SIZES = at("networks", 0, 0, 0, 0)
now, later = moved(j), moved(i + j)
# ‖(Uᵀ)^j e‖ ≤ ‖e‖, and distances stay: those of e from (Uᵀ)^i e.
ORBIT = (
    step("m entries", le(rows(now), states), forall=(j,)).inductively(
        base=(SIZES, OF_U), step=(SIZES, OF_U, ROWS_OF_PRODUCT.at(back, now))
    ),
    step("lengths stay", le(norm(now), norm(e)), forall=(j,)).by_induction(
        base=OF_U, step=(OF_U, at("m entries", j), at("orthogonal", now))
    ),
    step(
        "distances stay",
        eq(norm(now - later), norm(e - moved(i))),
        forall=(i, j),
    ).by_induction(
        base=OF_U,
        step=(
            OF_U,
            POWERS.at(back, e, i + j),
            at("m entries", j),
            at("m entries", i + j),
            ROWS_OF_SUM.at(now, later, states, -1),
            at("orthogonal", now - later),
        ),
    ),
)
MOVED_BACK = (
    *RELATIONS,
    step(
        "outputs move back",
        eq(gain(candidate_units(i) * moved(j) - other_units(i) * faded(j)), ZERO),
        forall=(i, j),
        given=(EQUAL,),
    ).inductively(
        base=("given 1", at("outputs", i, 0), OF_U, OF_W),
        step=(at(HYPOTHESIS, i + 1), at("relations move back", i, moved(j), -faded(j)), OF_U, OF_W),
        others=(i,),
    ),
    *ORBIT,
)
