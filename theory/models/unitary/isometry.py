"""Facts on an orthogonal matrix: its norm is 1, and its powers keep lengths and distances."""

from sympy import Expr

from rnnbounds.theory.axioms.base import LEAST_EIGENVALUE
from rnnbounds.theory.axioms.ranks import ROWS_OF_PRODUCT, ROWS_OF_SUM
from rnnbounds.theory.language import ONE, Assumption, Use, assume, at, eq, le, symbols
from rnnbounds.theory.language.terms.powers import POWERS, power
from rnnbounds.theory.language.terms.unitary import rows
from rnnbounds.theory.language.terms.variables import eye, i, j, s, x
from rnnbounds.theory.language.terms.vectors import entry, least, norm, state, transpose
from rnnbounds.theory.proof import Step, step
from rnnbounds.theory.proof.methods import Words

L_rho, states = symbols("L_rho states")

SLOPE = Assumption("slope at most one", "L_ρ ≤ 1", le(L_rho, ONE))


def isometry(name: str, matrix: Expr) -> Assumption:
    """Assumption that the matrix of this name is orthogonal."""
    identity = eq(transpose(matrix) * matrix, eye)
    text = f"{name}ᵀ{name} = I, for {name} of the states"
    return assume("isometry", text).that(identity, eq(matrix * eye, matrix))


def isometric(matrix: Expr) -> tuple[Step, ...]:
    """Steps: ‖V‖ = 1, as the least eigenvalue of I − VᵀV = 0 is 0."""
    return (
        step("no defect", eq(least(eye - transpose(matrix) * matrix), least(0))).by(
            "isometry", method=Words
        ),
        step("of the states", eq(norm(matrix * eye - matrix), 0)).by("isometry", method=Words),
        step("norm of an isometry", eq(norm(matrix), ONE)).by(
            "no defect", "of the states", LEAST_EIGENVALUE.at(matrix, 1), LEAST_EIGENVALUE.at(0, 0)
        ),
    )


def orbit(matrix: Expr, start: Expr, sizes: Use) -> tuple[Step, ...]:
    """‖A^j v‖ ≤ ‖v‖ and ‖A^j v − A^{i+j} v‖ = ‖v − A^i v‖ of an orthogonal m × m matrix A; `sizes`
    says that A and v have no more than m rows."""
    powers = POWERS.at(matrix, start, j)
    now, later = power(matrix, start, j), power(matrix, start, i + j)
    return (
        step("m entries", le(rows(now), states), forall=(j,)).inductively(
            base=(sizes, powers), step=(sizes, powers, ROWS_OF_PRODUCT.at(matrix, now))
        ),
        step("lengths stay", le(norm(now), norm(start)), forall=(j,)).by_induction(
            base=powers, step=(powers, at("m entries", j), at("orthogonal", now))
        ),
        step(
            "distances stay",
            eq(norm(now - later), norm(start - power(matrix, start, i))),
            forall=(i, j),
        ).by_induction(
            base=powers,
            step=(
                powers,
                POWERS.at(matrix, start, i + j),
                at("m entries", j),
                at("m entries", i + j),
                ROWS_OF_SUM.at(now, later, states, -1),
                at("orthogonal", now - later),
            ),
        ),
    )


before, x_next = state(x, 0, s + j), entry(x, s + j + 1)
