"""The textbook laws that ledgers may use without proof, none of them a claim."""

from dataclasses import replace
from functools import partial

from sympy import Abs, Expr, Integer, log, symbols

from rnnbounds.theory.axioms.analytic import ANALYTIC_AXIOMS
from rnnbounds.theory.axioms.entries import ENTRY_AXIOMS
from rnnbounds.theory.axioms.functions import FUNCTION_AXIOMS
from rnnbounds.theory.axioms.gradients import GRADIENT_AXIOMS
from rnnbounds.theory.axioms.jets import JET_AXIOMS
from rnnbounds.theory.axioms.powers import POWER_AXIOMS
from rnnbounds.theory.axioms.ranks import RANK_AXIOMS
from rnnbounds.theory.axioms.unitary import UNITARY_AXIOMS
from rnnbounds.theory.language import Axiom, Clause, axiom, axioms_in, eq, law, le, lt
from rnnbounds.theory.language import symbols as quantities
from rnnbounds.theory.language.terms.gradients import (
    activation,
    bends,
    curvature,
    d_input,
    d_state,
    differentiable,
    feasible,
    jacobian,
    project,
    projects,
    slopes,
    steepness,
)
from rnnbounds.theory.language.terms.unitary import rows
from rnnbounds.theory.language.terms.variables import (
    A,
    B,
    X,
    Y,
    a,
    b,
    c,
    eye,
    j,
    m,
    v,
    vector,
    x,
    y,
    z,
)
from rnnbounds.theory.language.terms.vectors import (
    absolute,
    completes,
    diagonal,
    entry,
    exponential,
    frobenius,
    in_range,
    inner,
    is_diagonal,
    least,
    max_norm,
    norm,
    phi,
    rounded_gram,
    rounded_step,
    state,
    trace,
    transpose,
    weighted,
)

_first = state(x, 0, m), entry(x, m + 1)
_later = state(x, 0, m + j + 1), entry(x, m + j + 2)
L_rho, beta_rho, u = quantities("L_rho beta_rho u")
_L, _w = symbols("L", real=True), vector("w")


def gamma(terms: Expr) -> Expr:
    """γ_m = m u/(1 − m u), the relative error of m roundings."""
    return terms * u / (1 - terms * u)


_NORM = partial(axiom, "norm", "definition of a norm; Horn & Johnson, Matrix Analysis, 5.1.1")
_CHAIN_RULE = partial(
    axiom, "chain rule", "Rudin, Principles of Mathematical Analysis, Theorem 9.15"
)
_LIPSCHITZ = partial(
    axiom,
    "derivative of a Lipschitz map",
    "Rudin, Principles of Mathematical Analysis, Theorem 9.19 and its converse",
    "if φ(·, x) or φ(h, ·) is L-Lipschitz, its derivative has norm at most L",
)
_DIAGONAL = partial(
    axiom, "norm of a diagonal matrix", "Horn & Johnson, Matrix Analysis, Theorem 5.6.36"
)
_ROUNDING = partial(
    axiom,
    "rounding of inner products",
    "Higham, Accuracy and Stability of Numerical Algorithms, section 3.5",
)
_EXP = partial(
    axiom,
    "exponential",
    "Rudin, Principles of Mathematical Analysis, Theorem 8.6",
    "exp is an increasing isomorphism of (ℝ, +) onto (ℝ_{>0}, ·), with the inverse log",
)
_NEAREST = partial(
    axiom,
    "projection onto a convex set",
    "Hiriart-Urruty & Lemaréchal, Fundamentals of Convex Analysis, Theorem A.3.1.1",
    "Πa is a point of the set, and ⟨a − Πa, z − Πa⟩ ≤ 0 for every point z of the set",
)

