"""How the states and their derivatives change with the weights: Lemma 3, step by step.

Two runs on the same inputs, with weights w and w′: ‖h_t − h′_t‖ ≤ L_w g(t)‖w − w′‖, and
S_t − S′_t = A′_t (S_{t−1} − S′_{t−1}) + (A_t − A′_t) S_{t−1} + (B_t − B′_t).
"""

from sympy import Expr

from rnnbounds.theory.axioms import gradients
from rnnbounds.theory.language import at, eq, le
from rnnbounds.theory.language.terms.networks import d_loss, sensitivity
from rnnbounds.theory.language.terms.variables import j, w_other, x, y, z
from rnnbounds.theory.language.terms.vectors import RECURSION, RUN, norm, phi, state
from rnnbounds.theory.models.geometry import Geometry
from rnnbounds.theory.models.weights.other_weights import (
    A,
    A_mixed,
    A_other,
    B,
    B_mixed,
    B_other,
    OtherWeights,
    S,
    S_other,
    distance,
    h,
    h_other,
    x_next,
)
from rnnbounds.theory.proof import Step, step


def lemma_factors(g: Geometry, steps: Expr, last: Expr) -> tuple[Expr, Expr]:
    """Σ λ^{t−1−i} g(i)² and Σ λ^{t−1−i} g(i) over i < t, for t = `steps` and last = λ^{t−1}."""
    bent = (g.geometric_sum(steps) * (1 + last) - 2 * steps * last) / (1 - g.lam) ** 2
    return bent, (g.geometric_sum(steps) - steps * last) / (1 - g.lam)


def change(o: OtherWeights, steps: Expr, last: Expr) -> Expr:
    """d_t with ‖S_t − S′_t‖ ≤ d_t ‖w − w′‖ for t = `steps`, and last = λ^{t−1}.

    d_t = λ d_{t−1} + (β_hh L_w g + β_hw + β_wh) L_w g + β_ww with g = g(t − 1), and d_0 = 0.
    """
    g = o.g
    bent, mixed = lemma_factors(g, steps, last)
    linear_part = (o.beta_hw + g.beta_wh) * g.L_w * mixed
    return g.beta_hh * g.L_w**2 * bent + linear_part + o.beta_ww * g.geometric_sum(steps)


def gradient_smoothness(o: OtherWeights, steps: Expr) -> Expr:
    """The Lipschitz constant β_T of ∇p_T in the weights, for T ≥ 1."""
    g = o.g
    last = g.lam ** (steps - 1)
    return g.beta_p * (g.L_w * g.geometric_sum(steps)) ** 2 + g.L_p * change(o, steps, last)


h_next, h_next_other = state(x, 0, j + 1), state(x, 0, j + 1, w_other)
S_next, S_next_other = sensitivity(x, 0, j + 1), sensitivity(x, 0, j + 1, w_other)


def state_change_steps(o: OtherWeights) -> tuple[Step, ...]:
    """Steps: ‖h_t − h′_t‖ ≤ L_w g(t)‖w − w′‖."""
    g, state_gap = o.g, o.state_gap
    return (
        step(
            "states, one step",
            le(g.norm(h_next - h_next_other), g.lam * state_gap + g.L_w * distance),
            forall=(j,),
        ).by(
            RECURSION.at(x, 0, j),
            RUN.at(w_other, x, 0, j),
            g.triangle.at(
                phi(h, x_next) - phi(h, x_next, w_other),
                phi(h, x_next, w_other) - phi(h_other, x_next, w_other),
            ),
            *o.contraction_of_runs,
            at("lipschitz between weights", j),
        ),
        step(
            "states", le(state_gap, g.L_w * g.geometric_sum(j) * distance), forall=(j,)
        ).by_induction(
            base=(RECURSION.at(x, 0, j), RUN.at(w_other, x, 0, j)),
            step=(at("states, one step", j), "contractive"),
        ),
    )


