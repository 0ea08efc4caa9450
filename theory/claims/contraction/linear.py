"""A linear system contracts by the norm of its recurrent matrix (Miller & Hardt, section 2)."""

from sympy import Integer, sqrt

from rnnbounds.theory.axioms.base import SUBMULTIPLICATIVE
from rnnbounds.theory.language import Assumption, at, le, lt, symbols
from rnnbounds.theory.language.terms.variables import a, b, c, vector
from rnnbounds.theory.language.terms.vectors import norm, phi
from rnnbounds.theory.models.cells import LINEAR, RECURRENT_NORM, W
from rnnbounds.theory.proof import Claim, Source, instead, step, theorem, thousandth_less

W_norm, W_radius, step_gap, state_gap = symbols("W_norm W_radius step_gap state_gap")
x_t = vector("x_t")

ONE_STEP = step(
    "one step", le(norm(phi(a, c) - phi(b, c)), norm(W) * norm(a - b)), forall=(a, b, c)
).by(at("linear", a, c), at("linear", b, c), SUBMULTIPLICATIVE.at(W, a - b))
FORM = theorem(
    "euclidean", le(step_gap, W_norm * state_gap), (LINEAR, RECURRENT_NORM), "linear", (ONE_STEP,)
).by(at("one step", a, b, x_t), "recurrent norm")

STABLE_RADIUS = Assumption(
    "stable radius", "the spectral radius is below 1", lt(W_radius, Integer(1))
)

CONTRACTION_LINEAR = Claim(
    id="contraction-linear",
    title="A linear system contracts by ‖W‖",
    source=Source("Miller & Hardt, Stable Recurrent Models", "section 2"),
    forms=(FORM,),
    false_variants=(
        instead(
            FORM, W_norm, W_radius, "spectral-radius", "the spectral radius is taken for the norm"
        ),
        FORM.variant(
            "radius-below-one",
            "a spectral radius below 1 is taken for a contraction",
            state_gap,
            STABLE_RADIUS,
            special="shear-100",
        ),
        FORM.variant(
            "root-twice",
            "the root of ‖W‖ in place of that of ‖WᵀW‖",
            sqrt(W_norm) * state_gap,
            special="shear-100",
        ),
        thousandth_less(FORM, "one-thousandth", "a thousandth less than the norm"),
    ),
    emphasis=0.6,
    extremal="λ times an orthogonal matrix, or two states along the first right singular vector",
)
