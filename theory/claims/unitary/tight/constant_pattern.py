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
    definition,
    faded,
    first,
    idle,
    image,
    moved,
    seen,
    shifted,
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


def _over_steps(of: moves.Affine, answer: Expr, *uses: Use) -> Step:
    """Step: moving x_0 by z v moves the state j steps later by z `answer` (a term in v and j)."""
    runs = (of.run(moves.nudged(0, by), j + 1) for by in (v, ZERO))
    lhs, rhs = next(runs), next(runs) + _small * answer
    inputs = [at("inputs", 0, by, 0) for by in (v, ZERO)]
    later = [at("inputs", 0, by, j) for by in (v, ZERO)]
    base = Identity(*of.on_cell(ZERO, ZERO), *inputs, *uses)
    again = Identity(HYPOTHESIS, *of.on_cell(ZERO, j + 1), *later, *uses)
    return Step(f"{of.name} moves over steps", eq(lhs, rhs), Induction(j, base, again), (v, j))


def kept(index: Expr) -> Expr:
    """ρ^j v."""
    return faded(rho, moves.I_n * v, index)


def answered(index: Expr) -> Expr:
    """E (D V)^j D G v − ρ^j v: the candidate's output response to a move v, less the network's."""
    return E * moved(index) * v - kept(index)


def through(index: Expr) -> Expr:
    """E (D V)^j D G v − ρ^j v, with E (D V)^j as one operator (`seen`) on D G v."""
    return seen(index) * first * v - kept(index)


_moved_out, _still_out = (moves.outputs_apart(moves.nudged(0, by), j) for by in (v, ZERO))
_none_left = Max(i + 2 - T, 0)  # 0 where there are so many steps
RESPONSES = (
    _over_steps(OF_CANDIDATE, moved(j) * v, MOVED.at(A_1, first, j)),
    _over_steps(OF_NETWORK, kept(j), FADED.at(rho, moves.I_n * v, j)),
    step("answers", eq(norm(answered(j)), ZERO), (v, j), (SAME, le(j + 1, T))).by(
        at("candidate moves over steps", v, j),
        at("network moves over steps", v, j),
        at("agreement", 0, v, j),
        at("agreement", 0, 0, j),
        TRIANGLE.at(_moved_out, -_still_out),
        HOMOGENEITY.at(_small, answered(j)),
        at("inputs", 0, v, 0),
    ),
    step(
        "seen from the start",
        eq(norm((seen(i) * moved(j) - E * moved(i + j)) * v), ZERO),
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
        TRIANGLE.at((seen(i) * first - E * moved(i)) * v, answered(i)),
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
        eq(norm(shifted(seen(i), first) * v), ZERO),
        (v,),
        (eq(_none_left, ZERO),),
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
        eq(rank(shifted(seen(i), first)), ZERO),
        forall=(i,),
        given=(le(i + 2, T),),
    ).by("no other move is seen", RANK_ZERO.at(shifted(seen(i), first), _none_left)),
    step(
        "E takes B X to 0",
        eq(rank(shifted(seen(i), X)), ZERO),
        forall=(i, j),
        given=(le(i + j + 2, T),),
    ).inductively(
        base=(definition, at("nothing else is", i), "given 1"),
        step=(
            "given 1",
            definition,
            SEEN.at(A_1, E, i),
            at(HYPOTHESIS, i),
            at(HYPOTHESIS, i + 1),
            at("nothing else is", i),
            RANK_BESIDE.at(seen(i) * A_1 - rho * seen(i), first, image),
            RANK_SUM.at(shifted(seen(i + 1), X), -rho * shifted(seen(i), X)),
            RANK_SCALED.at(rho, shifted(seen(i), X)),
        ),
        others=(i,),
    ),
)
FRAME = (
    step("rows", le(rows(X), states), forall=(j,)).by_induction(
        base=(definition, ROWS_OF_PRODUCT.at(D, moves.G_n), "pattern"),
        step=(
            definition,
            "pattern",
            ROWS_BESIDE.at(first, image, states),
            ROWS_OF_SUM.at(A_1 * X, X, states, -rho),
            ROWS_OF_PRODUCT.at(D, moves.G_n),
            ROWS_OF_PRODUCT.at(D, V * X),
        ),
    ),
    step("no inactive unit", eq(rank(idle * X), ZERO), forall=(j,)).by_induction(
        base=(definition, RANK_PRODUCT.at(idle * D, moves.G_n), "pattern"),
        step=(
            definition,
            "pattern",
            RANK_BESIDE.at(idle, first, image),
            RANK_SUM.at(idle * A_1 * X, -rho * idle * X),
            RANK_SCALED.at(rho, idle * X),
            RANK_PRODUCT.at(idle * D, moves.G_n),
            RANK_PRODUCT.at(idle * D, V * X),
        ),
    ),
    step(
        "active or not",
        eq(norm(X * v), ZERO),
        forall=(v,),
        given=(eq(norm(D * X * v), ZERO), eq(norm(idle * X * v), ZERO)),
    ).by(at("pattern", X * v), at("rows", j), ROWS_OF_PRODUCT.at(X, v)),
    step("at most the active units", le(rank(X), rank(D)), forall=(j,)).by(
        at("no inactive unit", j),
        "active or not",
        RANK_KERNELS.at(D * X, idle * X, X),
        RANK_PRODUCT.at(D, X),
    ),
)
GROWTH = (
    step(
        "eigenvectors are seen by the rest",
        eq(norm(X * v), ZERO),
        forall=(v,),
        given=(eq(norm(image * v), ZERO), eq(norm(idle * V * X * v), ZERO)),
    ).by(
        TRIANGLE.at(image * v, rho * X * v),
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
        definition,
        "the input is seen",
        at("E takes B X to 0", 0, j),
        SEEN.at(A_1, E, 0),
        RANK_BESIDE.at(E, first, image),
        "eigenvectors are seen by the rest",
        RANK_KERNELS.at(image, idle * V * X, X),
        RANK_PRODUCT.at(idle, V * X),
        "pattern",
    ),
    step(
        "growth by one", le(n + j, rank(X)), forall=(j,), given=(CROWDED, le(j + 1, T))
    ).inductively(
        base=(definition, RANK_PRODUCT.at(E, first), "the input is seen"),
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