def jacobian_change_steps(o: OtherWeights) -> tuple[Step, ...]:
    """Steps: ‖S_t − S′_t‖ ≤ d_t‖w − w′‖."""
    g, state_gap = o.g, o.state_gap
    added = (g.beta_hh * state_gap + o.beta_hw * distance) * g.norm(S)
    added += g.beta_wh * state_gap + o.beta_ww * distance
    sensitivity_bound = g.L_w * g.geometric_sum(j)
    change_bound = (
        g.beta_hh * sensitivity_bound + o.beta_hw + g.beta_wh
    ) * sensitivity_bound + o.beta_ww
    return (
        step(
            "jacobians",
            le(g.norm(A - A_other), g.beta_hh * state_gap + o.beta_hw * distance),
            forall=(j,),
        ).by(g.triangle.at(A - A_mixed, A_mixed - A_other), at("smooth", j)),
        step(
            "weights' derivatives",
            le(g.norm(B - B_other), g.beta_wh * state_gap + o.beta_ww * distance),
            forall=(j,),
        ).by(g.triangle.at(B - B_mixed, B_mixed - B_other), at("smooth", j)),
        step("factor, other weights", le(g.norm(A_other), g.lam), forall=(j,)).by(
            *o.derivative_bound
        ),
        step(
            "change, one step",
            le(g.norm(S_next - S_next_other), g.lam * g.norm(S - S_other) + added),
            forall=(j,),
        ).by(
            gradients.CHAIN_RULE_WEIGHTS.at(x, 0, j),
            gradients.CHAIN_RULE_OTHER.at(x, 0, j),
            at("differentiable", 0, j),
            at("differentiable, other weights", 0, j),
            g.triangle.at(A_other * (S - S_other), (A - A_other) * S + (B - B_other)),
            g.triangle.at((A - A_other) * S, B - B_other),
            g.submultiplicative.at(A_other, S - S_other),
            g.submultiplicative.at(A - A_other, S),
            at("jacobians", j),
            at("weights' derivatives", j),
            at("factor, other weights", j),
        ),
        step(
            "change, bounded",
            le(
                g.norm(S_next - S_next_other), g.lam * g.norm(S - S_other) + change_bound * distance
            ),
            forall=(j,),
        ).by(at("change, one step", j), at("states", j), at("sensitivity", 0, j), "contractive"),
        step(
            "adding",
            le(g.norm(S_next - S_next_other), z * distance),
            forall=(y, z, j),
            given=(le(g.norm(S - S_other), y * distance), eq(z, g.lam * y + change_bound)),
        ).by(at("change, bounded", j), "contractive"),
        step(
            "change",
            le(g.norm(S_next - S_next_other), change(o, j + 1, g.lam**j) * distance),
            forall=(j,),
        ).by_induction(
            base=(
                at("change, bounded", 0),
                gradients.WEIGHTS_START.at(x, 0),
                gradients.WEIGHTS_START_OTHER.at(x, 0),
                "contractive",
            ),
            step=(
                at("adding", change(o, j + 1, g.lam**j), change(o, j + 2, g.lam ** (j + 1)), j + 1),
                "contractive",
            ),
        ),
    )


def loss_change_steps(o: OtherWeights) -> tuple[Step, ...]:
    """Steps: ‖∇p_T(w) − ∇p_T(w′)‖ ≤ β_T‖w − w′‖."""
    g = o.g
    loss_change = d_loss(h_next) - d_loss(h_next_other)
    gradient_change = norm(d_loss(h_next) * S_next - d_loss(h_next_other) * S_next_other)
    return (
        step(
            "gradients",
            le(
                gradient_change,
                g.beta_p * g.norm(h_next - h_next_other) * g.norm(S_next)
                + g.L_p * g.norm(S_next - S_next_other),
            ),
            forall=(j,),
        ).by(
            g.triangle.at(loss_change * S_next, d_loss(h_next_other) * (S_next - S_next_other)),
            g.submultiplicative.at(loss_change, S_next),
            g.submultiplicative.at(d_loss(h_next_other), S_next - S_next_other),
            at("lipschitz loss", j + 1),
            at("smooth loss", j + 1),
            *o.gradient_norm_uses,
        ),
        step(
            "curvature",
            le(
                g.norm(h_next - h_next_other) * g.norm(S_next),
                (g.L_w * g.geometric_sum(j + 1)) ** 2 * distance,
            ),
            forall=(j,),
        ).by(at("states", j + 1), at("sensitivity", 0, j + 1), "contractive"),
        step(
            "together",
            le(gradient_change, (g.beta_p * y + g.L_p * z) * distance),
            forall=(y, z, j),
            given=(
                le(g.norm(h_next - h_next_other) * g.norm(S_next), y * distance),
                le(g.norm(S_next - S_next_other), z * distance),
            ),
        ).by(at("gradients", j)),
        step(
            "gradients bounded",
            le(gradient_change, gradient_smoothness(o, j + 1) * distance),
            forall=(j,),
        ).by(
            at("together", (g.L_w * g.geometric_sum(j + 1)) ** 2, change(o, j + 1, g.lam**j), j),
            at("curvature", j),
            at("change", j),
            "contractive",
        ),
    )
