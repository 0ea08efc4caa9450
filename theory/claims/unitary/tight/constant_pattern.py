"""A candidate whose activity pattern D never changes needs m ≥ rank D + n states for W = ρ I.

With A = D V and B = A − ρ I let X_j = (D G, B D G, …, B^j D G).  E takes B X_j to 0, and B takes
nothing but 0 to 0 up to m − rank D dimensions, since ‖A v‖ = ρ ‖v‖ only where I − D sees V v.  So
each step adds n − (m − rank D) to rank X_j, which is at most rank D.
"""

from sympy import Expr, Max

from rnnbounds.theory.axioms.base import HOMOGENEITY, TRIANGLE
from rnnbounds.theory.axioms.ranks import (
    RANK_BESIDE,
    RANK_IDENTITY,
    RANK_KERNELS,
    RANK_PRODUCT,
    RANK_SCALED,
    RANK_SUM,
    RANK_WHOLE,
    RANK_ZERO,
    ROWS_BESIDE,
    ROWS_OF_PRODUCT,
    ROWS_OF_SUM,
)
from rnnbounds.theory.language import ZERO, Use, at, eq, le
from rnnbounds.theory.language.terms.unitary import rank, rows
from rnnbounds.theory.language.terms.variables import i, j, v
from rnnbounds.theory.language.terms.vectors import norm
from rnnbounds.theory.language.vocabulary import DEFINITIONS
from rnnbounds.theory.models.system import TWO_STEPS
from rnnbounds.theory.models.unitary import moves
from rnnbounds.theory.models.unitary.krylov import (
    A_1,
    CONSTANT,
    CROWDED,
    FACTOR,
    FADED,
    LONG,
    MOVED,
    OF_CANDIDATE,
    OF_NETWORK,
    SCALAR,
    SEEN,
    SELECTS,
    X,
    X_next,
    active,
    faded,
    first,
    idle_pattern,
    krylov_image,
    krylov_use,
    observed_row,
    response_column,
    shifted_product,
)
from rnnbounds.theory.models.unitary.local_maps import (
    MATCH,
    ORTHOGONAL,
    SAME,
    D,
    E,
    T,
    V,
    n,
    rho,
    separation,
    states,
)
from rnnbounds.theory.proof import Step, step, theorem
from rnnbounds.theory.proof.methods import HYPOTHESIS, Identity, Induction

_small = moves.small(0, v)


def _all_steps_step(network: moves.AffineRun, response: Expr, *uses: Use) -> Step:
    """Step: moving x_0 by z v moves the state j steps later by z `response` (a term in v and j)."""
    runs = (network.run(moves.nudged(0, by), j + 1) for by in (v, ZERO))
    lhs, rhs = next(runs), next(runs) + _small * response
    inputs = [at("inputs", 0, by, 0) for by in (v, ZERO)]
    later = [at("inputs", 0, by, j) for by in (v, ZERO)]
    base = Identity(*network.on_cell(ZERO, ZERO), *inputs, *uses)
    induction_step = Identity(HYPOTHESIS, *network.on_cell(ZERO, j + 1), *later, *uses)
    return Step(
        f"{network.name} moves over steps", eq(lhs, rhs), Induction(j, base, induction_step), (v, j)
    )


def kept(index: Expr) -> Expr:
    """The term ρ^j v."""
    return faded(rho, moves.I_n * v, index)


def answered(index: Expr) -> Expr:
    """E (D V)^j D G v − ρ^j v: the candidate's output response to a move v, less the network's."""
    return E * response_column(index) * v - kept(index)


def through(index: Expr) -> Expr:
    """E (D V)^j D G v − ρ^j v, with E (D V)^j as one operator (`seen`) on D G v."""
    return observed_row(index) * first * v - kept(index)