_TRIANGLE = _NORM("‖a + b‖ ≤ ‖a‖ + ‖b‖", (X, Y))
TRIANGLE, TRIANGLE_MAX, TRIANGLE_WEIGHTED = (
    _TRIANGLE.that(le(size(X + Y), size(X) + size(Y))) for size in (norm, max_norm, weighted)
)
_HOMOGENEITY = _NORM("‖z v‖ = |z| ‖v‖", (z, X))
HOMOGENEITY = _HOMOGENEITY.that(Clause(eq(norm(z * X), z * norm(X)), (le(Integer(0), z),)))
HOMOGENEITY_WEIGHTED = _HOMOGENEITY.that(eq(weighted(z * X), Abs(z) * weighted(X)))
_SUBMULTIPLICATIVE = axiom(
    "sub-multiplicativity",
    "Horn & Johnson, Matrix Analysis, 5.6.1 and 5.7.13",
    "‖A B‖ ≤ ‖A‖ ‖B‖, in the norms that those of the spaces induce, for an operator A and an "
    "operator or vector B",
    (A, Y),
)
SUBMULTIPLICATIVE, SUBMULTIPLICATIVE_MAX, SUBMULTIPLICATIVE_WEIGHTED = (
    _SUBMULTIPLICATIVE.that(le(size(A * Y), size(A) * size(Y)))
    for size in (norm, max_norm, weighted)
)
_JACOBIAN = _CHAIN_RULE(
    "∂h_t/∂x_t = ∂φ/∂x at (h_{t-1}, x_t), and "
    "∂h_{t+j+1}/∂x_t = ∂φ/∂h at (h_{t+j}, x_{t+j+1}) · ∂h_{t+j}/∂x_t",
    (x, m, j),
)
CHAIN_RULE_START = replace(_JACOBIAN, forall=(x, m)).that(
    Clause(
        eq(jacobian(x, m + 1, m + 1), d_input(*_first)), (eq(differentiable(*_first), Integer(1)),)
    )
)
CHAIN_RULE = _JACOBIAN.that(
    Clause(
        eq(jacobian(x, m + j + 2, m + 1), d_state(*_later) * jacobian(x, m + j + 1, m + 1)),
        (eq(differentiable(*_later), Integer(1)),),
    )
)
DERIVATIVE_IN_INPUT = _LIPSCHITZ((_L, v, _w)).that(
    Clause(le(norm(d_input(v, _w)), _L), (eq(differentiable(v, _w), Integer(1)),)),
    requires=law("", (a, b, c), le(norm(phi(c, a) - phi(c, b)), _L * norm(a - b))),
)
_MEAN_VALUE = axiom(
    "mean-value theorem",
    "Rudin, Principles of Mathematical Analysis, Theorem 5.10",
    "f(a) = f(b) + Δ(a − b), where Δ is diagonal with secant slopes, those of ρ for f = ρ and "
    "those of ρ' for f = diag ρ'",
    (a, b),
)
MEAN_VALUE = _MEAN_VALUE.that(eq(activation(a), activation(b) + slopes(a, b) * (a - b)))
MEAN_VALUE_SLOPES = _MEAN_VALUE.that(eq(slopes(a, a), slopes(b, b) + bends(a, b) * diagonal(a - b)))
_SECANTS = _DIAGONAL(
    "in an absolute norm a diagonal matrix has the norm max |Δ_ii|; secant slopes of a function "
    "that is nowhere steeper than L, and so continuous, are at most L",
    (a, b),
)
_STEEPEST = law("", (z,), le(Abs(steepness(z)), L_rho))
DIAGONAL_NORM = _SECANTS.that(le(norm(slopes(a, b)), L_rho), requires=_STEEPEST)
DIAGONAL_BENDS = _SECANTS.that(
    le(norm(bends(a, b)), beta_rho), requires=law("", (z,), le(Abs(curvature(z)), beta_rho))
)
_COMMUTES = _DIAGONAL(
    "a diagonal A commutes with Δ, and ‖Δ A v‖ ≤ max |Δ_ii| ‖A v‖ in an absolute norm", (A, a, b, v)
)
DIAGONAL_COMMUTES, DIAGONAL_COMMUTES_MAX = (
    _COMMUTES.that(
        Clause(le(size(A * slopes(a, b) * v), L_rho * size(A * v)), (eq(is_diagonal(A), 1),)),
        requires=_STEEPEST,
    )
    for size in (norm, max_norm)
)
# Sizes are arguments: γ is that of products with so many terms.
_exact = A * a + B * b + v
ROUNDED_STEP = _ROUNDING(
    "‖fl(A a + B b + v) − (A a + B b + v)‖ ≤ γ_{m+j+2} (‖|A|‖‖a‖ + ‖|B|‖‖b‖ + ‖v‖), of stored "
    "operands, A of m columns and B of j, but for overflow and underflow",
    (A, a, B, b, v, m, j),
).that(
    Clause(
        le(
            norm(rounded_step(A, a, B, b, v) - _exact),
            gamma(m + j + 2)
            * (norm(absolute(A)) * norm(a) + norm(absolute(B)) * norm(b) + norm(v)),
        ),
        (
            le(rows(transpose(A)), m),
            le(rows(transpose(B)), j),
            lt((m + j + 2) * u, Integer(1)),
            eq(in_range(A, a, B, b, v), 1),
        ),
    )
)
_shifted, _gram = y**2 * eye - transpose(A) * A - z * eye, rounded_gram(A, y, z)
ROUNDED_GRAM = _ROUNDING(
    "fl(AᵀA), of a stored A with m rows, is off by γ_m ‖A‖_F², s² and two subtractions, of a shift "
    "≥ 0, by 4u s² where the result is ≥ 0, but for overflow and underflow",
    (A, y, z, m),
).that(
    Clause(
        le(norm(_gram - _shifted), gamma(m) * frobenius(A) + 4 * u * y**2),
        (
            eq(completes(_gram), Integer(1)),
            le(rows(A), m),
            le(Integer(0), z),
            lt(m * u, Integer(1)),
            eq(in_range(A, y, z), 1),
        ),
    )
)
CHOLESKY = axiom(
    "Cholesky's backward error",
    "Higham, Accuracy and Stability, Theorem 10.3; Rump, BIT 46 (2006)",
    "if the factorisation of a stored symmetric A with m rows completes, A + Δ ⪰ 0 with "
    "‖Δ‖ ≤ γ_{m+2}/(1 − γ_{m+2}) tr A",
    (A, m),
).that(
    Clause(
        le(-gamma(m + 2) * trace(A), (1 - gamma(m + 2)) * least(A)),
        (
            eq(completes(A), Integer(1)),
            eq(norm(transpose(A) - A), Integer(0)),
            le(rows(A), m),
            lt(2 * (m + 2) * u, Integer(1)),
        ),
    )
)
WEYL = axiom(
    "spectral theorem",
    "Horn & Johnson, Matrix Analysis, Theorem 4.3.1",
    "of symmetric A and A + B, the least eigenvalue of A + B is at least that of A minus ‖B‖",
    (A, B),
).that(
    Clause(
        le(least(A) - norm(B), least(A + B)),
        tuple(eq(norm(transpose(M) - M), Integer(0)) for M in (A, A + B)),
    )
)
LEAST_EIGENVALUE = axiom(
    "spectral theorem",
    "Horn & Johnson, Matrix Analysis, Theorem 4.2.2",
    "the least eigenvalue of z I − AᵀA is z − ‖A‖², where I is the identity of A's columns",
    (A, z),
).that(
    Clause(
        eq(least(z * eye - transpose(A) * A), z - norm(A) ** 2),
        (eq(norm(A * eye - A), Integer(0)),),
    )
)
EXPONENTIAL = _EXP((y, z)).that(
    eq(exponential(0), Integer(1)),
    eq(exponential(y + z), exponential(y) * exponential(z)),
    Clause(le(exponential(y), exponential(z)), (le(y, z),)),
)
LOGARITHM = _EXP((z,)).that(Clause(eq(exponential(log(z)), z), (lt(Integer(0), z),)))
PROJECTION = _NEAREST((a, b)).that(
    Clause(
        le(inner(a - project(a), b - project(a)), Integer(0)),
        (eq(projects(a), Integer(1)), eq(feasible(b), Integer(1))),
    )
)
PROJECTION_INSIDE = _NEAREST((a,)).that(
    Clause(eq(feasible(project(a)), Integer(1)), (eq(projects(a), Integer(1)),))
)

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
