"""No finite unitary network equals a sigmoid network whose recurrent matrix has a radius below 1.

As in `relations`, with n units and h_t = ρ(W h_{t−1} + f x_t + b), y_t = c·h_t for the scalar
network.  At any time before, (Uᵀ)^j e of the one network is (Wᵀ)^j c of the other: the powers of
W fade, and those of an orthogonal U come back to e.
"""

from sympy import Expr, Symbol

from theory.axioms.base import SUBMULTIPLICATIVE, TRIANGLE
from theory.axioms.ranks import ROWS_OF_PRODUCT, ROWS_OF_SUM
from theory.claims.contraction.linear import STABLE_RADIUS
from theory.language.law import Clause, assume, at, law
from theory.language.statement import eq, le, lt, ne
from theory.language.terms.unitary import rows
from theory.language.terms.vectors import A, b, function, i, j, norm, transpose, v, vector
from theory.language.vocabulary import symbols
from theory.models.unitary.local_maps import ONE, ZERO, W, states
from theory.models.unitary.relation_spaces import NORMAL_FORM, back, k_0, l, moving_back, p
from theory.models.unitary.relations import (
    EQUAL,
    ORTHOGONAL,
    SAME,
    SIGMOIDAL,
    U,
    arguments,
    e,
    sigmoid_gap,
    units,
)
from theory.proof.methods import Induction, Smt
from theory.proof.methods.induction import HYPOTHESIS
from theory.proof.proof import Step
from theory.proof.steps import step, theorem

driven, W_radius = symbols("driven W_radius")

# others(j) b = b·r_j, other_arguments(j) b of the pre-activations
others = function("others", module=__name__)
other_arguments = function("other_arguments", module=__name__)
power = function("power", module=__name__)  # power(A, v, j) = A^j v
c = vector("c_out")
t_0 = Symbol("t_0", integer=True)  # a time at which the output depends on the inputs

POWERS = law(
    "powers of an operator",
    (A, v, j),
    eq(power(A, v, 0), v),
    eq(power(A, v, j + 1), A * power(A, v, j)),
)
NETWORKS = assume(
    "networks",
    "a relation between the pre-activations at time j + 1 is one, by the rows of U and of W, "
    "between the states at time j, on which x_{j+1} has no effect",
    forall=(j, v, b),
).that(
    Clause(
        eq(norm(units(j) * transpose(U) * v + others(j) * transpose(W) * b), ZERO),
        (eq(norm(arguments(j + 1) * v + other_arguments(j + 1) * b), ZERO),),
    ),
    le(rows(transpose(U)), states),
    le(rows(e), states),
)
DRIVEN = assume(
    "driven",
    "at some time t_0 the output depends on the inputs: its derivative in the latest is not 0",
    condition=eq(driven, ONE),
).that(ne(norm(others(t_0) * c), ZERO))


def moved(steps: Expr) -> Expr:
    """(Uᵀ)^j e."""
    return power(back, e, steps)


def faded(steps: Expr) -> Expr:
    """(Wᵀ)^j c."""
    return power(transpose(W), c, steps)


output = norm(others(t_0) * c)
FORGETS = (
    "The spectral radius of W is below 1, so ‖(Wᵀ)^j‖ tends to 0 by Gelfand's formula: from some "
    "j = k_0 on ‖(Wᵀ)^j c‖ is below any positive number."
)
RETURNS = (
    "All (Uᵀ)^j e have the same length, so that they stay in a bounded part of ℝ^m: by Bolzano and "
    "Weierstrass infinitely many of them are as near to each other as one likes, and so are two "
    "with p and p + k_0 + l in place of j, where k_0, which came before, is as large as it may be."
)
MOVED_BACK = (
    *moving_back(
        others(j) * c, b, others(j) * b, other_arguments(j) * b, others(j) * transpose(W) * b
    ),
    Step(
        "outputs move back",
        eq(norm(units(i) * moved(j) - others(i) * faded(j)), ZERO),
        Induction(
            j,
            base=Smt(
                "given 1",
                "same activation",
                "sigmoidal",
                at("outputs", i),
                POWERS.at(back, e, 0),
                POWERS.at(transpose(W), c, 0),
            ),
            step=Smt(
                at(HYPOTHESIS, i + 1),
                at("relations move back", i, moved(j), -faded(j)),
                POWERS.at(back, e, j),
                POWERS.at(transpose(W), c, j),
            ),
            others=(i,),
        ),
        forall=(i, j),
        given=(EQUAL,),
    ),
    step(
        "no more than W leaves",
        le(norm(units(i) * moved(j)), norm(others(i)) * norm(faded(j))),
        forall=(i, j),
        given=(EQUAL,),
    ).by(
        at("outputs move back", i, j),
        TRIANGLE.at(units(i) * moved(j) - others(i) * faded(j), others(i) * faded(j)),
        SUBMULTIPLICATIVE.at(others(i), faded(j)),
    ),
)
BOUNDED = (
    Step(
        "m entries",
        le(rows(moved(j)), states),
        Induction(
            j,
            base=Smt(at("networks", 0, e, 0), POWERS.at(back, e, 0)),
            step=Smt(
                at("networks", 0, e, 0), POWERS.at(back, e, j), ROWS_OF_PRODUCT.at(back, moved(j))
            ),
        ),
        forall=(j,),
    ),
    step("lengths stay", eq(norm(moved(j)), norm(e)), forall=(j,)).by_induction(
        base=POWERS.at(back, e, 0),
        step=(POWERS.at(back, e, j), at("m entries", j), at("orthogonal", U, e, moved(j))),
    ),
    step(
        "distances stay", eq(norm(moved(j) - moved(i + j)), norm(e - moved(i))), forall=(i, j)
    ).by_induction(
        base=POWERS.at(back, e, 0),
        step=(
            POWERS.at(back, e, j),
            POWERS.at(back, e, i + j),
            at("m entries", j),
            at("m entries", i + j),
            ROWS_OF_SUM.at(moved(j), moved(i + j), states, -1),
            at("orthogonal", U, e, moved(j) - moved(i + j)),
        ),
    ),
)
CONSTANT = (
    step(
        "W forgets",
        le(4 * norm(others(t_0)) * norm(faded(k_0 + j)), output),
        forall=(j,),
        given=(ne(output, ZERO), lt(W_radius, ONE)),
    ).in_words(FORGETS),
    step(
        "U returns",
        le(4 * norm(units(t_0)) * norm(moved(p) - moved(p + k_0 + l)), output),
        given=(ne(output, ZERO),),
    ).in_words(RETURNS),
    step("the output is constant", eq(output, ZERO), given=(EQUAL,)).by(
        "same activation",
        "sigmoidal",
        "stable radius",
        "U returns",
        at("W forgets", l),
        at("outputs", t_0),
        at("no more than W leaves", t_0, k_0 + l),
        at("distances stay", k_0 + l, p),
        TRIANGLE.at(others(t_0) * c - units(t_0) * e, units(t_0) * e),
        TRIANGLE.at(units(t_0) * (e - moved(k_0 + l)), units(t_0) * moved(k_0 + l)),
        SUBMULTIPLICATIVE.at(units(t_0), e - moved(k_0 + l)),
    ),
)
VECTOR = theorem(
    "vector",
    ne(sigmoid_gap, ZERO),
    (SAME, SIGMOIDAL, STABLE_RADIUS, ORTHOGONAL, NETWORKS, DRIVEN),
    "sigmoid",
    (NORMAL_FORM, *MOVED_BACK, *BOUNDED, *CONSTANT),
    note="of any number of units; ‖W‖ may be as large as it likes",
).by("the output is constant", "driven")
