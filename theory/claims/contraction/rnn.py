"""A vanilla RNN contracts by L_ρ ‖W‖ (Miller & Hardt, section 2)."""

from sympy import Integer, sqrt

from rnnbounds.theory.axioms.base import DIAGONAL_NORM, MEAN_VALUE, SUBMULTIPLICATIVE
from rnnbounds.theory.language import Assumption, at, le, lt, symbols
from rnnbounds.theory.language.terms.gradients import slopes
from rnnbounds.theory.language.terms.variables import a, b, c, vector
from rnnbounds.theory.language.terms.vectors import norm, phi
from rnnbounds.theory.models.cells import RECURRENT_NORM, RNN, U, W, bias
from rnnbounds.theory.models.slopes import SLOPES
from rnnbounds.theory.proof import Claim, Source, instead, scaled, step, theorem, thousandth_less

L_rho, W_norm, W_radius, step_gap, state_gap = symbols("L_rho W_norm W_radius step_gap state_gap")
x_t = vector("x_t")
first, second = (W * state + U * c + bias for state in (a, b))

SECANTS = step("secants", le(norm(slopes(a, b)), L_rho), forall=(a, b)).by(
    "slopes", DIAGONAL_NORM.at(a, b)
)
ONE_STEP = step(
    "one step", le(norm(phi(a, c) - phi(b, c)), L_rho * norm(W) * norm(a - b)), forall=(a, b, c)
).by(
    at("rnn", a, c),
    at("rnn", b, c),
    MEAN_VALUE.at(first, second),
    SUBMULTIPLICATIVE.at(slopes(first, second), W * (a - b)),
    SUBMULTIPLICATIVE.at(W, a - b),
    at("secants", first, second),
)
BOUND = le(step_gap, L_rho * W_norm * state_gap)
FORM = theorem("euclidean", BOUND, (RNN, RECURRENT_NORM), "rnn", (SLOPES, SECANTS, ONE_STEP)).by(
    at("one step", a, b, x_t), "recurrent norm"
)

STABLE_RADIUS = Assumption(
    "stable radius", "L_ρ times the spectral radius is below 1", lt(L_rho * W_radius, Integer(1))
)

CONTRACTION_RNN = Claim(
    id="contraction-rnn",
    title="A vanilla RNN contracts by its slope times ‖W‖",
    source=Source("Miller & Hardt, Stable Recurrent Models", "section 2"),
    forms=(FORM,),
    false_variants=(
        instead(
            FORM, W_norm, W_radius, "spectral-radius", "the spectral radius is taken for the norm"
        ),
        FORM.variant(
            "radius-below-one",
            "a spectral radius below 1/L_ρ is taken for a contraction",
            state_gap,
            STABLE_RADIUS,
            special="nilpotent-relu",
        ),
        FORM.variant(
            "unit-slope",
            "every activation is taken for 1-Lipschitz, GELU and SiLU too",
            W_norm * state_gap,
        ),
        scaled(FORM, 1 / sqrt(W_norm), "root-twice", "the root of ‖W‖ in place of that of ‖WᵀW‖"),
        thousandth_less(FORM, "one-thousandth", "a thousandth less than the factor"),
    ),
    emphasis=0.75,
    extremal="λ times an orthogonal matrix, with pre-activations where the slope is ±L_ρ",
)
