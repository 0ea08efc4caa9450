"""The textbook lemmas behind the claims on gradients, under the names that `axioms` has too."""

from functools import partial

from sympy import Abs, Integer, Symbol, symbols

from rnnbounds.theory.language import Axiom, Clause, axiom, axioms_in, eq, law, le
from rnnbounds.theory.language.terms import networks as net
from rnnbounds.theory.language.terms.variables import (
    A,
    B,
    Y,
    a,
    b,
    c,
    j,
    s,
    v,
    vector,
    w_other,
    x,
)
from rnnbounds.theory.language.terms.vectors import (
    diagonal,
    entry,
    frobenius,
    inner,
    is_symmetric,
    norm,
    phi,
    row_norm,
    state,
    transpose,
)

_L, _w, _offset = symbols("L", real=True), vector("w_"), vector("offset_")
_differentiable = eq(net.differentiable(v, _w), Integer(1))
_RUDIN = "Rudin, Principles of Mathematical Analysis"
_HORN = "Horn & Johnson, Matrix Analysis"

_CHAIN_RULE = partial(axiom, "chain rule", f"{_RUDIN}, Theorem 9.15")
_LIPSCHITZ = partial(
    axiom,
    "derivative of a Lipschitz map",
    f"{_RUDIN}, Theorem 9.19 and its converse",
    "if φ(·, x) or φ(h, ·) is L-Lipschitz, its derivative has norm at most L",
)

SUBMULTIPLICATIVE_FROBENIUS = axiom(
    "sub-multiplicativity",
    f"{_HORN}, section 5.6, the Frobenius norm",
    "‖A v‖₂ ≤ ‖A‖_F ‖v‖₂",
    (A, v),
).that(le(norm(A * v) ** 2, frobenius(A) * norm(v) ** 2))
SUBMULTIPLICATIVE_TRANSPOSED = axiom(
    "sub-multiplicativity",
    f"{_HORN}, 5.6.1 and 5.6.6",
    "‖Aᵀ B‖ ≤ ‖A‖ ‖B‖, for Aᵀ has the spectral norm of A",
    (A, Y),
).that(le(norm(transpose(A) * Y), norm(A) * norm(Y)))
CAUCHY_SCHWARZ = axiom(
    "sub-multiplicativity", f"{_HORN}, Theorem 5.1.4, Cauchy-Schwarz", "|⟨a, b⟩| ≤ ‖a‖ ‖b‖", (a, b)
).that(le(Abs(inner(a, b)), norm(a) * norm(b)))


def _sensitivities(*of: Symbol) -> tuple[Axiom, Axiom]:
    """How a run of these weights depends on them: at its start, and from one step to the next."""
    now = state(x, s, j, *of), entry(x, s + j + 1)
    after = net.d_state(*now, *of) * net.sensitivity(x, s, j, *of) + net.d_weights(*now, *of)
    smooth = eq(net.differentiable(*now, *of), Integer(1))
    text = (
        "dh_s/dw = 0 for a run from zero at time s, and "
        "dh_t/dw = ∂φ/∂h · dh_{t-1}/dw + ∂φ/∂w at (h_{t-1}, x_t)"
    )
    return (
        _CHAIN_RULE(text, (x, s)).that(eq(net.sensitivity(x, s, 0, *of), Integer(0))),
        _CHAIN_RULE(text, (x, s, j)).that(
            Clause(eq(net.sensitivity(x, s, j + 1, *of), after), (smooth,))
        ),
    )


def derivative_in_state(*of: Symbol) -> Axiom:
    """Axiom: ‖∂φ/∂h‖ is at most a Lipschitz constant of φ in the state."""
    lipschitz = le(norm(phi(a, c, *of) - phi(b, c, *of)), _L * norm(a - b))
    return _LIPSCHITZ((_L, v, _w)).that(
        Clause(
            le(norm(net.d_state(v, _w, *of)), _L), (eq(net.differentiable(v, _w, *of), Integer(1)),)
        ),
        requires=law("", (a, b, c), lipschitz),
    )


WEIGHTS_START, CHAIN_RULE_WEIGHTS = _sensitivities()
WEIGHTS_START_OTHER, CHAIN_RULE_OTHER = _sensitivities(w_other)
DERIVATIVE_IN_STATE = derivative_in_state()
DERIVATIVE_IN_STATE_OTHER = derivative_in_state(w_other)
DERIVATIVE_NO_LESS = axiom(
    "derivative of a Lipschitz map",
    f"{_RUDIN}, Theorem 9.19 and its converse",
    "if ‖φ(h, x) − φ(h′, x)‖ ≥ L‖h − h′‖, then ‖∂_hφ B‖ ≥ L‖B‖ for every operator B",
    (_L, v, _w, B),
).that(
    Clause(
        le(_L * norm(B), norm(net.d_state(v, _w) * B)), (eq(net.differentiable(v, _w), Integer(1)),)
    ),
    requires=law("", (a, b, c), le(_L * norm(a - b), norm(phi(a, c) - phi(b, c)))),
)
_model = law("", (a, c), eq(phi(a, c), net.activation(A * a + B * c + _offset)))
_inner = A * v + B * _w + _offset
CHAIN_RULE_LAYER = _CHAIN_RULE(
    "for φ = ρ(A h + B x + b), ∂φ/∂h = diag(ρ') A and ∂φ/∂w = diag(ρ')(δA h + δB x + δb)",
    (A, B, _offset, v, _w),
).that(
    Clause(eq(net.d_state(v, _w), net.slopes(_inner, _inner) * A), (_differentiable,)),
    Clause(
        eq(net.d_weights(v, _w), net.slopes(_inner, _inner) * net.lift(v, _w)), (_differentiable,)
    ),
    requires=_model,
)
LINEAR_MAP = axiom(
    "derivative of a Lipschitz map",
    f"{_RUDIN}, Definition 9.6",
    "a linear map, which is its own derivative, has norm at most L if it is L-Lipschitz",
    (_L, A),
).that(le(norm(A), _L), requires=law("", (v,), le(norm(A * v), _L * norm(v))))
MEAN_VALUE_GRADIENT = axiom(
    "mean-value theorem",
    f"{_RUDIN}, Theorem 9.19",
    "if the second derivative of p, ∞ where ∇p jumps, has norm at most L everywhere, ∇p is "
    "L-Lipschitz",
    (_L, a, b),
).that(
    le(norm(net.gradient(a) - net.gradient(b)), _L * norm(a - b)),
    requires=law("", (c,), le(norm(net.hessian(c)), _L)),
)
# Of diag, for max |(A v)_i| would be the row sum norm where v is an operator.
DIAGONAL_ROWS = axiom(
    "norm of a diagonal matrix",
    f"{_HORN}, Theorem 5.6.36; Theorem 5.1.4, Cauchy-Schwarz",
    "diag(A v) has the norm max |(A v)_i|, at most max ‖A_i‖₂ ‖v‖₂ over the rows A_i",
    (A, v),
).that(le(norm(diagonal(A * v)), row_norm(A) * norm(v)))
RAYLEIGH = axiom(
    "spectral theorem",
    f"{_HORN}, Theorem 4.2.2",
    "if |⟨v, A v⟩| ≤ L ‖v‖² for all v, and A is symmetric, then ‖A‖ ≤ L",
    (_L, A),
).that(
    Clause(le(norm(A), _L), (eq(is_symmetric(A), Integer(1)),)),
    requires=law("", (v,), le(Abs(inner(v, A * v)), _L * norm(v) ** 2)),
)

GRADIENT_AXIOMS: tuple[Axiom, ...] = axioms_in(globals())
