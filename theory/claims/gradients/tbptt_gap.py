"""Truncated back-propagation is close to the full gradient, and is not the truncated model's.

It runs forward over all inputs and cuts the backward pass after k steps, so that only first
derivatives count: a cell need not be smooth, and there is no factor k.
"""
# ruff: noqa: N816 - the names of the vocabulary

from sympy import Integer

from rnnbounds.theory.axioms.base import TRIANGLE
from rnnbounds.theory.axioms.gradients import CHAIN_RULE_WEIGHTS
from rnnbounds.theory.claims.gradients.jacobian_gap import FINITE as GRADIENT_GAP_FINITE
from rnnbounds.theory.claims.gradients.jacobian_gap import gap_bound
from rnnbounds.theory.language import ZERO, Assumption, at, define, eq, le, symbols
from rnnbounds.theory.language.quantities.models import run_gradient
from rnnbounds.theory.language.terms.networks import (
    d_loss,
    d_state,
    d_weights,
    recent,
    sensitivity,
)
from rnnbounds.theory.language.terms.variables import j, s, x
from rnnbounds.theory.language.terms.vectors import entry, state
from rnnbounds.theory.models.box.geometry import BOX, CUT_GRADIENT_NORM
from rnnbounds.theory.models.geometry import EUCLIDEAN, Geometry, S_full, S_start, full, x_next
from rnnbounds.theory.models.lemmas.powers import power_nonnegative
from rnnbounds.theory.models.sensitivity import sensitivity_steps
from rnnbounds.theory.models.system import DIFFERENTIABLE, WINDOW
from rnnbounds.theory.proof import (
    Claim,
    Form,
    Source,
    scale,
    step,
    swap,
    theorem,
)

T, k, lam, L_w, L_p, tbptt_gap, tb_gap = symbols("T k lam L_w L_p tbptt_gap tb_gap")

RECENT = define(
    "truncated back-propagation",
    (x, s, j),
    eq(recent(x, s, 0), ZERO),
    eq(
        recent(x, s, j + 1),
        d_state(state(x, 0, s + j), entry(x, s + j + 1)) * recent(x, s, j)
        + d_weights(state(x, 0, s + j), entry(x, s + j + 1)),
    ),
)
dropped = S_full - recent(x, s, j)
next_dropped = sensitivity(x, 0, s + j + 1) - recent(x, s, j + 1)
h_T, S_T, R_T = state(x, 0, T), sensitivity(x, 0, T), recent(x, T - k, k)


def _truncation_form(
    name: str, g: Geometry, about: str, *measured: Assumption, note: str = ""
) -> Form:
    """One norm of states; `measured` says that gradients are in the Euclidean one all the same."""
    bound = le(tbptt_gap, g.lam**k * g.L_p * g.L_w * g.geometric_sum(T - k))
    model = (*g.slopes, g.contractive, g.weights, DIFFERENTIABLE, g.loss, *measured, WINDOW)
    steps = (
        *g.setup_steps,
        *sensitivity_steps(g),
        step("one step back", le(g.norm(next_dropped), g.lam * g.norm(dropped)), forall=(s, j)).by(
            CHAIN_RULE_WEIGHTS.at(x, 0, s + j),
            RECENT.at(x, s, j),
            at("differentiable", 0, s + j),
            g.submultiplicative.at(d_state(full, x_next), dropped),
            at("factor", 0, s + j),
        ),
        step(
            "all steps back", le(g.norm(dropped), g.lam**j * g.norm(S_start)), forall=(s, j)
        ).by_induction(base=RECENT.at(x, s, j), step=at("one step back", s, j)),
        power_nonnegative(g.lam),
        step("sensitivities", le(g.norm(S_T - R_T), g.lam**k * g.L_w * g.geometric_sum(T - k))).by(
            at("all steps back", T - k, k),
            at("sensitivity", 0, T - k),
            at("power not negative", k),
            "contractive",
            "window",
        ),
    )
    return theorem(name, bound, model, about, steps, note).by(
        "sensitivities",
        g.submultiplicative.at(d_loss(h_T), S_T - R_T),
        at("lipschitz loss", T),
        *((at("gradient norm", x, T - k, k), "window") if measured else ()),
        "contractive",
    )


FINITE = _truncation_form("finite", EUCLIDEAN, "gradient")
FINITE_BOUND, MODEL = FINITE.statement, FINITE.assumptions
IN_BOX = _truncation_form(
    "box", BOX, "cell", CUT_GRADIENT_NORM, note="any cell with a comparison matrix, smooth or not"
)
LEMMA = FINITE.lemma("tbptt-gap").at()

UNIFORM = theorem(
    "uniform",
    le(tbptt_gap, lam**k * L_p * L_w / (1 - lam)),
    MODEL,
    "gradient",
    (power_nonnegative(EUCLIDEAN.lam),),
    note="for every length T",
).by(LEMMA, at("power not negative", k), at("power not negative", T - k), "contractive", "window")

AGAINST = theorem(
    "against-truncated",
    le(tb_gap, FINITE_BOUND.rhs + gap_bound(EUCLIDEAN, T - k, k, EUCLIDEAN.start_bound(T - k))),
    GRADIENT_GAP_FINITE.assumptions,
    "gradient",
    note="against the truncated model's gradient: there the cell has to be smooth",
).by(
    LEMMA,
    GRADIENT_GAP_FINITE.lemma("gradient-gap").at(),
    TRIANGLE.at(
        d_loss(h_T) * R_T - run_gradient(0, T), run_gradient(0, T) - run_gradient(T - k, k)
    ),
    "contractive",
)

TBPTT_GAP = Claim(
    id="tbptt-gap",
    title="Truncated back-propagation is close to the gradient",
    source=Source(
        "Williams & Peng, Neural Computation 2 (1990)",
        "truncated back-propagation; the bound is by Miller & Hardt's argument",
    ),
    forms=(FINITE, UNIFORM, AGAINST, IN_BOX),
    false_variants=(
        FINITE.variant(
            "next-power",
            "λ^{k+1} in place of λ^k",
            lam ** (k + 1) * L_p * L_w * EUCLIDEAN.geometric_sum(T - k),
        ),
        AGAINST.variant(
            "same-gradient",
            "truncated back-propagation is taken for the truncated model's gradient",
            eq(tb_gap, Integer(0)),
        ),
        scale(UNIFORM, 1 - lam, "no-horizon", "the factor 1/(1 − λ) is missing"),
        AGAINST.variant(
            "first-order-alone",
            "the truncated model's gradient is as close as that of truncated back-propagation",
            FINITE_BOUND.rhs,
        ),
        scale(IN_BOX, BOX.lam, "box-next-power", "λ^{k+1} in place of λ^k, of a cell"),
        swap(IN_BOX, BOX.L_p, 1, "box-without-loss", "the loss's slope L_p is missing"),
    ),
    extremal=(
        "scalar linear system h = λh + ux with the one weight u, linear loss and a constant "
        "input: equality for every k ≤ T"
    ),
    example_factor=1.5,
)
