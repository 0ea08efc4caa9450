"""Projected gradient descent, and what it ends at."""

from sympy import Expr

from rnnbounds.theory.language.quantities.norms import EUCLIDEAN, T, k
from rnnbounds.theory.language.quantity import Quantity, Symbol, certified, measured, parameter, tag
from rnnbounds.theory.language.terms.networks import project as Pi
from rnnbounds.theory.language.terms.networks import weights, weights_hat
from rnnbounds.theory.language.terms.variables import vector, x
from rnnbounds.theory.language.terms.vectors import norm, readout, state

N = Symbol("N", integer=True)
# Matrices, as the vectors of their entries.
A, B, Z = vector("vec_A"), vector("vec_B"), vector("vec_Z")


def _matrices(name: str, meaning: str, notation: str, difference: Expr) -> Quantity:
    """The Frobenius norm of a difference of matrices."""
    return measured(name, meaning, rf"\lVert{notation}\rVert_F", norm(difference), "Frobenius")


TRAINING: tuple[Quantity, ...] = (
    parameter("N", "number of steps of projected gradient descent", "N"),
    certified(
        "beta", "smoothness: Lipschitz constant of ∇p_T on the set of weights", "Euclidean",
        r"\beta",
    ),
    certified(
        "eps_k", "bound on ‖∇p_T − ∇p_T^k‖ on the set of weights", "Euclidean", r"\varepsilon_k",
        windowed=True,
    ),
    certified(
        "K_0", "the part of the bound on predictions that does not grow with the window",
        "Euclidean", "K_0",
    ),
    certified(
        "K_1", "the part of the bound on predictions that grows with the window", "Euclidean",
        "K_1",
    ),
    *tag(
        "training",
        EUCLIDEAN.of(
            "w_gap", "weights after N steps on the full and on the truncated model",
            r"w_{N+1}-\hat{w}_{N+1}", weights(N) - weights_hat(N), windowed=True,
        ),
        EUCLIDEAN.of(
            "trained_gap",
            "full output with the one's final weights against truncated output with the other's",
            r"y_T(w_{N+1})-y_T^{(k)}(\hat{w}_{N+1})",
            readout(state(x, 0, T, weights(N))) - readout(state(x, T - k, k, weights_hat(N))),
        ),
    ),
    *tag(
        "projection",
        _matrices("proj_gap", "two matrices, projected", r"\Pi A-\Pi B", Pi(A) - Pi(B)),
        _matrices("matrix_gap", "two matrices", " A-B", A - B),
        _matrices("proj_distance", "a matrix and its projection", r" A-\Pi A", A - Pi(A)),
        _matrices("feasible_distance", "a matrix and a point of the set", " A-Z", A - Z),
    ),
)  # fmt: skip
