"""The textbook laws that ledgers may use without proof, none of them a claim."""

from rnnbounds.theory.axioms.analytic import ANALYTIC_AXIOMS
from rnnbounds.theory.axioms.entries import ENTRY_AXIOMS
from rnnbounds.theory.axioms.functions import FUNCTION_AXIOMS
from rnnbounds.theory.axioms.gradients import GRADIENT_AXIOMS
from rnnbounds.theory.axioms.jets import JET_AXIOMS
from rnnbounds.theory.axioms.powers import POWER_AXIOMS
from rnnbounds.theory.axioms.ranks import RANK_AXIOMS
from rnnbounds.theory.axioms.reading import HORN, RUDIN, axiom
from rnnbounds.theory.axioms.unitary import UNITARY_AXIOMS
from rnnbounds.theory.language import Axiom, axioms_in

_NORM = "norm", f"definition of a norm; {HORN}, 5.1.1"
TRIANGLE, TRIANGLE_GAIN, TRIANGLE_MAX, TRIANGLE_WEIGHTED = (
    axiom(*_NORM, "‖a + b‖ ≤ ‖a‖ + ‖b‖", f"X Y: {size}(X + Y) <= {size}(X) + {size}(Y)")
    for size in ("norm", "gain", "max_norm", "weighted")
)
_HOMOGENEITY = *_NORM, "‖z v‖ = |z| ‖v‖"
HOMOGENEITY, HOMOGENEITY_GAIN = (
    axiom(*_HOMOGENEITY, f"z X: {size}(z*X) == z*{size}(X) where 0 <= z")
    for size in ("norm", "gain")
)
HOMOGENEITY_WEIGHTED = axiom(*_HOMOGENEITY, "z X: weighted(z*X) == Abs(z)*weighted(X)")
_SUBMULTIPLICATIVE = (
    "sub-multiplicativity", f"{HORN}, 5.6.1 and 5.7.13",
    "‖A B‖ ≤ ‖A‖ ‖B‖, in the norms that those of the spaces induce, for an operator A and an "
    "operator or vector B",
)  # fmt: skip
SUBMULTIPLICATIVE, SUBMULTIPLICATIVE_MAX, SUBMULTIPLICATIVE_WEIGHTED = (
    axiom(*_SUBMULTIPLICATIVE, f"A Y: {size}(A*Y) <= {size}(A)*{size}(Y)")
    for size in ("norm", "max_norm", "weighted")
)
SUBMULTIPLICATIVE_GAIN = axiom(*_SUBMULTIPLICATIVE, "A v: gain(A*v) <= gain(A)*norm(v)")
_JACOBIAN = (
    "chain rule", f"{RUDIN}, Theorem 9.15",
    "∂h_t/∂x_t = ∂φ/∂x at (h_{t-1}, x_t), and "
    "∂h_{t+j+1}/∂x_t = ∂φ/∂h at (h_{t+j}, x_{t+j+1}) · ∂h_{t+j}/∂x_t",
)  # fmt: skip
_first, _later = (f"state(x, 0, {t}), entry(x, {t} + 1)" for t in ("m", "m + j + 1"))
CHAIN_RULE_START = axiom(
    *_JACOBIAN,
    f"x m: jacobian(x, m + 1, m + 1) == d_input({_first}) where differentiable({_first}) == 1",
)
CHAIN_RULE = axiom(
    *_JACOBIAN,
    f"x m j: jacobian(x, m + j + 2, m + 1) == d_state({_later})*jacobian(x, m + j + 1, m + 1)"
    f" where differentiable({_later}) == 1",
)
DERIVATIVE_IN_INPUT = axiom(
    "derivative of a Lipschitz map",
    f"{RUDIN}, Theorem 9.19 and its converse",
    "if φ(·, x) or φ(h, ·) is L-Lipschitz, its derivative has norm at most L",
    "L v w: norm(d_input(v, w)) <= L where differentiable(v, w) == 1",
    "a b c: norm(phi(c, a) - phi(c, b)) <= L*norm(a - b)",
)
_MEAN_VALUE = (
    "mean-value theorem", f"{RUDIN}, Theorem 5.10",
    "f(a) = f(b) + Δ(a − b), where Δ is diagonal with secant slopes, those of ρ for f = ρ and "
    "those of ρ' for f = diag ρ'",
)  # fmt: skip
MEAN_VALUE = axiom(*_MEAN_VALUE, "a b: activation(a) == activation(b) + slopes(a, b)*(a - b)")
MEAN_VALUE_SLOPES = axiom(
    *_MEAN_VALUE, "a b: slopes(a, a) == slopes(b, b) + bends(a, b)*diagonal(a - b)"
)
_DIAGONAL = "norm of a diagonal matrix", f"{HORN}, Theorem 5.6.36"
_SECANTS = (
    *_DIAGONAL,
    "in an absolute norm a diagonal matrix has the norm max |Δ_ii|; secant slopes of a function "
    "that is nowhere steeper than L, and so continuous, are at most L",
)
_STEEPEST = "z: Abs(steepness(z)) <= L_rho"
DIAGONAL_NORM = axiom(*_SECANTS, "a b: norm(slopes(a, b)) <= L_rho", _STEEPEST)
DIAGONAL_BENDS = axiom(
    *_SECANTS, "a b: norm(bends(a, b)) <= beta_rho", "z: Abs(curvature(z)) <= beta_rho"
)
DIAGONAL_COMMUTES, DIAGONAL_COMMUTES_MAX = (
    axiom(
        *_DIAGONAL,
        "a diagonal A commutes with Δ, and ‖Δ A v‖ ≤ max |Δ_ii| ‖A v‖ in an absolute norm",
        f"A a b v: {size}(A*slopes(a, b)*v) <= L_rho*{size}(A*v) where is_diagonal(A) == 1",
        _STEEPEST,
    )
    for size in ("norm", "max_norm")
)
LEAST_EIGENVALUE = axiom(
    "spectral theorem",
    f"{HORN}, Theorem 4.2.2",
    "the least eigenvalue of z I − AᵀA is z − ‖A‖², where I is the identity of A's columns",
    "A z: least(z*I - transpose(A)*A) == z - norm(A)**2 where norm(A*I - A) == 0",
)
_EXP = (
    "exponential", f"{RUDIN}, Theorem 8.6",
    "exp is an increasing isomorphism of (ℝ, +) onto (ℝ_{>0}, ·), with the inverse log",
)  # fmt: skip
EXPONENTIAL = axiom(
    *_EXP,
    "y z: exponential(0) == 1; exponential(y + z) == exponential(y)*exponential(z);"
    " exponential(y) <= exponential(z) where y <= z",
)
LOGARITHM = axiom(*_EXP, "z: exponential(log(z)) == z where 0 < z")
_NEAREST = (
    "projection onto a convex set",
    "Hiriart-Urruty & Lemaréchal, Fundamentals of Convex Analysis, Theorem A.3.1.1",
    "Πa is a point of the set, and ⟨a − Πa, z − Πa⟩ ≤ 0 for every point z of the set",
)
PROJECTION = axiom(
    *_NEAREST,
    "a b: inner(a - project(a), b - project(a)) <= 0 where projects(a) == 1 and feasible(b) == 1",
)
PROJECTION_INSIDE = axiom(*_NEAREST, "a: feasible(project(a)) == 1 where projects(a) == 1")

AXIOMS: tuple[Axiom, ...] = (
    *axioms_in(globals()),
    *GRADIENT_AXIOMS,
    *UNITARY_AXIOMS,
    *RANK_AXIOMS,
    *JET_AXIOMS,
    *ANALYTIC_AXIOMS,
    *POWER_AXIOMS,
    *FUNCTION_AXIOMS,
    *ENTRY_AXIOMS,
)
