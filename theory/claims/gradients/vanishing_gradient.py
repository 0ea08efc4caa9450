"""The derivative of the state in an early input vanishes (Miller & Hardt, section 3)."""

from sympy import sqrt

from theory.axioms.base import (
    CHAIN_RULE,
    CHAIN_RULE_START,
    DERIVATIVE_IN_INPUT,
    DERIVATIVE_IN_STATE,
    SUBMULTIPLICATIVE,
)
from theory.language.claim import Claim, Source
from theory.language.law import Assumption, at
from theory.language.statement import le
from theory.language.terms.vectors import d_state, entry, j, jacobian, m, norm, state, x
from theory.language.vocabulary import symbols
from theory.models.box_geometry import BOX, SHOWN_DERIVATIVE
from theory.models.box_geometry import LIPSCHITZ_INPUT as LIPSCHITZ_INPUT_BOX
from theory.models.sensitivity import factor
from theory.models.system import CONTRACTION, DIFFERENTIABLE, INDEX, LIPSCHITZ_INPUT, PAST_INDEX
from theory.proof.steps import induction, step, theorem

lam, L_x, L_rho, U_norm, W_norm, W_radius = symbols("lam L_x L_rho U_norm W_norm W_radius")
T, t, dh_dx, C_box, L_x_box = symbols("T t dh_dx C_box L_x_box")

before, x_now = state(x, 0, m), entry(x, m + 1)
later, x_later = state(x, 0, m + j + 1), entry(x, m + j + 2)

MODEL = (CONTRACTION, LIPSCHITZ_INPUT, DIFFERENTIABLE, INDEX, PAST_INDEX)
OLD = Assumption("old input", "the input is at least 8 steps old: T − t ≥ 8", le(t + 8, T))

FORM = theorem(
    "finite",
    le(dh_dx, L_x * lam ** (T - t)),
    MODEL,
    "rnn",
    (
        step(
            "the input's own step",
            le(norm(jacobian(x, m + 1, m + 1)), L_x),
            CHAIN_RULE_START.at(x, m),
            DERIVATIVE_IN_INPUT.at(L_x, before, x_now),
            "lipschitz input",
            at("differentiable", before, x_now),
            forall=(m,),
        ),
        step(
            "one step more",
            le(norm(jacobian(x, m + j + 2, m + 1)), lam * norm(jacobian(x, m + j + 1, m + 1))),
            CHAIN_RULE.at(x, m, j),
            SUBMULTIPLICATIVE.at(d_state(later, x_later), jacobian(x, m + j + 1, m + 1)),
            DERIVATIVE_IN_STATE.at(lam, later, x_later),
            "contraction",
            at("differentiable", later, x_later),
            forall=(m, j),
        ),
        induction(
            "all steps",
            le(norm(jacobian(x, m + j + 1, m + 1)), L_x * lam**j),
            base=at("the input's own step", m),
            step=at("one step more", m, j),
            forall=(m, j),
        ),
    ),
    at("all steps", t - 1, T - t),
    "index",
    "past",
)

first_step = BOX.norm(jacobian(x, m + 1, m + 1))
moved, moved_next = (jacobian(x, m + j + steps, m + 1) for steps in (1, 2))
IN_BOX_BOUND = le(dh_dx, C_box * L_x_box * BOX.lam ** (T - t))
IN_BOX = theorem(
    "box",
    IN_BOX_BOUND,
    (*BOX.slopes, LIPSCHITZ_INPUT_BOX, DIFFERENTIABLE, SHOWN_DERIVATIVE, INDEX, PAST_INDEX),
    "cell",
    (
        *BOX.before,
        factor(BOX),
        step(
            "the input's own step",
            le(first_step, L_x_box),
            CHAIN_RULE_START.at(x, m),
            at("lipschitz input", m),
            at("differentiable", before, x_now),
            forall=(m,),
        ),
        step(
            "one step more",
            le(BOX.norm(moved_next), BOX.lam * BOX.norm(moved)),
            CHAIN_RULE.at(x, m, j),
            BOX.submultiplicative.at(d_state(later, x_later), moved),
            at("factor", 0, m + j + 1),
            at("differentiable", later, x_later),
            forall=(m, j),
        ),
        induction(
            "all steps",
            le(BOX.norm(moved), L_x_box * BOX.lam**j),
            base=at("the input's own step", m),
            step=at("one step more", m, j),
            forall=(m, j),
        ),
    ),
    at("all steps", t - 1, T - t),
    at("output", t - 1, T - t),
    "index",
    "past",
    note="any cell with a comparison matrix",
)

VANISHING_GRADIENT = Claim(
    id="vanishing-gradient",
    title="Gradients in early inputs vanish",
    source=Source("Miller & Hardt, Stable Recurrent Models", "section 3"),
    forms=(FORM, IN_BOX),
    false_variants=(
        FORM.variant(
            "next-power", "λ^{T−t+1} in place of λ^{T−t}", le(dh_dx, L_x * lam ** (T - t + 1))
        ),
        FORM.variant(
            "slope-forgotten",
            "the activation's slope is taken for 1",
            le(dh_dx, U_norm * W_norm ** (T - t)),
        ),
        FORM.variant(
            "half-by-eight",
            "eight steps forget half of any derivative, whatever λ is",
            le(dh_dx, L_x / 2),
            (*MODEL, OLD),
        ),
        FORM.variant(
            "no-input-slope",
            "the constant L_x of the input is missing",
            le(dh_dx, lam ** (T - t)),
        ),
        FORM.variant(
            "spectral-radius",
            "the eigenvalues of W rule the decay",
            le(dh_dx, L_x * (L_rho * W_radius) ** (T - t)),
        ),
        FORM.variant(
            "as-the-square-root",
            "the slopes average out, like the square root of the lag",
            le(dh_dx, L_x * lam ** (T - t) / sqrt(T - t + 1)),
        ),
        IN_BOX.variant(
            "box-next-power",
            "λ^{T−t+1} in place of λ^{T−t}, of a cell",
            le(dh_dx, BOX.lam * IN_BOX_BOUND.rhs),
        ),
        IN_BOX.variant(
            "box-without-output",
            "the Euclidean norm of the output is taken for the norm of the box",
            le(dh_dx, L_x_box * BOX.lam ** (T - t)),
        ),
    ),
    extremal="scalar linear system h = λh + L_x x: equality for every t ≤ T and every input",
)
