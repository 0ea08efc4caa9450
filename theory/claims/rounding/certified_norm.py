"""A completed Cholesky factorisation certifies a bound on ‖W‖₂ (Rump; Higham)."""

from sympy import Integer, Rational, Symbol, sqrt

from rnnbounds.theory.axioms.base import CHOLESKY, LEAST_EIGENVALUE, ROUNDED_GRAM, WEYL, gamma
from rnnbounds.theory.axioms.unitary import IDENTITY_NORM
from rnnbounds.theory.language import Assumption, assume, eq, le, lt, symbols
from rnnbounds.theory.language.terms.unitary import rows
from rnnbounds.theory.language.terms.variables import eye
from rnnbounds.theory.language.terms.vectors import (
    completes,
    frobenius,
    in_range,
    least,
    norm,
    rounded_gram,
    trace,
    transpose,
)
from rnnbounds.theory.models.cells import W
from rnnbounds.theory.proof import Claim, Source, scale, step, swap, theorem
from rnnbounds.theory.proof.methods import Words

W_norm_exact, n, u = symbols("W_norm_exact n u")
s_gate, s_svd, s_power, s_unshifted, s_unscaled = symbols(
    "s_gate s_svd s_power s_unshifted s_unscaled"
)
shift = Symbol("c", real=True)

exact_gram = s_gate**2 * eye - transpose(W) * W - shift * eye
gram = rounded_gram(W, s_gate, shift)

GATE = assume(
    "gate",
    "W is scaled by a power of 2 that brings s near 1, where overflow and underflow do not matter; "
    "Cholesky's factorisation of the computed "
    "s² I − WᵀW − c I completes; c covers its backward error and the rounding of the matrix",
).that(
    eq(completes(gram), Integer(1)),
    eq(in_range(W, s_gate, shift), Integer(1)),
    le(
        gamma(n + 2) / (1 - gamma(n + 2)) * trace(gram)
        + gamma(n) * frobenius(W)
        + 4 * u * s_gate**2,
        shift,
    ),
)
SHAPES = assume(
    "shapes",
    "W and the computed matrix have n rows, and I is the identity of W's columns; of the computed "
    "matrix, which is symmetric, one triangle is computed",
).that(
    le(rows(W), n), le(rows(gram), n), eq(norm(W * eye - W), 0), eq(norm(transpose(gram) - gram), 0)
)
SIZE = Assumption("size", "n is at most 2^40", lt(n * u, Rational(1, 2**13)))

FORM = theorem(
    "gate",
    le(W_norm_exact, s_gate),
    (GATE, SHAPES, SIZE),
    "matrix",
    (
        step("symmetric", eq(norm(transpose(exact_gram) - exact_gram), 0)).by(
            IDENTITY_NORM.at(), method=Words
        ),
        step(
            "nearly positive", le(-gamma(n + 2) / (1 - gamma(n + 2)) * trace(gram), least(gram))
        ).by(CHOLESKY.at(gram, n), "gate", "shapes", "size"),
        step(
            "close to the true matrix",
            le(norm(gram - exact_gram), gamma(n) * frobenius(W) + 4 * u * s_gate**2),
        ).by(ROUNDED_GRAM.at(W, s_gate, shift, n), "gate", "shapes", "size"),
        step("the shift pays", le(norm(W) ** 2, s_gate**2)).by(
            "nearly positive",
            "close to the true matrix",
            "gate",
            "size",
            "shapes",
            "symmetric",
            WEYL.at(gram, exact_gram - gram),
            LEAST_EIGENVALUE.at(W, s_gate**2 - shift),
        ),
    ),
).by("the shift pays")

CERTIFIED_NORM = Claim(
    id="certified-norm",
    title="The certified bound on ‖W‖₂ is valid",
    source=Source("Rump; Higham, Accuracy and Stability of Numerical Algorithms", "Theorem 10.3"),
    forms=(FORM,),
    false_variants=(
        FORM.variant(
            "singular-value", "a library's largest singular value is taken for a bound", s_svd
        ),
        FORM.variant(
            "power-iteration", "the estimate of power iteration is taken for a bound", s_power
        ),
        FORM.variant(
            "unshifted", "the factorisation of s² I − WᵀW itself, rounding ignored", s_unshifted
        ),
        swap(FORM, s_gate, s_unscaled, "unscaled", "the gate without scaling, underflow ignored"),
        scale(FORM, 1 / sqrt(s_gate), "unsquared", "s I − WᵀW in place of s² I − WᵀW"),
    ),
    example_factor=1.25,
    extremal="λ times a near-orthogonal matrix; tiny and huge scales; rank one; zero",
)
