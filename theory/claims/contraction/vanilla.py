"""Linear systems contract by ‖W‖, vanilla RNNs by L_ρ ‖W‖ (Miller & Hardt, section 2)."""

from sympy import Expr, Integer

from rnnbounds.theory.axioms.base import DIAGONAL_NORM, MEAN_VALUE, SUBMULTIPLICATIVE
from rnnbounds.theory.language import Assumption, at, le, lt, symbols
from rnnbounds.theory.language.terms.networks import slopes
from rnnbounds.theory.language.terms.variables import a, b, c, vector
from rnnbounds.theory.language.terms.vectors import norm, phi
from rnnbounds.theory.models.cells import LINEAR, RECURRENT_NORM, RNN, SLOPES, U, W, bias
from rnnbounds.theory.proof import (
    Claim,
    Form,
    Source,
    Step,
    step,
    swap,
    theorem,
    thousandth_less,
)

L_rho, W_norm, W_radius, step_gap, state_gap = symbols("L_rho W_norm W_radius step_gap state_gap")
x_t = vector("x_t")
preactivation_a, preactivation_b = (W * state + U * c + bias for state in (a, b))
step_change = norm(phi(a, c) - phi(b, c))

SECANTS = step("secants", le(norm(slopes(a, b)), L_rho), forall=(a, b)).by(
    "slopes", DIAGONAL_NORM.at(a, b)
)
LINEAR_STEP = step("one step", le(step_change, norm(W) * norm(a - b)), forall=(a, b, c)).by(
    at("linear", a, c), at("linear", b, c), SUBMULTIPLICATIVE.at(W, a - b)
)
RNN_STEP = step("one step", le(step_change, L_rho * norm(W) * norm(a - b)), forall=(a, b, c)).by(
    at("rnn", a, c),
    at("rnn", b, c),
    MEAN_VALUE.at(preactivation_a, preactivation_b),
    SUBMULTIPLICATIVE.at(slopes(preactivation_a, preactivation_b), W * (a - b)),
    SUBMULTIPLICATIVE.at(W, a - b),
    at("secants", preactivation_a, preactivation_b),
)


def euclidean_form(model: Assumption, factor: Expr, *steps: Step) -> Form:
    """Form: the model contracts by the factor in the Euclidean norm."""
    bound = le(step_gap, factor * state_gap)
    return theorem("euclidean", bound, (model, RECURRENT_NORM), model.id, steps).by(
        at("one step", a, b, x_t), "recurrent norm"
    )


OF_LINEAR = euclidean_form(LINEAR, W_norm, LINEAR_STEP)
OF_RNN = euclidean_form(RNN, L_rho * W_norm, SLOPES, SECANTS, RNN_STEP)
STABLE_RADIUS = Assumption(
    "stable radius", "the spectral radius is below 1", lt(W_radius, Integer(1))
)

CONTRACTION_LINEAR = Claim(
    id="contraction-linear",
    title="A linear system contracts by ‖W‖",
    source=Source("Miller & Hardt, Stable Recurrent Models", "section 2"),
    forms=(OF_LINEAR,),
    false_variants=(
        swap(
            OF_LINEAR,
            W_norm,
            W_radius,
            "spectral-radius",
            "the spectral radius is taken for the norm",
        ),
        thousandth_less(OF_LINEAR, "one-thousandth", "a thousandth less than the norm"),
    ),
    example_factor=0.6,
    extremal="λ times an orthogonal matrix, or two states along the first right singular vector",
)

CONTRACTION_RNN = Claim(
    id="contraction-rnn",
    title="A vanilla RNN contracts by its slope times ‖W‖",
    source=Source("Miller & Hardt, Stable Recurrent Models", "section 2"),
    forms=(OF_RNN,),
    false_variants=(
        swap(
            OF_RNN, W_norm, W_radius, "spectral-radius", "the spectral radius is taken for the norm"
        ),
        OF_RNN.variant(
            "unit-slope",
            "every activation is taken for 1-Lipschitz, GELU and SiLU too",
            W_norm * state_gap,
        ),
    ),
    example_factor=0.75,
    extremal="λ times an orthogonal matrix, with pre-activations where the slope is ±L_ρ",
)
