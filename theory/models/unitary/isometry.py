"""Facts on an orthogonal matrix for claims on gradients: its norm is 1."""

from sympy import Expr

from rnnbounds.theory.axioms.base import LEAST_EIGENVALUE
from rnnbounds.theory.language import ONE, Assumption, assume, eq, le, symbols
from rnnbounds.theory.language.terms.variables import eye, j, s, x
from rnnbounds.theory.language.terms.vectors import entry, least, norm, state, transpose
from rnnbounds.theory.proof import Step, step
from rnnbounds.theory.proof.methods import Words

(L_rho,) = symbols("L_rho")

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


before, x_next = state(x, 0, s + j), entry(x, s + j + 1)
