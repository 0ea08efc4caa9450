"""The derivative of the state in an early input vanishes (Miller & Hardt, section 3)."""

from sympy import Expr

from rnnbounds.theory.axioms.base import CHAIN_RULE, CHAIN_RULE_START, DERIVATIVE_IN_INPUT
from rnnbounds.theory.axioms.gradients import DERIVATIVE_IN_STATE
from rnnbounds.theory.language import ZERO, Use, at, le, symbols
from rnnbounds.theory.language.terms.networks import d_state, jacobian
from rnnbounds.theory.language.terms.variables import j, m, x
from rnnbounds.theory.language.terms.vectors import entry, state
from rnnbounds.theory.models.box.geometry import BOX, SHOWN_DERIVATIVE
from rnnbounds.theory.models.box.geometry import LIPSCHITZ_INPUT as LIPSCHITZ_INPUT_BOX
from rnnbounds.theory.models.geometry import EUCLIDEAN, Geometry
from rnnbounds.theory.models.sensitivity import factor_step
from rnnbounds.theory.models.system import (
    CONTRACTION,
    DIFFERENTIABLE,
    INDEX,
    LIPSCHITZ_INPUT,
    PAST_INDEX,
)
from rnnbounds.theory.proof import Claim, Source, Step, scale, step, swap, theorem

lam, L_x, T, t, dh_dx, C_box, L_x_box = symbols("lam L_x T t dh_dx C_box L_x_box")

before, x_now = state(x, 0, m), entry(x, m + 1)
later, x_later = state(x, 0, m + j + 1), entry(x, m + j + 2)

MODEL = (CONTRACTION, LIPSCHITZ_INPUT, DIFFERENTIABLE, INDEX, PAST_INDEX)

moved, moved_next = (jacobian(x, m + j + steps, m + 1) for steps in (1, 2))


def jacobian_decay_steps(
    g: Geometry, L_x: Expr, first: tuple[Use, ...], further: tuple[Use, ...]
) -> tuple[Step, ...]:
    """‖∂h_{t+j}/∂x_t‖ ≤ L_x λ^j, from what bounds the derivatives of one step."""
    return (
        step("the input's own step", le(g.norm(jacobian(x, m + 1, m + 1)), L_x), forall=(m,)).by(
            CHAIN_RULE_START.at(x, m), *first, at("differentiable", 0, m)
        ),
        step("one step more", le(g.norm(moved_next), g.lam * g.norm(moved)), forall=(m, j)).by(
            CHAIN_RULE.at(x, m, j),
            g.submultiplicative.at(d_state(later, x_later), moved),
            *further,
            at("differentiable", 0, m + j + 1),
        ),
        step("all steps", le(g.norm(moved), L_x * g.lam**j), forall=(m, j)).by_induction(
            base=at("the input's own step", m), step=at("one step more", m, j)
        ),
    )


FORM = theorem(
    "finite",
    le(dh_dx, L_x * lam ** (T - t)),
    MODEL,
    "rnn",
    jacobian_decay_steps(
        EUCLIDEAN,
        L_x,
        (DERIVATIVE_IN_INPUT.at(L_x, before, x_now), "lipschitz input"),
        (DERIVATIVE_IN_STATE.at(lam, later, x_later), "contraction"),
    ),
).by(at("all steps", t - 1, T - t), "index", "past")
LASTING = theorem(
    "lasting",
    le(dh_dx * (1 + (T - t) * (1 - lam)), L_x),
    MODEL,
    "rnn",
    (
        step("powers on one side", le(ZERO, (1 - lam) * (1 - lam**j)), (j,)).by_induction(),
        step("Bernoulli", le(lam**j * (1 + j * (1 - lam)), 1), forall=(j,)).by_induction(
            step=at("powers on one side", j + 1)
        ),
    ),
    note="a gradient that lasts, as long memory needs it, leaves no λ < 1 as the lag grows",
).by(FORM.lemma("vanishing-gradient").at(), at("Bernoulli", T - t), "past")
IN_BOX = theorem(
    "box",
    le(dh_dx, C_box * L_x_box * BOX.lam ** (T - t)),
    (*BOX.slopes, LIPSCHITZ_INPUT_BOX, DIFFERENTIABLE, SHOWN_DERIVATIVE, INDEX, PAST_INDEX),
    "cell",
    (
        *BOX.setup_steps,
        factor_step(BOX),
        *jacobian_decay_steps(
            BOX, L_x_box, (at("lipschitz input", m),), (at("factor", 0, m + j + 1),)
        ),
    ),
    note="any cell with a comparison matrix",
).by(at("all steps", t - 1, T - t), at("output", t - 1, T - t), "index", "past")

VANISHING_GRADIENT = Claim(
    id="vanishing-gradient",
    title="Gradients in early inputs vanish",
    source=Source("Miller & Hardt, Stable Recurrent Models", "section 3"),
    forms=(FORM, LASTING, IN_BOX),
    false_variants=(
        swap(FORM, t, t - 1, "next-power", "λ^{T−t+1} in place of λ^{T−t}"),
        swap(FORM, L_x, 1, "no-input-slope", "the constant L_x of the input is missing"),
        LASTING.variant(
            "longer-by-one",
            "one step more than the lag counts",
            le(dh_dx * (1 + (T - t + 1) * (1 - lam)), L_x),
        ),
        scale(IN_BOX, BOX.lam, "box-next-power", "λ^{T−t+1} in place of λ^{T−t}, of a cell"),
        IN_BOX.variant(
            "box-without-output",
            "the Euclidean norm of the output is taken for the norm of the box",
            L_x_box * BOX.lam ** (T - t),
        ),
    ),
    extremal="scalar linear system h = λh + L_x x: equality for every t ≤ T and every input",
    example_factor=1.25,
)
