"""The textbook lemmas behind the claims on gradients, under the names that `axioms` has too."""

from rnnbounds.theory.axioms.reading import HORN, RUDIN, axiom
from rnnbounds.theory.language import Axiom, axioms_in

_SUBMULTIPLICATIVE = "sub-multiplicativity"
SUBMULTIPLICATIVE_FROBENIUS = axiom(
    _SUBMULTIPLICATIVE,
    f"{HORN}, section 5.6, the Frobenius norm",
    "‖A v‖₂ ≤ ‖A‖_F ‖v‖₂",
    "A v: norm(A*v)**2 <= frobenius(A)*norm(v)**2",
)
SUBMULTIPLICATIVE_TRANSPOSED = axiom(
    _SUBMULTIPLICATIVE,
    f"{HORN}, 5.6.1 and 5.6.6",
    "‖Aᵀ B‖ ≤ ‖A‖ ‖B‖, for Aᵀ has the spectral norm of A",
    "A Y: norm(transpose(A)*Y) <= norm(A)*norm(Y)",
)
CAUCHY_SCHWARZ = axiom(
    _SUBMULTIPLICATIVE,
    f"{HORN}, Theorem 5.1.4, Cauchy-Schwarz",
    "|⟨a, b⟩| ≤ ‖a‖ ‖b‖",
    "a b: Abs(inner(a, b)) <= norm(a)*norm(b)",
)
_CHAIN_RULE = "chain rule", f"{RUDIN}, Theorem 9.15"
_SENSITIVITY = (
    *_CHAIN_RULE,
    "dh_s/dw = 0 for a run from zero at time s, and "
    "dh_t/dw = ∂φ/∂h · dh_{t-1}/dw + ∂φ/∂w at (h_{t-1}, x_t)",
)
_OF = "", ", w_other"  # the model's own weights, and other ones
# How a run depends on its weights: at its start, and from one step to the next.
WEIGHTS_START, WEIGHTS_START_OTHER = (
    axiom(*_SENSITIVITY, f"x s: sensitivity(x, s, 0{of}) == 0") for of in _OF
)
CHAIN_RULE_WEIGHTS, CHAIN_RULE_OTHER = (
    axiom(
        *_SENSITIVITY,
        f"x s j: sensitivity(x, s, j + 1{of})"
        f" == d_state({now})*sensitivity(x, s, j{of}) + d_weights({now})"
        f" where differentiable({now}) == 1",
    )
    for of in _OF
    for now in (f"state(x, s, j{of}), entry(x, s + j + 1){of}",)
)
_LIPSCHITZ = "derivative of a Lipschitz map"
DERIVATIVE_IN_STATE, DERIVATIVE_IN_STATE_OTHER = (
    axiom(
        _LIPSCHITZ,
        f"{RUDIN}, Theorem 9.19 and its converse",
        "if φ(·, x) or φ(h, ·) is L-Lipschitz, its derivative has norm at most L",
        f"L v w_: norm(d_state(v, w_{of})) <= L where differentiable(v, w_{of}) == 1",
        f"a b c: norm(phi(a, c{of}) - phi(b, c{of})) <= L*norm(a - b)",
    )
    for of in _OF
)
DERIVATIVE_NO_LESS = axiom(
    _LIPSCHITZ,
    f"{RUDIN}, Theorem 9.19 and its converse",
    "if ‖φ(h, x) − φ(h′, x)‖ ≥ L‖h − h′‖, then ‖∂_hφ B‖ ≥ L‖B‖ for every operator B",
    "L v w_ B: L*norm(B) <= norm(d_state(v, w_)*B) where differentiable(v, w_) == 1",
    "a b c: L*norm(a - b) <= norm(phi(a, c) - phi(b, c))",
)
_slopes = "slopes(A*v + B*w_ + offset_, A*v + B*w_ + offset_)"
CHAIN_RULE_LAYER = axiom(
    *_CHAIN_RULE,
    "for φ = ρ(A h + B x + b), ∂φ/∂h = diag(ρ') A and ∂φ/∂w = diag(ρ')(δA h + δB x + δb)",
    f"A B offset_ v w_: d_state(v, w_) == {_slopes}*A where differentiable(v, w_) == 1;"
    f" d_weights(v, w_) == {_slopes}*lift(v, w_) where differentiable(v, w_) == 1",
    "a c: phi(a, c) == activation(A*a + B*c + offset_)",
)
LINEAR_MAP = axiom(
    _LIPSCHITZ,
    f"{RUDIN}, Definition 9.6",
    "a linear map, which is its own derivative, has norm at most L if it is L-Lipschitz",
    "L A: norm(A) <= L",
    "v: norm(A*v) <= L*norm(v)",
)
MEAN_VALUE_GRADIENT = axiom(
    "mean-value theorem",
    f"{RUDIN}, Theorem 9.19",
    "if the second derivative of p, ∞ where ∇p jumps, has norm at most L everywhere, ∇p is "
    "L-Lipschitz",
    "L a b: norm(gradient(a) - gradient(b)) <= L*norm(a - b)",
    "c: norm(hessian(c)) <= L",
)
# Of diag, for max |(A v)_i| would be the row sum norm where v is an operator.
DIAGONAL_ROWS = axiom(
    "norm of a diagonal matrix",
    f"{HORN}, Theorem 5.6.36; Theorem 5.1.4, Cauchy-Schwarz",
    "diag(A v) has the norm max |(A v)_i|, at most max ‖A_i‖₂ ‖v‖₂ over the rows A_i",
    "A v: norm(diagonal(A*v)) <= row_norm(A)*norm(v)",
)
RAYLEIGH = axiom(
    "spectral theorem",
    f"{HORN}, Theorem 4.2.2",
    "if |⟨v, A v⟩| ≤ L ‖v‖² for all v, and A is symmetric, then ‖A‖ ≤ L",
    "L A: norm(A) <= L where is_symmetric(A) == 1",
    "v: Abs(inner(v, A*v)) <= L*norm(v)**2",
)

GRADIENT_AXIOMS: tuple[Axiom, ...] = axioms_in(globals())
