"""Outputs as they come from any time before: units(i) (Uᵀ)^j e, which come back, and (Wᵀ)^j c."""

from sympy import Expr, Symbol

from theory.axioms.ranks import ROWS_OF_PRODUCT, ROWS_OF_SUM
from theory.language import ZERO, Statement, at, define, eq, le
from theory.language.terms.unitary import rows
from theory.language.terms.variables import A, i, j, v
from theory.language.terms.vectors import function, norm, transpose
from theory.models.unitary.local_maps import W, states
from theory.models.unitary.relations import EQUAL, RELATIONS, back, c, e, others, units
from theory.proof import Step, step
from theory.proof.methods import HYPOTHESIS

RETURNS = (
    "All (Uᵀ)^j e have the same length, so that they stay in a bounded part of ℝ^m: by Bolzano and "
    "Weierstrass infinitely many of them are as near to each other as one likes, and so are two "
    "with p and {later} in place of j."
)
k_0, p, l = (Symbol(name, integer=True) for name in ("k_0", "p", "l"))  # that human steps find

power = function("power", module=__name__, defined=True)  # power(A, v, j) = A^j v
POWERS = define(
    "powers of an operator",
    (A, v, j),
    eq(power(A, v, 0), v),
    eq(power(A, v, j + 1), A * power(A, v, j)),
)


def moved(steps: Expr) -> Expr:
    """(Uᵀ)^j e."""
    return power(back, e, steps)


def faded(steps: Expr) -> Expr:
    """(Wᵀ)^j c."""
    return power(transpose(W), c, steps)


OF_U, OF_W = POWERS.at(back, e, j), POWERS.at(transpose(W), c, j)
MOVED_BACK = (
    *RELATIONS,
    step(
        "outputs move back",
        eq(norm(units(i) * moved(j) - others(i) * faded(j)), ZERO),
        forall=(i, j),
        given=(EQUAL,),
    ).inductively(
        base=("given 1", "same activation", "sigmoidal", at("outputs", i), OF_U, OF_W),
        step=(at(HYPOTHESIS, i + 1), at("relations move back", i, moved(j), -faded(j)), OF_U, OF_W),
        others=(i,),
    ),
    step("m entries", le(rows(moved(j)), states), forall=(j,)).inductively(
        base=(at("networks", 0, 0, 0), OF_U),
        step=(at("networks", 0, 0, 0), OF_U, ROWS_OF_PRODUCT.at(back, moved(j))),
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


def returns(near: Statement, *given: Statement, later: str) -> Step:
    """Two of the (Uᵀ)^j e, at p and at a later time, are as near to each other as one likes."""
    return step("U returns", near, given=given).in_words(RETURNS.format(later=later))
