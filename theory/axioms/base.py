"""The textbook laws that ledgers may use without proof, none of them a claim."""

from dataclasses import replace
from functools import partial

from sympy import Abs, Integer, log, symbols

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
from rnnbounds.theory.language.terms import networks as net
from rnnbounds.theory.language.terms.variables import (
    A,
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
    diagonal,
    entry,
    exponential,
    gain,
    inner,
    is_diagonal,
    least,
    max_norm,
    norm,
    phi,
    state,
    transpose,
    weighted,
)

_first = state(x, 0, m), entry(x, m + 1)
_later = state(x, 0, m + j + 1), entry(x, m + j + 2)
L_rho, beta_rho = quantities("L_rho beta_rho")
_L, _w = symbols("L", real=True), vector("w")

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
TRIANGLE, TRIANGLE_GAIN, TRIANGLE_MAX, TRIANGLE_WEIGHTED = (
    _TRIANGLE.that(le(size(X + Y), size(X) + size(Y))) for size in (norm, gain, max_norm, weighted)
)
_HOMOGENEITY = _NORM("‖z v‖ = |z| ‖v‖", (z, X))
HOMOGENEITY, HOMOGENEITY_GAIN = (
    _HOMOGENEITY.that(Clause(eq(size(z * X), z * size(X)), (le(Integer(0), z),)))
    for size in (norm, gain)
)
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
SUBMULTIPLICATIVE_GAIN = replace(_SUBMULTIPLICATIVE, variables=(A, v)).that(
    le(gain(A * v), gain(A) * norm(v))
)
_JACOBIAN = _CHAIN_RULE(
    "∂h_t/∂x_t = ∂φ/∂x at (h_{t-1}, x_t), and "
    "∂h_{t+j+1}/∂x_t = ∂φ/∂h at (h_{t+j}, x_{t+j+1}) · ∂h_{t+j}/∂x_t",
    (x, m, j),
)
CHAIN_RULE_START = replace(_JACOBIAN, variables=(x, m)).that(
    Clause(
        eq(net.jacobian(x, m + 1, m + 1), net.d_input(*_first)),
        (eq(net.differentiable(*_first), Integer(1)),),
    )
)
CHAIN_RULE = _JACOBIAN.that(
    Clause(
        eq(
            net.jacobian(x, m + j + 2, m + 1),
            net.d_state(*_later) * net.jacobian(x, m + j + 1, m + 1),
        ),
        (eq(net.differentiable(*_later), Integer(1)),),
    )
)
DERIVATIVE_IN_INPUT = _LIPSCHITZ((_L, v, _w)).that(
    Clause(le(norm(net.d_input(v, _w)), _L), (eq(net.differentiable(v, _w), Integer(1)),)),
    requires=law("", (a, b, c), le(norm(phi(c, a) - phi(c, b)), _L * norm(a - b))),
)
_MEAN_VALUE = axiom(
    "mean-value theorem",
    "Rudin, Principles of Mathematical Analysis, Theorem 5.10",
    "f(a) = f(b) + Δ(a − b), where Δ is diagonal with secant slopes, those of ρ for f = ρ and "
    "those of ρ' for f = diag ρ'",
    (a, b),
)
MEAN_VALUE = _MEAN_VALUE.that(eq(net.activation(a), net.activation(b) + net.slopes(a, b) * (a - b)))
MEAN_VALUE_SLOPES = _MEAN_VALUE.that(
    eq(net.slopes(a, a), net.slopes(b, b) + net.bends(a, b) * diagonal(a - b))
)
_SECANTS = _DIAGONAL(
    "in an absolute norm a diagonal matrix has the norm max |Δ_ii|; secant slopes of a function "
    "that is nowhere steeper than L, and so continuous, are at most L",
    (a, b),
)
_STEEPEST = law("", (z,), le(Abs(net.steepness(z)), L_rho))
DIAGONAL_NORM = _SECANTS.that(le(norm(net.slopes(a, b)), L_rho), requires=_STEEPEST)
DIAGONAL_BENDS = _SECANTS.that(
    le(norm(net.bends(a, b)), beta_rho), requires=law("", (z,), le(Abs(net.curvature(z)), beta_rho))
)
_COMMUTES = _DIAGONAL(
    "a diagonal A commutes with Δ, and ‖Δ A v‖ ≤ max |Δ_ii| ‖A v‖ in an absolute norm", (A, a, b, v)
)
DIAGONAL_COMMUTES, DIAGONAL_COMMUTES_MAX = (
    _COMMUTES.that(
        Clause(le(size(A * net.slopes(a, b) * v), L_rho * size(A * v)), (eq(is_diagonal(A), 1),)),
        requires=_STEEPEST,
    )
    for size in (norm, max_norm)
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
        le(inner(a - net.project(a), b - net.project(a)), Integer(0)),
        (eq(net.projects(a), Integer(1)), eq(net.feasible(b), Integer(1))),
    )
)
PROJECTION_INSIDE = _NEAREST((a,)).that(
    Clause(eq(net.feasible(net.project(a)), Integer(1)), (eq(net.projects(a), Integer(1)),))
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