_nudged_output, _unmoved_output = (
    moves.output_difference(moves.nudged(0, by), j) for by in (v, ZERO)
)
_missing_steps = Max(i + 2 - T, 0)  # 0 where there are so many steps
RESPONSES = (
    _all_steps_step(OF_CANDIDATE, response_column(j) * v, MOVED.at(A_1, first, j)),
    _all_steps_step(OF_NETWORK, kept(j), FADED.at(rho, moves.I_n * v, j)),
    step("answers", eq(norm(answered(j)), ZERO), (v, j), (SAME, le(j + 1, T))).by(
        at("candidate moves over steps", v, j),
        at("network moves over steps", v, j),
        at("agreement", 0, v, j),
        at("agreement", 0, 0, j),
        TRIANGLE.at(_nudged_output, -_unmoved_output),
        HOMOGENEITY.at(_small, answered(j)),
        at("inputs", 0, v, 0),
    ),
    step(
        "seen from the start",
        eq(norm((observed_row(i) * response_column(j) - E * response_column(i + j)) * v), ZERO),
        (v, i, j),
    ).inductively(
        base=(SEEN.at(A_1, E, 0),),
        step=(at(HYPOTHESIS, j + 1), SEEN.at(A_1, E, i), MOVED.at(A_1, first, j)),
        over=i,
        others=(j,),
    ),
    step("seen and answered", eq(norm(through(i)), ZERO), (v, i), (le(i + 1, T),)).by(
        "match",
        at("answers", v, i),
        at("seen from the start", v, i, 0),
        MOVED.at(A_1, first, 0),
        TRIANGLE.at((observed_row(i) * first - E * response_column(i)) * v, answered(i)),
    ),
)
FACTOR_STEPS = (
    *RESPONSES,
    step("the move is seen", eq(norm((E * first - moves.I_n) * v), ZERO), (v,), (SAME,)).by(
        "two steps", at("answers", v, 0), MOVED.at(A_1, first, 0), FADED.at(rho, moves.I_n * v, 0)
    ),
    step("the input is seen", le(n, rank(E * first))).by(
        "match",
        "the move is seen",
        RANK_ZERO.at(E * first - moves.I_n, DEFINITIONS[separation]),
        RANK_SUM.at(E * first, moves.I_n - E * first),
        RANK_IDENTITY.at(n),
    ),
    step(
        "no other move is seen",
        eq(norm(shifted_product(observed_row(i), first) * v), ZERO),
        (v,),
        (eq(_missing_steps, ZERO),),
    ).by(
        at("seen and answered", v, i),
        at("seen and answered", v, i + 1),
        SEEN.at(A_1, E, i),
        FADED.at(rho, moves.I_n * v, i),
        TRIANGLE.at(through(i + 1), -rho * through(i)),
        HOMOGENEITY.at(rho, through(i)),
        "factor",
    ),
    step(
        "nothing else is",
        eq(rank(shifted_product(observed_row(i), first)), ZERO),
        forall=(i,),
        given=(le(i + 2, T),),
    ).by(
        "no other move is seen",
        RANK_ZERO.at(shifted_product(observed_row(i), first), _missing_steps),
    ),
    step(
        "E takes B X to 0",
        eq(rank(shifted_product(observed_row(i), X)), ZERO),
        forall=(i, j),
        given=(le(i + j + 2, T),),
    ).inductively(
        base=(krylov_use, at("nothing else is", i), "given 1"),
        step=(
            "given 1",
            krylov_use,
            SEEN.at(A_1, E, i),
            at(HYPOTHESIS, i),
            at(HYPOTHESIS, i + 1),
            at("nothing else is", i),
            RANK_BESIDE.at(observed_row(i) * A_1 - rho * observed_row(i), first, krylov_image),
            RANK_SUM.at(
                shifted_product(observed_row(i + 1), X), -rho * shifted_product(observed_row(i), X)
            ),
            RANK_SCALED.at(rho, shifted_product(observed_row(i), X)),
        ),
        others=(i,),
    ),
)
FRAME = (
    step("rows", le(rows(X), states), forall=(j,)).by_induction(
        base=(krylov_use, ROWS_OF_PRODUCT.at(D, moves.G_n), "pattern"),
        step=(
            krylov_use,
            "pattern",
            ROWS_BESIDE.at(first, krylov_image, states),
            ROWS_OF_SUM.at(A_1 * X, X, states, -rho),
            ROWS_OF_PRODUCT.at(D, moves.G_n),
            ROWS_OF_PRODUCT.at(D, V * X),
        ),
    ),
    step("no inactive unit", eq(rank(idle_pattern * X), ZERO), forall=(j,)).by_induction(
        base=(krylov_use, RANK_PRODUCT.at(idle_pattern * D, moves.G_n), "pattern"),
        step=(
            krylov_use,
            "pattern",
            RANK_BESIDE.at(idle_pattern, first, krylov_image),
            RANK_SUM.at(idle_pattern * A_1 * X, -rho * idle_pattern * X),
            RANK_SCALED.at(rho, idle_pattern * X),
            RANK_PRODUCT.at(idle_pattern * D, moves.G_n),
            RANK_PRODUCT.at(idle_pattern * D, V * X),
        ),
    ),
    step(
        "active or not",
        eq(norm(X * v), ZERO),
        forall=(v,),
        given=(eq(norm(D * X * v), ZERO), eq(norm(idle_pattern * X * v), ZERO)),
    ).by(at("pattern", X * v), at("rows", j), ROWS_OF_PRODUCT.at(X, v)),
    step("at most the active units", le(rank(X), rank(D)), forall=(j,)).by(
        at("no inactive unit", j),
        "active or not",
        RANK_KERNELS.at(D * X, idle_pattern * X, X),
        RANK_PRODUCT.at(D, X),
    ),
)
GROWTH = (
    step(
        "eigenvectors are seen by the rest",
        eq(norm(X * v), ZERO),
        forall=(v,),
        given=(eq(norm(krylov_image * v), ZERO), eq(norm(idle_pattern * V * X * v), ZERO)),
    ).by(
        TRIANGLE.at(krylov_image * v, rho * X * v),
        HOMOGENEITY.at(rho, X * v),
        "factor",
        at("pattern", V * X * v),
        at("orthogonal", X * v),
        at("rows", j),
        ROWS_OF_PRODUCT.at(X, v),
        ROWS_OF_PRODUCT.at(V, X * v),
    ),
    step(
        "growth",
        le(rank(X) + n + rank(D), rank(X_next) + states),
        forall=(j,),
        given=(le(j + 2, T),),
    ).by(
        krylov_use,
        "the input is seen",
        at("E takes B X to 0", 0, j),
        SEEN.at(A_1, E, 0),
        RANK_BESIDE.at(E, first, krylov_image),
        "eigenvectors are seen by the rest",
        RANK_KERNELS.at(krylov_image, idle_pattern * V * X, X),
        RANK_PRODUCT.at(idle_pattern, V * X),
        "pattern",
    ),
    step(
        "growth by one", le(n + j, rank(X)), forall=(j,), given=(CROWDED, le(j + 1, T))
    ).inductively(
        base=(krylov_use, RANK_PRODUCT.at(E, first), "the input is seen"),
        step=(HYPOTHESIS, "given 1", "given 2", at("growth", j), RANK_WHOLE.at(D, n, states)),
    ),
    step("with fewer states", le(n + T - 1, rank(D)), given=(CROWDED,)).by(
        "two steps", at("growth by one", T - 1), at("at most the active units", T - 1)
    ),
)
CONSTANT_PATTERN = theorem(
    "constant-pattern",
    le(active + n, states),
    (
        *(ORTHOGONAL, SELECTS, CONSTANT, SCALAR, FACTOR, moves.INPUTS, moves.AGREEMENT, MATCH),
        *(TWO_STEPS, LONG),
    ),
    "candidate",
    (*FACTOR_STEPS, *FRAME, *GROWTH),
).by("with fewer states", "long enough")
