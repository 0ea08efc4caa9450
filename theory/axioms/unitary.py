"""The textbook lemmas behind the claims on unitary equivalents, under the names of `axioms`."""

from functools import partial

from sympy import Abs, Integer

from rnnbounds.theory.language import Axiom, Clause, axiom, axioms_in, eq, law, le
from rnnbounds.theory.language.terms.networks import d_state, differentiable
from rnnbounds.theory.language.terms.unitary import d_run, part
from rnnbounds.theory.language.terms.variables import A, a, b, eye, i, j, s, x
from rnnbounds.theory.language.terms.vectors import (
    Operator,
    entry,
    function,
    norm,
    state,
    transpose,
)

_HORN = "Horn & Johnson, Matrix Analysis"
_now = state(x, 0, s + j), entry(x, s + j + 1)
# A = P Σ Qᵀ: left(A) = P, singular(A) = Σ, right(A) = Q.  kept(A) embeds the q coordinates where
# Σ < I into all; there Σ is low(A), and cosine(A) is (I − Σ²)^½.
left, right = function("left", Operator), function("right", Operator)
singular, kept = function("singular", Operator), function("kept", Operator)
low, cosine = function("low", Operator), function("cosine", Operator)

_DIAGONAL = partial(axiom, "norm of a diagonal matrix", f"{_HORN}, Theorem 5.6.36")
_CHAIN_RULE = partial(
    axiom, "chain rule", "Rudin, Principles of Mathematical Analysis, Theorem 9.15"
)

EXTENSIONAL = axiom(
    "norm",
    f"definition of the Euclidean norm; {_HORN}, 5.1.1",
    "vectors with equal entries are equal: ‖a − b‖ = 0 for no others",
    (a, b),
).that(eq(a, b), requires=law("", (i,), eq(part(a, i), part(b, i))))
_ABSOLUTE = axiom(
    "norm of a diagonal matrix",
    f"{_HORN}, Theorems 5.4.19 and 5.6.36",
    "in an absolute norm, ‖a‖ ≤ ‖b‖ where |a_i| ≤ |b_i| for all i",
    (a, b),
)
_dominated = law("", (i,), le(Abs(part(a, i)), Abs(part(b, i))))
MONOTONE_NORM = _ABSOLUTE.that(le(norm(a), norm(b)), requires=_dominated)
IDENTITY_NORM = _DIAGONAL("‖I‖ = 1, and Iᵀ = I", ()).that(
    eq(norm(eye), Integer(1)), eq(transpose(eye), eye)
)
# Of no size: I_n is QᵀQ here, for one identity of matrices of all sizes would have any rank.
_P, _S, _Q, _E = left(A), singular(A), right(A), kept(A)
_C, _K = low(A), cosine(A)
SINGULAR_VALUES = axiom(
    "spectral theorem",
    f"{_HORN}, Theorem 2.6.3, the singular value decomposition",
    "a square matrix is A = PΣQᵀ with orthogonal P and Q and a diagonal Σ ≥ 0",
    (A,),
).that(
    eq(A, _P * _S * transpose(_Q)),
    eq(transpose(_P) * _P * _S, _S),
    eq(transpose(_Q) * _Q * transpose(_Q), transpose(_Q)),
    eq(transpose(_S), _S),
)
COSINES = Axiom(
    "spectral theorem",
    (A,),
    tuple(
        Clause(statement, (le(norm(A), Integer(1)),))
        for statement in (
            eq(_S * _E, _E * _C),
            eq(_S * _S, transpose(_Q) * _Q - _E * _K * _K * transpose(_E)),
            eq(transpose(_P) * _P * _E, _E),
            eq(transpose(_E) * _E * _K, _K),
            eq(_K * transpose(_E) * transpose(_Q) * _Q * _E, _K),
            eq(_C * _C, transpose(_E) * _E - _K * _K),
            eq(_C * _K, _K * _C),
            eq(transpose(_C), _C),
            eq(transpose(_K), _K),
        )
    ),
    text="if ‖A‖ ≤ 1 then Σ ≤ I: with Σ_q the entries below 1 and K = (I − Σ_q²)^½, "
    "Σ² = I − J K² Jᵀ, where J embeds these coordinates",
    source=f"{_HORN}, Theorem 2.6.3, the singular value decomposition; diagonal matrices",
)
_of_states = "∂h_s/∂h_s = I, and ∂h_t/∂h_s = ∂φ/∂h at (h_{t-1}, x_t) · ∂h_{t-1}/∂h_s"
STATES_START = _CHAIN_RULE(_of_states, (x, s)).that(eq(d_run(x, s, 0), eye))
CHAIN_RULE_STATES = _CHAIN_RULE(_of_states, (x, s, j)).that(
    Clause(
        eq(d_run(x, s, j + 1), d_state(*_now) * d_run(x, s, j)),
        (eq(differentiable(*_now), Integer(1)),),
    )
)

UNITARY_AXIOMS: tuple[Axiom, ...] = axioms_in(globals())
