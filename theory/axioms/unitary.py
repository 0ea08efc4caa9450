"""The textbook lemmas behind the claims on unitary equivalents, under the names of `axioms`."""

from sympy import Abs, Integer

from theory.language.law import Axiom, Clause, axiom, law, stated
from theory.language.statement import eq, le
from theory.language.terms.unitary import d_run, part
from theory.language.terms.vectors import (
    A,
    a,
    b,
    d_state,
    derivative,
    differentiable,
    entry,
    eye,
    function,
    i,
    j,
    norm,
    s,
    slopes,
    state,
    transpose,
    x,
)

_HORN = "Horn & Johnson, Matrix Analysis"
_now = state(x, 0, s + j), entry(x, s + j + 1)
# A = P Σ Qᵀ: left(A) = P, singular(A) = Σ, right(A) = Q.  kept(A) embeds the q coordinates where
# Σ < I into all; there Σ is low(A), and cosine(A) is (I − Σ²)^½.
left, right = function("left", module=__name__), function("right", module=__name__)
singular, kept = function("singular", module=__name__), function("kept", module=__name__)
low, cosine = function("low", module=__name__), function("cosine", module=__name__)

EXTENSIONAL = axiom(
    "norm",
    (a, b),
    eq(a, b),
    text="vectors with equal entries are equal: ‖a − b‖ = 0 for no others",
    source=f"definition of the Euclidean norm; {_HORN}, 5.1.1",
    requires=law("", (i,), eq(part(a, i), part(b, i))),
)
MONOTONE_NORM = axiom(
    "norm of a diagonal matrix",
    (a, b),
    le(norm(a), norm(b)),
    text="in an absolute norm, ‖a‖ ≤ ‖b‖ where |a_i| ≤ |b_i| for all i",
    source=f"{_HORN}, Theorems 5.4.19 and 5.6.36",
    requires=law("", (i,), le(Abs(part(a, i)), Abs(part(b, i)))),
)
IDENTITY_NORM = axiom(
    "norm of a diagonal matrix",
    (),
    eq(norm(eye), Integer(1)),
    text="‖I‖ = 1",
    source=f"{_HORN}, Theorem 5.6.36",
)
ZERO_DIAGONAL = axiom(
    "norm of a diagonal matrix",
    (a,),
    eq(slopes(a, a), Integer(0)),
    text="diag(ρ'(a_i)) is 0 where all ρ'(a_i) are",
    source=f"{_HORN}, Theorem 5.6.36",
    requires=law("", (i,), eq(derivative(part(a, i)), Integer(0))),
)
# Of no size: I_n is QᵀQ here, for one identity of matrices of all sizes would have any rank.
_P, _S, _Q, _E = left(A), singular(A), right(A), kept(A)
_C, _K = low(A), cosine(A)
SINGULAR_VALUES = axiom(
    "spectral theorem",
    (A,),
    eq(A, _P * _S * transpose(_Q)),
    eq(transpose(_P) * _P * _S, _S),
    eq(transpose(_Q) * _Q * transpose(_Q), transpose(_Q)),
    eq(transpose(_S), _S),
    text="a square matrix is A = PΣQᵀ with orthogonal P and Q and a diagonal Σ ≥ 0",
    source=f"{_HORN}, Theorem 2.6.3, the singular value decomposition",
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
STATES_START = axiom(
    "chain rule",
    (x, s),
    eq(d_run(x, s, 0), eye),
    text="∂h_s/∂h_s = I",
    source="Rudin, Principles of Mathematical Analysis, Theorem 9.15",
)
CHAIN_RULE_STATES = axiom(
    "chain rule",
    (x, s, j),
    Clause(
        eq(d_run(x, s, j + 1), d_state(*_now) * d_run(x, s, j)),
        (eq(differentiable(*_now), Integer(1)),),
    ),
    text="∂h_t/∂h_s = ∂φ/∂h at (h_{t-1}, x_t) · ∂h_{t-1}/∂h_s",
    source="Rudin, Principles of Mathematical Analysis, Theorem 9.15",
)

UNITARY_AXIOMS: tuple[Axiom, ...] = stated(globals())
