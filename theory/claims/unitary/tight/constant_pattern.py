"""A candidate whose activity pattern D never changes needs m ≥ rank D + n states for W = ρ I.

With A = D V and B = A − ρ I let X_j = (D G, B D G, …, B^j D G).  E takes B X_j to 0, and B takes
nothing but 0 to 0 up to m − rank D dimensions, since ‖A v‖ = ρ ‖v‖ only where I − D sees V v.  So
each step adds n − (m − rank D) to rank X_j, which is at most rank D.
"""

from theory.axioms.base import HOMOGENEITY, TRIANGLE
from theory.axioms.ranks import (
    RANK_BESIDE,
    RANK_IDENTITY,
    RANK_KERNELS,
    RANK_PRODUCT,
    RANK_SCALED,
    RANK_SUM,
    RANK_WHOLE,
    ROWS_BESIDE,
    ROWS_OF_PRODUCT,
    ROWS_OF_SUM,
)
from theory.language import ONE, ZERO, at, eq, le
from theory.language.terms.unitary import rank, rows
from theory.language.terms.variables import i, j, v
from theory.language.terms.vectors import norm
from theory.models.system import TWO_STEPS
from theory.models.unitary.krylov import (
    A_1,
    CONSTANT,
    CROWDED,
    LONG,
    SCALAR,
    SELECTS,
    X,
    X_next,
    active,
    definition,
    first,
    idle,
    image,
    seen,
    shifted,
)
from theory.models.unitary.local_maps import (
    AGREEMENT,
    MATCH,
    ORTHOGONAL,
    D,
    E,
    G,
    T,
    V,
    n,
    response_candidate,
    rho,
    states,
)
from theory.proof import step, theorem
from theory.proof.methods import HYPOTHESIS

FACTOR = (
    step("one step", le(ONE, T)).by("two steps"),
    step("composed", eq(rank(E * first), rank(response_candidate(0, 0)))).by(
        at("constant pattern", 0)
    ),
    step(
        "composed over steps",
        eq(
            rank(shifted(seen(i), first)),
            rank(response_candidate(i + 1, 0) - rho * response_candidate(i, 0)),
        ),
        forall=(i,),
    ).by(at("constant pattern", i), at("constant pattern", i + 1)),
    step("the input is seen", eq(rank(E * first), n)).by(
        "match", "one step", "composed", at("agreement", 0, 0), at("scalar", 0), RANK_IDENTITY.at(n)
    ),
    step(
        "nothing else is",
        eq(rank(shifted(seen(i), first)), ZERO),
        forall=(i,),
        given=(le(i + 1, T), le(i + 2, T)),
    ).by(
        "match",
        at("composed over steps", i),
        at("agreement", i, 0),
        at("agreement", i + 1, 0),
        at("scalar", i),
    ),
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
            at("constant pattern", i),
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
        base=(definition, ROWS_OF_PRODUCT.at(D, G), "pattern"),
        step=(
            definition,
            "pattern",
            ROWS_BESIDE.at(first, image, states),
            ROWS_OF_SUM.at(A_1 * X, X, states, -rho),
            ROWS_OF_PRODUCT.at(D, G),
            ROWS_OF_PRODUCT.at(D, V * X),
        ),
    ),
    step("no inactive unit", eq(rank(idle * X), ZERO), forall=(j,)).by_induction(
        base=(definition, RANK_PRODUCT.at(idle * D, G), "pattern"),
        step=(
            definition,
            "pattern",
            RANK_BESIDE.at(idle, first, image),
            RANK_SUM.at(idle * A_1 * X, -rho * idle * X),
            RANK_SCALED.at(rho, idle * X),
            RANK_PRODUCT.at(idle * D, G),
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
        at("scalar", 0),
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
        at("constant pattern", 0),
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
    (ORTHOGONAL, SELECTS, CONSTANT, SCALAR, AGREEMENT, MATCH, TWO_STEPS, LONG),
    "candidate",
    (*FACTOR, *FRAME, *GROWTH),
).by("with fewer states", "long enough")
