"""Two steps of a ReLU network need 2n − rank W states to be matched, by ranks alone.

A candidate loses at most m − rank D of a rank where its pattern D acts, and what it
must forget it has to move where E does not see it.
"""

from theory.axioms.ranks import (
    RANK_FROBENIUS,
    RANK_IDENTITY,
    RANK_KERNELS,
    RANK_PRODUCT,
    ROWS_OF_PRODUCT,
)
from theory.language import ZERO, Assumption, at, eq, le, lt, ne, symbols
from theory.language.terms.unitary import rank
from theory.language.terms.variables import m, v
from theory.language.terms.vectors import norm
from theory.models.system import TWO_STEPS
from theory.models.unitary.local_maps import (
    AGREEMENT,
    CELL,
    MATCH,
    NETWORK,
    ORTHOGONAL,
    PATTERNS,
    SAME,
    E,
    G,
    V,
    W,
    n,
    pattern,
    response_candidate,
    rest,
    separation,
    states,
)
from theory.proof import step, theorem

T, W_rank = symbols("T W_rank")

FORGETFUL = Assumption("forgetful", "W = 0", eq(W_rank, ZERO))
FEWER = Assumption("fewer states", "m < 2n", lt(states, 2 * n))

first, second, idle = pattern(0), pattern(1), rest(1)
moved = V * first * G
LEMMAS = (
    step("composed", eq(rank(E * pattern(m) * G), rank(response_candidate(m, m))), forall=(m,)).by(
        at("cell", m)
    ),
    step("composed over a step", eq(rank(E * second * moved), rank(response_candidate(1, 0)))).by(
        at("cell", 0)
    ),
    step(
        "the input is seen",
        eq(rank(E * pattern(m) * G), n),
        forall=(m,),
        given=(SAME, le(m + 1, T)),
    ).by(at("composed", m), at("agreement", m, m), at("network", m), RANK_IDENTITY.at(n)),
    step("what is remembered", eq(rank(E * second * moved), rank(W)), given=(SAME,)).by(
        "two steps", "composed over a step", at("agreement", 1, 0), at("network", 0)
    ),
    step(
        "nothing is lost",
        eq(norm(first * G * v), ZERO),
        forall=(v,),
        given=(eq(norm(second * moved * v), ZERO), eq(norm(idle * moved * v), ZERO)),
    ).by(
        at("patterns", 1, moved * v),
        at("orthogonal", first * G * v),
        at("patterns", 0, v),
        ROWS_OF_PRODUCT.at(first, G * v),
        ROWS_OF_PRODUCT.at(V, first * G * v),
    ),
    step("two steps need room", le(2 * n, states + rank(W)), given=(SAME,)).by(
        "two steps",
        at("the input is seen", 0),
        at("the input is seen", 1),
        "what is remembered",
        "nothing is lost",
        RANK_FROBENIUS.at(E, second, moved),
        RANK_PRODUCT.at(E * second, G),
        RANK_PRODUCT.at(E, first * G),
        RANK_KERNELS.at(second * moved, idle * moved, first * G),
        RANK_PRODUCT.at(idle, moved),
        at("patterns", 1, v),
    ),
)
MODEL = (ORTHOGONAL, PATTERNS, CELL, NETWORK, AGREEMENT, TWO_STEPS)

EXCLUDED = theorem(
    "excluded",
    ne(separation, ZERO),
    (*MODEL, FORGETFUL, FEWER),
    "candidate",
    LEMMAS,
).by("two steps need room", "forgetful", "fewer states")
NEEDED = theorem(
    "needed",
    le(2 * n, states),
    (*MODEL, MATCH, FORGETFUL),
    "candidate",
    LEMMAS,
).by("two steps need room", "match", "forgetful")
KERNEL = theorem(
    "kernel",
    le(2 * n - W_rank, states),
    (*MODEL, MATCH),
    "candidate",
    LEMMAS,
).by("two steps need room", "match")
