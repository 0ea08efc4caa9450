"""Outputs as they come from any time before: units(i) (Uᵀ)^j e, which come back, and (Wᵀ)^j c."""

from sympy import Expr

from rnnbounds.theory.axioms.ranks import ROWS_OF_PRODUCT, ROWS_OF_SUM
from rnnbounds.theory.language import ZERO, at, eq, le
from rnnbounds.theory.language.terms.powers import POWERS, power
from rnnbounds.theory.language.terms.unitary import rows
from rnnbounds.theory.language.terms.variables import i, j
from rnnbounds.theory.language.terms.vectors import norm
from rnnbounds.theory.language.vocabulary import unfold
from rnnbounds.theory.models.unitary.local_maps import states
from rnnbounds.theory.models.unitary.relations import (
    EQUAL,
    RELATIONS,
    back,
    back_other,
    c,
    e,
    others,
    units,
)
from rnnbounds.theory.proof import step
from rnnbounds.theory.proof.methods import HYPOTHESIS


def moved(steps: Expr) -> Expr:
    """(Uᵀ)^j e."""
    return power(back, e, steps)


def faded(steps: Expr) -> Expr:
    """(Wᵀ)^j c."""
    return power(back_other, c, steps)


OF_U, OF_W = POWERS.at(back, e, j), POWERS.at(back_other, c, j)
# What the axiom on returns is told: the sequence, its space, its size, and what is supposed.
SEQUENCE = (back, e, states)
SUPPOSED = (norm(e), unfold(EQUAL).lhs)
MOVED_BACK = (
    *RELATIONS,
    step(
        "outputs move back",
        eq(norm(units(i) * moved(j) - others(i) * faded(j)), ZERO),
        forall=(i, j),
        given=(EQUAL,),
    ).inductively(
        base=("given 1", at("outputs", i, 0), OF_U, OF_W),
        step=(at(HYPOTHESIS, i + 1), at("relations move back", i, moved(j), -faded(j)), OF_U, OF_W),
        others=(i,),
    ),
    step("m entries", le(rows(moved(j)), states), forall=(j,)).inductively(
        base=(at("networks", 0, 0, 0, 0), OF_U),
        step=(at("networks", 0, 0, 0, 0), OF_U, ROWS_OF_PRODUCT.at(back, moved(j))),
    ),
    step("lengths stay", le(norm(moved(j)), norm(e)), forall=(j,)).by_induction(
        base=OF_U, step=(OF_U, at("m entries", j), at("orthogonal", moved(j)))
    ),
    step(
        "distances stay", eq(norm(moved(j) - moved(i + j)), norm(e - moved(i))), forall=(i, j)
    ).by_induction(
        base=OF_U,
        step=(
            OF_U,
            POWERS.at(back, e, i + j),
            at("m entries", j),
            at("m entries", i + j),
            ROWS_OF_SUM.at(moved(j), moved(i + j), states, -1),
            at("orthogonal", moved(j) - moved(i + j)),
        ),
    ),
)
