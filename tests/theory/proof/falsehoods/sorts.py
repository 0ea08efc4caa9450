"""Attacks through sorts: laws of vectors used at operators, whose norms are other ones."""

from falsehoods.attack import Attack, Forgery, assume, ends, every, through
from rnnbounds.theory.axioms import base
from rnnbounds.theory.axioms.entries import (
    ENTRIES,
    EUCLIDEAN_BY_LARGEST,
    INNER_PRODUCT,
    LARGEST_ENTRY,
    LEAST_BOUND,
)
from rnnbounds.theory.axioms.gradients import CAUCHY_SCHWARZ, DIAGONAL_ROWS, LINEAR_MAP, RAYLEIGH
from rnnbounds.theory.axioms.jets import LARGEST_ROW
from rnnbounds.theory.axioms.unitary import EXTENSIONAL, MONOTONE_NORM
from rnnbounds.theory.language import Instance, Statement, at, eq, le, lt, symbols
from rnnbounds.theory.language.terms.gates import GATED_RUN
from rnnbounds.theory.language.terms.gradients import activation, d_state
from rnnbounds.theory.language.terms.jets import row, unit_weight
from rnnbounds.theory.language.terms.unitary import part, rank
from rnnbounds.theory.language.terms.variables import A, X, Y, a, b, c, i, operator, v, x
from rnnbounds.theory.language.terms.vectors import inner, max_norm, norm, row_norm, state, weighted
from rnnbounds.theory.models.cells import W
from rnnbounds.theory.models.geometry import QUADRATIC
from rnnbounds.theory.models.unitary.local_maps import ORTHOGONAL, PATTERNS, pattern
from rnnbounds.theory.models.unitary.networks import RELU
from rnnbounds.theory.models.weights.projection import SQUARE
from rnnbounds.theory.proof import Step
from rnnbounds.theory.proof.methods import Smt

lam, S_0, L_f = symbols("lam S_0 L_f")
V = operator("V")
OPERATOR, VECTOR = "operator for vector", "vector for operator"


def used(goal: Statement, *uses: Instance | str, reason: str = OPERATOR) -> Attack:
    """By one law."""
    return ends(goal, Smt(*uses), reason)


def seen(step: Step, goal: Statement, *terms: object, reason: str = OPERATOR) -> Attack:
    """By a step on vectors, at operators."""
    return through(step, goal, terms, reason)


