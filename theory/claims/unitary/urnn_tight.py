"""2n states are needed to match some contractive ReLU networks (Emami et al., Theorem 3.2).

By ranks, two steps need 2n − rank W: a candidate loses at most m − rank D of a rank where its
pattern D acts, and what it must forget it has to move where E does not see it.
"""

from sympy import Expr

from rnnbounds.theory.axioms import ranks
from rnnbounds.theory.language import ZERO, Assumption, Use, at, eq, le, lt, ne, symbols
from rnnbounds.theory.language.terms.unitary import rank
from rnnbounds.theory.language.terms.variables import v
from rnnbounds.theory.language.terms.vectors import norm
from rnnbounds.theory.language.vocabulary import DEFINITIONS
from rnnbounds.theory.models.system import TWO_STEPS
from rnnbounds.theory.models.unitary.local_maps import (
    MATCH,
    ORTHOGONAL,
    PATTERNS,
    SAME,
    E,
    V,
    W,
    n,
    pattern,
    rest,
    separation,
    states,
)
from rnnbounds.theory.models.unitary.moves import MOVES, ON_CELL, G_n, I_n
from rnnbounds.theory.proof import Claim, Source, Step, step, theorem

(W_rank,) = symbols("W_rank")

FORGETFUL = Assumption("forgetful", "W = 0", eq(W_rank, ZERO))
FEWER = Assumption("fewer states", "m < 2n", lt(states, 2 * n))

first, second, idle_pattern = pattern(0), pattern(1), rest(1)
moved = V * first * G_n
apart = DEFINITIONS[separation]  # as laws that are required state it


def vanishing_step(id: str, difference: Expr, *uses: Use) -> Step:
    """Of two answers that are the same, the difference takes each vector to 0."""
    return step(id, eq(norm(difference * v), ZERO), (v,), (SAME,)).by(*uses, "two steps")


def seen_steps(name: str, time: int) -> tuple[Step, Step]:
    """Steps: the input of that time is seen as a whole by the outputs."""
    answer = E * pattern(time) * G_n
    return (
        vanishing_step(f"{name} move is seen", answer - I_n, at("a move is seen", time, v)),
        step(f"{name} input is seen", le(n, rank(answer)), given=(SAME,)).by(
            f"{name} move is seen",
            ranks.RANK_ZERO.at(answer - I_n, apart),
            ranks.RANK_SUM.at(answer, I_n - answer),
            ranks.RANK_IDENTITY.at(n),
        ),
    )


answer = E * second * moved
LEMMAS = (
    *MOVES,
    *seen_steps("first", 0),
    *seen_steps("second", 1),
    vanishing_step("first move is remembered", answer - W * I_n, at("a move is remembered", 0, v)),
    step("what is remembered", le(rank(answer), rank(W)), given=(SAME,)).by(
        "first move is remembered",
        ranks.RANK_ZERO.at(answer - W * I_n, apart),
        ranks.RANK_SUM.at(W * I_n, answer - W * I_n),
        ranks.RANK_PRODUCT.at(W, I_n),
    ),
    step(
        "nothing is lost",
        eq(norm(first * G_n * v), ZERO),
        forall=(v,),
        given=(eq(norm(second * moved * v), ZERO), eq(norm(idle_pattern * moved * v), ZERO)),
    ).by(
        at("patterns", 1, moved * v),
        at("orthogonal", first * G_n * v),
        at("patterns", 0, v),
        ranks.ROWS_OF_PRODUCT.at(first, G_n * v),
        ranks.ROWS_OF_PRODUCT.at(V, first * G_n * v),
    ),
    step("two steps need room", le(2 * n, states + rank(W)), given=(SAME,)).by(
        "first input is seen",
        "second input is seen",
        "what is remembered",
        "nothing is lost",
        ranks.RANK_FROBENIUS.at(E, second, moved),
        ranks.RANK_PRODUCT.at(E * second, G_n),
        ranks.RANK_PRODUCT.at(E, first * G_n),
        ranks.RANK_KERNELS.at(second * moved, idle_pattern * moved, first * G_n),
        ranks.RANK_PRODUCT.at(idle_pattern, moved),
        at("patterns", 1, v),
    ),
)
MODEL = (ORTHOGONAL, PATTERNS, *ON_CELL, TWO_STEPS)

EXCLUDED = theorem(
    "excluded", ne(separation, ZERO), (*MODEL, FORGETFUL, FEWER), "candidate", LEMMAS
).by("two steps need room", "forgetful", "fewer states")
NEEDED = theorem("needed", le(2 * n, states), (*MODEL, MATCH, FORGETFUL), "candidate", LEMMAS).by(
    "two steps need room", "match", "forgetful"
)

URNN_TIGHT = Claim(
    id="urnn-tight",
    title="Some contractive ReLU networks need 2n states of a unitary one",
    source=Source(
        "Emami et al., Input-Output Equivalence of Unitary and Contractive RNNs", "Theorem 3.2"
    ),
    forms=(EXCLUDED, NEEDED),
    false_variants=(
        EXCLUDED.variant(
            "at-2n",
            "2n states are too few as well",
            Assumption(FEWER.id, "m ≤ 2n", le(states, 2 * n)),
        ),
        EXCLUDED.variant(
            "one-fewer-suffices",
            "2n − 1 states match W = 0",
            eq(separation, ZERO),
            Assumption(FEWER.id, "m = 2n − 1", eq(states, 2 * n - 1)),
        ),
        NEEDED.variant("one-more", "2n + 1 states are needed", le(2 * n + 1, states)),
        NEEDED.variant("any-contraction", "every contraction needs 2n states", without="forgetful"),
    ),
    extremal="W = 0 and the swap of n states with n others: 2n states match",
    example_factor=2.25,
)
