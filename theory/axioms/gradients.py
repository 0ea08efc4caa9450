"""The textbook lemmas behind the claims on gradients, under the names that `axioms` has too."""

from sympy import Abs, Integer, symbols

from theory.language.law import Axiom, Clause, axiom, law, stated
from theory.language.statement import eq, le
from theory.language.terms.vectors import (
    A,
    B,
    a,
    activation,
    b,
    bends,
    c,
    curvature,
    d_state,
    d_state_other,
    d_weights,
    d_weights_other,
    diagonal,
    differentiable,
    differentiable_other,
    entry,
    frobenius,
    gradient,
    hessian,
    inner,
    is_symmetric,
    j,
    lift,
    norm,
    phi,
    phi_other,
    row_norm,
    s,
    sensitivity,
    sensitivity_other,
    slopes,
    state,
    state_other,
    transpose,
    v,
    vector,
    weighted,
    x,
    z,
)
from theory.language.vocabulary import symbols as quantities

(beta_rho,) = quantities("beta_rho")
_L, _w, _offset = symbols("L", real=True), vector("w_"), vector("offset_")
_now = state(x, s, j), entry(x, s + j + 1)
_now_other = state_other(x, j), entry(x, j + 1)
_differentiable = eq(differentiable(v, _w), Integer(1))
_differentiable_other = eq(differentiable_other(v, _w), Integer(1))
_RUDIN = "Rudin, Principles of Mathematical Analysis"
_HORN = "Horn & Johnson, Matrix Analysis"

