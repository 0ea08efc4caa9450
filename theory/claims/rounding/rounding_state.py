"""The rounding errors of a rollout do not pile up in a contractive model (Higham)."""

from dataclasses import replace

from sympy import Expr, Integer, Rational

from rnnbounds.theory.axioms import base
from rnnbounds.theory.language import Assumption, Clause, assume, at, eq, le, lt, symbols
from rnnbounds.theory.language.terms.gradients import activation, slopes
from rnnbounds.theory.language.terms.unitary import rows
from rnnbounds.theory.language.terms.variables import j, m, x
from rnnbounds.theory.language.terms.vectors import (
    RECURSION,
    absolute,
    computed,
    entry,
    in_range,
    library,
    norm,
    phi,
    rounded_step,
    state,
    transpose,
)
from rnnbounds.theory.models.activation.slopes import SLOPES
from rnnbounds.theory.models.cells import RNN, U, W, bias
from rnnbounds.theory.models.lemmas.powers import POWER_NOT_NEGATIVE
from rnnbounds.theory.models.system import CONTRACTION, CONTRACTIVE
from rnnbounds.theory.proof import Claim, Form, OtherCells, Source, step, swap, theorem

lam, L_rho, B_x, B_h, Z_hat, e_rho, e_relative, eps_1 = symbols(
    "lam L_rho B_x B_h Z_hat e_rho e_relative eps_1"
)
n, d, u, T, h_rounding = symbols("n d u T h_rounding")

h, x_next = computed(x, m), entry(x, m + 1)
exact_sum = W * h + U * x_next + bias
float_sum = rounded_step(W, h, U, x_next, bias)
state_in_range = le(norm(h), Rational(101, 100) * B_h)  # what the local error bound presupposes

FLOATING = assume(
    "floating point",
    "the states are computed in float64, with any order of summation, and no part of a "
    "pre-activation is lost to overflow or underflow",
    forall=(m,),
).that(
    eq(computed(x, 0), Integer(0)),
    eq(computed(x, m + 1), library(float_sum)),
    eq(in_range(W, h, U, x_next, bias), Integer(1)),
)
LIBRARY = assume(
    "library",
    "e_rho bounds the error of the library's ρ, at pre-activations of states up to 1.01 B_h",
    forall=(m,),
).that(Clause(le(norm(library(float_sum) - activation(float_sum)), e_rho), (state_in_range,)))
PRE_ACTIVATIONS = assume(
    "pre-activations",
    "Z_hat is at least 1.01 ‖|W|‖ B_h + ‖|U|‖ B_x + ‖b‖, and ‖x_t‖ ≤ B_x",
    forall=(m,),
).that(
    le(Rational(101, 100) * norm(absolute(W)) * B_h + norm(absolute(U)) * B_x + norm(bias), Z_hat),
    le(norm(entry(x, m + 1)), B_x),
)
STATES = assume("states", "B_h bounds ‖h_t‖", forall=(j,)).that(le(norm(state(x, 0, j)), B_h))
SHAPES = assume("shapes", "W has n columns and U has d, the numbers of states and of inputs").that(
    le(rows(transpose(W)), n), le(rows(transpose(U)), d)
)
SIZE = Assumption("size", "n + d + 2 is at most 2^40", lt((n + d + 2) * u, Rational(1, 2**12)))
TOTAL = (1 - lam**T) / (1 - lam)
LOCAL = L_rho * base.gamma(n + d + 2) * Z_hat + e_rho
ONE_ERROR = assume("one error", "eps_1 is at least L_ρ γ_{n+d+2} Z_hat + e_rho").that(
    le(LOCAL, eps_1)
)


def _small_error(error: Expr) -> Assumption:
    return Assumption(
        "small",
        "the error of one step is at most (1 − λ) B_h/100",
        le(error, (1 - lam) * B_h / 100),
    )


# That it is a vanilla network is what other cells do not meet.
CONTRACTS = replace(CONTRACTION, ties=False)
MODEL = (RNN, CONTRACTS, CONTRACTIVE, STATES, FLOATING, LIBRARY, PRE_ACTIVATIONS, SHAPES, SIZE)