rows_small = assume(
    "rows", le(weighted(row(d_state(a, b), i)), lam * unit_weight(i)), variables=(a, b, i)
)
parallelogram = every(
    eq(norm(a + c) ** 2 + norm(a - c) ** 2, 2 * norm(a) ** 2 + 2 * norm(c) ** 2),
    (a, c),
    by=Smt(at(SQUARE.id, a, c), at(SQUARE.id, a, -c), INNER_PRODUCT.at(a, c, c)),
)
SORTS: dict[str, Attack | Forgery] = {
    # diag(1, 0) ± diag(0, 1) have the spectral norm 1, as both have: 2 = 4.
    "the parallelogram law of operators": Attack(
        (
            SQUARE,
            parallelogram,
            Step(
                "claim",
                eq(norm(W + V) ** 2 + norm(W - V) ** 2, 2 * norm(W) ** 2 + 2 * norm(V) ** 2),
                Smt(at("s", W, V)),
            ),
        ),
        eq(norm(W + V) ** 2 + norm(W - V) ** 2, 2 * norm(W) ** 2 + 2 * norm(V) ** 2),
        (),
        OPERATOR,
    ),
    "an inner product of operators": used(eq(inner(W, W), norm(W) ** 2), INNER_PRODUCT.at(W, W, W)),
    "Cauchy and Schwarz on operators": used(
        le(inner(W, V), norm(W) * norm(V)), CAUCHY_SCHWARZ.at(W, V)
    ),
    # ‖D V‖ = ‖(I − D) V‖ = ‖V‖ = 1 of the swap.
    "patterns of an operator": ends(
        le(norm(pattern(0) * V), 0), Smt(at("patterns", 0, V)), OPERATOR, PATTERNS
    ),
    "an isometry of operators": ends(
        eq(norm(V * W), norm(W)), Smt(at("orthogonal", W)), OPERATOR, ORTHOGONAL
    ),
    "ReLU of an operator": ends(
        le(0, part(activation(W), 0)), Smt(at("relu", W, 0)), OPERATOR, RELU
    ),
    # A rotation by 45° has the row sum √2, and entries below 1.
    "the largest entry of an operator": used(le(part(W, 0), max_norm(W)), LARGEST_ENTRY.at(W, 0)),
    "row sums by entries": Attack(
        (
            Step("entries", le(part(W, i), S_0), Smt("small"), (i,)),
            Step("claim", le(max_norm(W), S_0), Smt("entries", LEAST_BOUND.at(S_0, W))),
        ),
        le(max_norm(W), S_0),
        (assume("small", le(part(W, i), S_0), variables=(i,)),),
        OPERATOR,
    ),
    "norms of an operator by row sums": used(
        le(norm(W), max_norm(W)), EUCLIDEAN_BY_LARGEST.at(W, 1)
    ),
    "operators by their entries": used(eq(W, V), EXTENSIONAL.at(W, V)),
    "operators ordered by entries": used(le(norm(W), norm(V)), MONOTONE_NORM.at(W, V)),
    "entries of operators": used(eq(part(W + V, 0), 0), ENTRIES.at(W, W, V, v, 0)),
    "the mean value of operators": used(le(norm(activation(W)), norm(W)), base.MEAN_VALUE.at(W, 0)),
    "slopes between operators": used(le(norm(W), 0), base.DIAGONAL_NORM.at(W, V)),
    "a projection of operators": used(le(norm(W), 0), base.PROJECTION.at(W, V)),
    "the rows of a product": used(le(norm(W * V), row_norm(W) * norm(V)), DIAGONAL_ROWS.at(W, V)),
    "the norm of a vector as a map": used(le(norm(v), L_f), LINEAR_MAP.at(L_f, v), reason=VECTOR),
    "the spectrum of a vector": used(le(norm(v), S_0), RAYLEIGH.at(S_0, v), reason=VECTOR),
    "a run from an operator": used(eq(norm(W), 0), GATED_RUN.at(W, x, 0)),
    "a vector takes a vector": used(le(norm(a), 0), base.SUBMULTIPLICATIVE.at(a, b), reason=VECTOR),
    "an operator and a vector": used(
        le(norm(W), norm(a)), base.TRIANGLE.at(W, a), reason="adds operator and vector"
    ),
    "a number is a vector": used(
        le(S_0, 0), base.TRIANGLE.at(S_0, a), reason="number for vector or operator"
    ),
    "a vector is a number": used(
        le(norm(a), 0), base.HOMOGENEITY.at(a, b), reason="vector for number"
    ),
    "a step on either at a number": through(
        every(le(norm(X), norm(X) + norm(Y)), (X, Y)),
        le(S_0, 0),
        (S_0, a),
        "number for vector or operator",
    ),
    "a step on vectors at an operator": seen(every(le(0, norm(v)), (v,)), le(norm(W), 0), W),
    # In ‖P^{1/2}·‖₂ an operator is larger than its rows.
    "the largest row in the quadratic norm": Attack(
        (
            Step(
                "each row",
                le(weighted(row(d_state(a, b), i)), lam * unit_weight(i)),
                Smt(at("rows", a, b, i)),
                (i,),
            ),
            Step(
                "claim",
                le(weighted(d_state(a, b)), lam),
                Smt("each row", LARGEST_ROW.at(lam, d_state(a, b))),
            ),
        ),
        le(weighted(d_state(a, b)), lam),
        (rows_small, QUADRATIC.contraction),
        "in_largest = 2",
    ),
    "vectors in order": used(le(a, b), reason="compares no numbers"),
    "a vector equal to an operator": ends(
        le(norm(A), norm(a)), Smt("same"), "are compared", assume("same", eq(A, a))
    ),
    "a vector above a number": used(lt(0, norm(a + 1)), reason="adds number and vector"),
    "the rank of a product of vectors": used(le(rank(a * b), 0), reason="no operator"),
    "the square of a state": used(le(norm(state(x, 0, 1) ** 2), 0), reason="a power of a vector"),
}
