"""The textbook lemmas behind the claims on unitary equivalents, under the names of `axioms`."""

from rnnbounds.theory.axioms.reading import HORN, RUDIN, axiom
from rnnbounds.theory.language import Axiom, axioms_in
from rnnbounds.theory.language.terms.vectors import Operator, function

# A = P Σ Qᵀ: left(A) = P, singular(A) = Σ, right(A) = Q.  kept(A) embeds the q coordinates where
# Σ < I into all; there Σ is low(A), and cosine(A) is (I − Σ²)^½.
left, right = function("left", Operator), function("right", Operator)
singular, kept = function("singular", Operator), function("kept", Operator)
low, cosine = function("low", Operator), function("cosine", Operator)

EXTENSIONAL = axiom(
    "norm",
    f"definition of the Euclidean norm; {HORN}, 5.1.1",
    "vectors with equal entries are equal: ‖a − b‖ = 0 for no others",
    "a b: a == b",
    "i: part(a, i) == part(b, i)",
)
MONOTONE_NORM = axiom(
    "norm of a diagonal matrix",
    f"{HORN}, Theorems 5.4.19 and 5.6.36",
    "in an absolute norm, ‖a‖ ≤ ‖b‖ where |a_i| ≤ |b_i| for all i",
    "a b: norm(a) <= norm(b)",
    "i: Abs(part(a, i)) <= Abs(part(b, i))",
)
IDENTITY_NORM = axiom(
    "norm of a diagonal matrix",
    f"{HORN}, Theorem 5.6.36",
    "‖I‖ = 1, and Iᵀ = I",
    ": norm(I) == 1; transpose(I) == I",
)
# Of no size: I_n is QᵀQ here, for one identity of matrices of all sizes would have any rank.
_P, _S, _Q, _E = "left(A)", "singular(A)", "right(A)", "kept(A)"
_C, _K = "low(A)", "cosine(A)"
SINGULAR_VALUES = axiom(
    "spectral theorem",
    f"{HORN}, Theorem 2.6.3, the singular value decomposition",
    "a square matrix is A = PΣQᵀ with orthogonal P and Q and a diagonal Σ ≥ 0",
    f"A: A == {_P}*{_S}*transpose({_Q}); transpose({_P})*{_P}*{_S} == {_S};"
    f" transpose({_Q})*{_Q}*transpose({_Q}) == transpose({_Q}); transpose({_S}) == {_S}",
)
_COSINES = (
    f"{_S}*{_E} == {_E}*{_C}",
    f"{_S}*{_S} == transpose({_Q})*{_Q} - {_E}*{_K}*{_K}*transpose({_E})",
    f"transpose({_P})*{_P}*{_E} == {_E}",
    f"transpose({_E})*{_E}*{_K} == {_K}",
    f"{_K}*transpose({_E})*transpose({_Q})*{_Q}*{_E} == {_K}",
    f"{_C}*{_C} == transpose({_E})*{_E} - {_K}*{_K}",
    f"{_C}*{_K} == {_K}*{_C}",
    f"transpose({_C}) == {_C}",
    f"transpose({_K}) == {_K}",
)
COSINES = axiom(
    "spectral theorem",
    f"{HORN}, Theorem 2.6.3, the singular value decomposition; diagonal matrices",
    "if ‖A‖ ≤ 1 then Σ ≤ I: with Σ_q the entries below 1 and K = (I − Σ_q²)^½, "
    "Σ² = I − J K² Jᵀ, where J embeds these coordinates",
    "A: " + "; ".join(f"{equation} where norm(A) <= 1" for equation in _COSINES),
)
_STATES = (
    "chain rule", f"{RUDIN}, Theorem 9.15",
    "∂h_s/∂h_s = I, and ∂h_t/∂h_s = ∂φ/∂h at (h_{t-1}, x_t) · ∂h_{t-1}/∂h_s",
)  # fmt: skip
_now = "state(x, 0, s + j), entry(x, s + j + 1)"
STATES_START = axiom(*_STATES, "x s: d_run(x, s, 0) == I")
CHAIN_RULE_STATES = axiom(
    *_STATES,
    f"x s j: d_run(x, s, j + 1) == d_state({_now})*d_run(x, s, j)"
    f" where differentiable({_now}) == 1",
)

UNITARY_AXIOMS: tuple[Axiom, ...] = axioms_in(globals())