PRE_ACTIVATION_STEP = step(
    "rounding before the activation",
    le(norm(float_sum - exact_sum), base.gamma(n + d + 2) * Z_hat),
    forall=(m,),
    given=(state_in_range,),
).by(
    base.ROUNDED_STEP.at(W, h, U, x_next, bias, n, d),
    "shapes",
    at("floating point", m),
    at("pre-activations", m),
    "size",
)
SECANTS = step(
    "secants",
    le(norm(activation(float_sum) - activation(exact_sum)), L_rho * norm(float_sum - exact_sum)),
    forall=(m,),
).by(
    "slopes",
    base.DIAGONAL_NORM.at(float_sum, exact_sum),
    base.MEAN_VALUE.at(float_sum, exact_sum),
    base.SUBMULTIPLICATIVE.at(slopes(float_sum, exact_sum), float_sum - exact_sum),
)


def _rounding_form(name: str, error: Expr, size_assumptions: tuple[Assumption, ...]) -> Form:
    """The bound with this expression for the error of one step."""
    size_uses = () if size_assumptions else ("size",)  # the expression divides by 1 − (n + d + 2) u
    bound = le(h_rounding, error * TOTAL)
    local_step = step(
        "one step",
        le(norm(computed(x, m + 1) - phi(h, x_next)), error),
        forall=(m,),
        given=(state_in_range,),
    ).by(
        at("floating point", m),
        at("rnn", h, x_next),
        base.TRIANGLE.at(
            library(float_sum) - activation(float_sum),
            activation(float_sum) - activation(exact_sum),
        ),
        at("library", m),
        at("secants", m),
        at("rounding before the activation", m),
        "size",
        *(assumption.id for assumption in size_assumptions),
    )
    later = computed(x, j), entry(x, j + 1)
    all_steps = step(
        "all steps",
        le(norm(computed(x, j) - state(x, 0, j)), error * (1 - lam**j) / (1 - lam)),
        forall=(j,),
    ).by_induction(
        base=(at("floating point", j), RECURSION.at(x, 0, 0)),
        step=(
            at("one step", j),
            RECURSION.at(x, 0, j),
            at("contraction", computed(x, j), state(x, 0, j), entry(x, j + 1)),
            base.TRIANGLE.at(computed(x, j) - state(x, 0, j), state(x, 0, j)),
            base.TRIANGLE.at(computed(x, j + 1) - phi(*later), phi(*later) - state(x, 0, j + 1)),
            at("states", j),
            at("power not negative", j),
            "contractive",
            "small",
            *size_uses,
        ),
    )
    return theorem(
        name,
        bound,
        (*MODEL, *size_assumptions, _small_error(error)),
        "rnn",
        (SLOPES, PRE_ACTIVATION_STEP, SECANTS, local_step, POWER_NOT_NEGATIVE, all_steps),
    ).by(at("all steps", T), "contractive", *size_uses)


STATE = _rounding_form("state", eps_1, (ONE_ERROR,))
EXPLICIT = _rounding_form("explicit", LOCAL, ())

ROUNDING_STATE = Claim(
    id="rounding-state",
    title="Rounding moves a state by at most the error of a step over 1 − λ",
    source=Source("Higham, Accuracy and Stability of Numerical Algorithms", "section 3.5"),
    forms=(STATE, EXPLICIT),
    false_variants=(
        STATE.variant(
            "no-accumulation", "the error of one step alone", eps_1, special="rounding-accumulates"
        ),
        EXPLICIT.variant(
            "exact-activation",
            "the library's activation is taken for exact",
            (LOCAL - e_rho) * TOTAL,
            special="softplus-threshold",
        ),
        EXPLICIT.variant(
            "relative-error",
            "the library's activation is taken to err by 4u of its value",
            (LOCAL - e_rho + e_relative) * TOTAL,
            special="softplus-threshold",
        ),
        swap(STATE, T, T - 1, "one-step-short", "the errors of all steps but one"),
    ),
    example_factor=1.25,
    extremal="scalar linear system near λ = 1 with constant input: the same error in every step",
    other_cells=OtherCells(open="the rounding of one step of this cell is not stated"),
)
