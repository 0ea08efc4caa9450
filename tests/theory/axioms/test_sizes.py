"""Operators of two sizes: no identity, and no coordinates, are those of all sizes at once."""

from sympy import Symbol

from rnnbounds.theory.axioms import ranks
from rnnbounds.theory.axioms.unitary import COSINES, SINGULAR_VALUES, left, right, singular
from rnnbounds.theory.claims.unitary.urnn_defect import NEEDED
from rnnbounds.theory.language import Instance, at, eq, le, symbols
from rnnbounds.theory.language.terms.unitary import J_2, J, V, eye_all, identity, rank
from rnnbounds.theory.language.terms.variables import eye
from rnnbounds.theory.language.terms.vectors import transpose
from rnnbounds.theory.models.cells import W
from rnnbounds.theory.proof import Proof, Step, check
from rnnbounds.theory.proof.methods import Smt, Words

n, states, W_rank, defect_rank = symbols("n states W_rank defect_rank")


def test_singular_values_of_two_sizes_make_no_identity_larger() -> None:
    """One I for matrices of all sizes would have any rank: 2n < rank W + rank(I − WᵀW) for all."""
    large = identity(2 * n + 1)
    P, Q = left(large), right(large)
    values = SINGULAR_VALUES.at(*(large for _ in SINGULAR_VALUES.variables))
    goal = le(2 * n + 1, W_rank + defect_rank)
    steps = (
        Step("values", eq(rank(large), rank(P * singular(large) * transpose(Q))), Words(values)),
        Step("gram", eq(rank(transpose(transpose(Q)) * transpose(Q)), rank(eye)), Words(values)),
        Step(
            "claim",
            goal,
            Smt(
                "values",
                "gram",
                ranks.RANK_IDENTITY.at(2 * n + 1),
                ranks.RANK_PRODUCT.at(P * singular(large), transpose(Q)),
                ranks.RANK_GRAM.at(transpose(Q)),
                ranks.RANK_SUM.at(eye - transpose(W) * W, transpose(W) * W),
                ranks.RANK_PRODUCT.at(transpose(W), W),
            ),
        ),
    )
    assert not check(Proof(steps), goal, ()).proved
    assert {eye, eye_all}.isdisjoint(SINGULAR_VALUES.constants | COSINES.constants)


def test_coordinates_are_those_of_one_size() -> None:
    """Were J and J₂ all coordinates of longer vectors too, W would have any rank."""
    large = identity(n + 1 + 2 * states)
    first, other = J * transpose(J) * large, J_2 * transpose(J_2) * large
    read = J_2 * transpose(J_2) * V * J
    goal = le(n + 1, W_rank)

    def law_at(name: str, *terms: Symbol) -> Instance | str:
        (found,) = (part.law for part in NEEDED.assumptions if part.id == name)
        return at(name, *terms) if found is not None and found.variables else name

    steps = (
        Step("whole", eq(rank(large), rank(first + other)), Words(law_at("coordinates", large))),
        Step("kept", eq(rank(J), rank(transpose(V) * V * J)), Words(law_at("block", J))),
        Step(
            "block below",
            eq(rank(V * J), rank(J * W + read)),
            Words(law_at("coordinates", V * J), law_at("block", J)),
        ),
        Step(
            "claim",
            goal,
            Smt(
                "whole",
                "kept",
                "block below",
                "added rows",
                ranks.RANK_IDENTITY.at(n + 1 + 2 * states),
                ranks.RANK_SUM.at(first, other),
                ranks.RANK_SUM.at(J * W, read),
                ranks.RANK_ROWS.at(transpose(J_2)),
                *(
                    ranks.RANK_PRODUCT.at(A, B)
                    for A, B in (
                        (J, transpose(J) * large),
                        (J_2, transpose(J_2) * large),
                        (transpose(J_2), large),
                        (transpose(V), V * J),
                        (J, W),
                        (J_2, transpose(J_2) * V * J),
                        (transpose(J_2), V * J),
                    )
                ),
            ),
        ),
    )
    assert not check(Proof(steps), goal, NEEDED.assumptions).proved