TRIANGLE_WEIGHTED = axiom(
    "norm",
    (a, b),
    le(weighted(a + b), weighted(a) + weighted(b)),
    text="‖a + b‖ ≤ ‖a‖ + ‖b‖",
    source=f"definition of a norm; {_HORN}, 5.1.1",
)
SUBMULTIPLICATIVE_WEIGHTED = axiom(
    "sub-multiplicativity",
    (A, B),
    le(weighted(A * B), weighted(A) * weighted(B)),
    text="‖A B‖ ≤ ‖A‖ ‖B‖ in the norms that those of the spaces induce",
    source=f"{_HORN}, 5.6.1 and 5.7.13",
)
SUBMULTIPLICATIVE_FROBENIUS = axiom(
    "sub-multiplicativity",
    (A, v),
    le(norm(A * v) ** 2, frobenius(A) * norm(v) ** 2),
    text="‖A v‖₂ ≤ ‖A‖_F ‖v‖₂",
    source=f"{_HORN}, section 5.6, the Frobenius norm",
)
SUBMULTIPLICATIVE_TRANSPOSED = axiom(
    "sub-multiplicativity",
    (A, B),
    le(norm(transpose(A) * B), norm(A) * norm(B)),
    text="‖Aᵀ B‖ ≤ ‖A‖ ‖B‖, for Aᵀ has the spectral norm of A",
    source=f"{_HORN}, 5.6.1 and 5.6.6",
)
CAUCHY_SCHWARZ = axiom(
    "sub-multiplicativity",
    (a, b),
    le(Abs(inner(a, b)), norm(a) * norm(b)),
    text="|⟨a, b⟩| ≤ ‖a‖ ‖b‖",
    source=f"{_HORN}, Theorem 5.1.4, Cauchy-Schwarz",
)
WEIGHTS_START = axiom(
    "chain rule",
    (x, s),
    eq(sensitivity(x, s, 0), Integer(0)),
    text="dh_s/dw = 0 for a run from zero at time s",
    source=f"{_RUDIN}, Theorem 9.15",
)
CHAIN_RULE_WEIGHTS = axiom(
    "chain rule",
    (x, s, j),
    Clause(
        eq(sensitivity(x, s, j + 1), d_state(*_now) * sensitivity(x, s, j) + d_weights(*_now)),
        (eq(differentiable(*_now), Integer(1)),),
    ),
    text="dh_t/dw = ∂φ/∂h · dh_{t-1}/dw + ∂φ/∂w at (h_{t-1}, x_t)",
    source=f"{_RUDIN}, Theorem 9.15",
)
WEIGHTS_START_OTHER = axiom(
    "chain rule",
    (x,),
    eq(sensitivity_other(x, 0), Integer(0)),
    text="dh_0/dw = 0",
    source=f"{_RUDIN}, Theorem 9.15",
)
CHAIN_RULE_OTHER = axiom(
    "chain rule",
    (x, j),
    Clause(
        eq(
            sensitivity_other(x, j + 1),
            d_state_other(*_now_other) * sensitivity_other(x, j) + d_weights_other(*_now_other),
        ),
        (eq(differentiable_other(*_now_other), Integer(1)),),
    ),
    text="dh_t/dw = ∂φ/∂h · dh_{t-1}/dw + ∂φ/∂w at (h_{t-1}, x_t)",
    source=f"{_RUDIN}, Theorem 9.15",
)
_model = law("", (a, c), eq(phi(a, c), activation(A * a + B * c + _offset)))
_inner = A * v + B * _w + _offset
CHAIN_RULE_LAYER = axiom(
    "chain rule",
    (A, B, _offset, v, _w),
    Clause(eq(d_state(v, _w), slopes(_inner, _inner) * A), (_differentiable,)),
    Clause(eq(d_weights(v, _w), slopes(_inner, _inner) * lift(v, _w)), (_differentiable,)),
    text="for φ = ρ(A h + B x + b), ∂φ/∂h = diag(ρ') A and ∂φ/∂w = diag(ρ')(δA h + δB x + δb)",
    source=f"{_RUDIN}, Theorem 9.15",
    requires=_model,
)
DERIVATIVE_IN_STATE_WEIGHTED = axiom(
    "derivative of a Lipschitz map",
    (_L, v, _w),
    Clause(le(weighted(d_state(v, _w)), _L), (_differentiable,)),
    text="if φ(·, x) is L-Lipschitz, its derivative has norm at most L",
    source=f"{_RUDIN}, Theorem 9.19 and its converse",
    requires=law("", (a, b, c), le(weighted(phi(a, c) - phi(b, c)), _L * weighted(a - b))),
)
DERIVATIVE_IN_STATE_OTHER = axiom(
    "derivative of a Lipschitz map",
    (_L, v, _w),
    Clause(le(norm(d_state_other(v, _w)), _L), (_differentiable_other,)),
    text="if φ(·, x) is L-Lipschitz, its derivative has norm at most L",
    source=f"{_RUDIN}, Theorem 9.19 and its converse",
    requires=law("", (a, b, c), le(norm(phi_other(a, c) - phi_other(b, c)), _L * norm(a - b))),
)
LINEAR_MAP = axiom(
    "derivative of a Lipschitz map",
    (_L, A),
    le(norm(A), _L),
    text="a linear map, which is its own derivative, has norm at most L if it is L-Lipschitz",
    source=f"{_RUDIN}, Definition 9.6",
    requires=law("", (v,), le(norm(A * v), _L * norm(v))),
)
MEAN_VALUE_SLOPES = axiom(
    "mean-value theorem",
    (a, b),
    eq(slopes(a, a), slopes(b, b) + bends(a, b) * diagonal(a - b)),
    text="diag ρ'(a) = diag ρ'(b) + Δ diag(a − b), where Δ is diagonal with ρ''s secant slopes",
    source=f"{_RUDIN}, Theorem 5.10",
)
MEAN_VALUE_GRADIENT = axiom(
    "mean-value theorem",
    (_L, a, b),
    le(norm(gradient(a) - gradient(b)), _L * norm(a - b)),
    text="if the second derivative of p has norm at most L everywhere, ∇p is L-Lipschitz",
    source=f"{_RUDIN}, Theorem 9.19",
    requires=law("", (c,), le(norm(hessian(c)), _L)),
)
DIAGONAL_BENDS = axiom(
    "norm of a diagonal matrix",
    (a, b),
    le(norm(bends(a, b)), beta_rho),
    text="a diagonal matrix has the norm max |Δ_ii|, here at most sup |ρ''|",
    source=f"{_HORN}, Theorem 5.6.36",
    requires=law("", (z,), le(Abs(curvature(z)), beta_rho)),
)
# Of diag, for max |(A v)_i| would be the row sum norm where v is an operator.
DIAGONAL_ROWS = axiom(
    "norm of a diagonal matrix",
    (A, v),
    le(norm(diagonal(A * v)), row_norm(A) * norm(v)),
    text="diag(A v) has the norm max |(A v)_i|, at most max ‖A_i‖₂ ‖v‖₂ over the rows A_i",
    source=f"{_HORN}, Theorem 5.6.36; Theorem 5.1.4, Cauchy-Schwarz",
)
RAYLEIGH = axiom(
    "spectral theorem",
    (_L, A),
    Clause(le(norm(A), _L), (eq(is_symmetric(A), Integer(1)),)),
    text="if |⟨v, A v⟩| ≤ L ‖v‖² for all v, and A is symmetric, then ‖A‖ ≤ L",
    source=f"{_HORN}, Theorem 4.2.2",
    requires=law("", (v,), le(Abs(inner(v, A * v)), _L * norm(v) ** 2)),
)

GRADIENT_AXIOMS: tuple[Axiom, ...] = stated(globals())
