"""How the states and their derivatives change with the weights: Lemma 3, step by step.

Two runs on the same inputs, with weights w and w′: ‖h_t − h′_t‖ ≤ L_w g(t)‖w − w′‖, and
S_t − S′_t = A′_t (S_{t−1} − S′_{t−1}) + (A_t − A′_t) S_{t−1} + (B_t − B′_t).
"""

from sympy import Expr

from theory.axioms import SUBMULTIPLICATIVE, TRIANGLE
from theory.gradient_axioms import (
    CHAIN_RULE_OTHER,
    CHAIN_RULE_WEIGHTS,
    DERIVATIVE_IN_STATE_OTHER,
    WEIGHTS_START,
    WEIGHTS_START_OTHER,
)
from theory.law import at
from theory.methods import Induction, Smt
from theory.methods.induction import HYPOTHESIS
from theory.other_weights import (
    A,
    A_mixed,
    A_other,
    B,
    B_mixed,
    B_other,
    S,
    S_other,
    distance,
    g,
    h,
    h_other,
    moved,
    x_next,
)
from theory.proof import Step
from theory.statement import eq, le
from theory.terms import (
    RECURSION,
    RECURSION_OTHER,
    d_loss,
    j,
    norm,
    phi,
    phi_other,
    sensitivity,
    sensitivity_other,
    state,
    state_other,
    x,
    y,
    z,
)
from theory.vocabulary import symbols

lam, L_w, L_p, beta_p = symbols("lam L_w L_p beta_p")
beta_hh, beta_hw, beta_wh, beta_ww = symbols("beta_hh beta_hw beta_wh beta_ww")


def change_factors(steps: Expr, last: Expr) -> tuple[Expr, Expr]:
    """Σ λ^{t−1−i} g(i)² and Σ λ^{t−1−i} g(i) over i < t, for t = `steps` and last = λ^{t−1}."""
    bent = (g(steps) * (1 + last) - 2 * steps * last) / (1 - lam) ** 2
    return bent, (g(steps) - steps * last) / (1 - lam)


def change(steps: Expr, last: Expr) -> Expr:
    """d_t with ‖S_t − S′_t‖ ≤ d_t ‖w − w′‖ for t = `steps`, and last = λ^{t−1}.

    d_t = λ d_{t−1} + (β_hh L_w g + β_hw + β_wh) L_w g + β_ww with g = g(t − 1), and d_0 = 0.
    """
    bent, mixed = change_factors(steps, last)
    return beta_hh * L_w**2 * bent + (beta_hw + beta_wh) * L_w * mixed + beta_ww * g(steps)


def smoothness(steps: Expr) -> Expr:
    """β_T, for T ≥ 1."""
    return beta_p * (L_w * g(steps)) ** 2 + L_p * change(steps, lam ** (steps - 1))


h_next, h_next_other = state(x, 0, j + 1), state_other(x, j + 1)
S_next, S_next_other = sensitivity(x, 0, j + 1), sensitivity_other(x, j + 1)
added = (beta_hh * moved + beta_hw * distance) * norm(S) + beta_wh * moved + beta_ww * distance
total = (beta_hh * L_w * g(j) + beta_hw + beta_wh) * L_w * g(j) + beta_ww
STATES = (
    Step(
        "states, one step",
        le(norm(h_next - h_next_other), lam * moved + L_w * distance),
        Smt(
            RECURSION.at(x, 0, j),
            RECURSION_OTHER.at(x, j),
            TRIANGLE.at(
                phi(h, x_next) - phi_other(h, x_next),
                phi_other(h, x_next) - phi_other(h_other, x_next),
            ),
            at("contraction, other weights", h, h_other, x_next),
            at("lipschitz between weights", j),
        ),
        forall=(j,),
    ),
    Step(
        "states",
        le(moved, L_w * g(j) * distance),
        Induction(
            j,
            base=Smt(RECURSION.at(x, 0, j), RECURSION_OTHER.at(x, j)),
            step=Smt(HYPOTHESIS, at("states, one step", j), "contractive"),
        ),
        forall=(j,),
    ),
)
JACOBIANS = (
    Step(
        "jacobians",
        le(norm(A - A_other), beta_hh * moved + beta_hw * distance),
        Smt(TRIANGLE.at(A - A_mixed, A_mixed - A_other), at("smooth", j)),
        forall=(j,),
    ),
    Step(
        "weights' derivatives",
        le(norm(B - B_other), beta_wh * moved + beta_ww * distance),
        Smt(TRIANGLE.at(B - B_mixed, B_mixed - B_other), at("smooth", j)),
        forall=(j,),
    ),
    Step(
        "factor, other weights",
        le(norm(A_other), lam),
        Smt(
            DERIVATIVE_IN_STATE_OTHER.at(lam, h_other, x_next),
            "contraction, other weights",
            at("differentiable, other weights", h_other, x_next),
        ),
        forall=(j,),
    ),
    Step(
        "change, one step",
        le(norm(S_next - S_next_other), lam * norm(S - S_other) + added),
        Smt(
            CHAIN_RULE_WEIGHTS.at(x, 0, j),
            CHAIN_RULE_OTHER.at(x, j),
            at("differentiable", h, x_next),
            at("differentiable, other weights", h_other, x_next),
            TRIANGLE.at(A_other * (S - S_other), (A - A_other) * S + (B - B_other)),
            TRIANGLE.at((A - A_other) * S, B - B_other),
            SUBMULTIPLICATIVE.at(A_other, S - S_other),
            SUBMULTIPLICATIVE.at(A - A_other, S),
            at("jacobians", j),
            at("weights' derivatives", j),
            at("factor, other weights", j),
        ),
        forall=(j,),
    ),
    Step(
        "change, bounded",
        le(norm(S_next - S_next_other), lam * norm(S - S_other) + total * distance),
        Smt(
            at("change, one step", j),
            at("states", j),
            at("sensitivity", 0, j),
            "contractive",
        ),
        forall=(j,),
    ),
    Step(
        "adding",
        le(norm(S_next - S_next_other), z * distance),
        Smt("given 1", "given 2", at("change, bounded", j), "contractive"),
        forall=(y, z, j),
        given=(le(norm(S - S_other), y * distance), eq(z, lam * y + total)),
    ),
    Step(
        "change",
        le(norm(S_next - S_next_other), change(j + 1, lam**j) * distance),
        Induction(
            j,
            base=Smt(
                at("change, bounded", 0),
                WEIGHTS_START.at(x, 0),
                WEIGHTS_START_OTHER.at(x),
                "contractive",
            ),
            step=Smt(
                HYPOTHESIS,
                at("adding", change(j + 1, lam**j), change(j + 2, lam ** (j + 1)), j + 1),
                "contractive",
            ),
        ),
        forall=(j,),
    ),
)
curved = d_loss(h_next) - d_loss(h_next_other)
gap = norm(d_loss(h_next) * S_next - d_loss(h_next_other) * S_next_other)
LOSSES = (
    Step(
        "gradients",
        le(
            gap,
            beta_p * norm(h_next - h_next_other) * norm(S_next) + L_p * norm(S_next - S_next_other),
        ),
        Smt(
            TRIANGLE.at(curved * S_next, d_loss(h_next_other) * (S_next - S_next_other)),
            SUBMULTIPLICATIVE.at(curved, S_next),
            SUBMULTIPLICATIVE.at(d_loss(h_next_other), S_next - S_next_other),
            at("lipschitz loss", j + 1),
            at("smooth loss", j + 1),
        ),
        forall=(j,),
    ),
    Step(
        "curvature",
        le(norm(h_next - h_next_other) * norm(S_next), (L_w * g(j + 1)) ** 2 * distance),
        Smt(
            at("states", j + 1),
            at("sensitivity", 0, j + 1),
            "contractive",
        ),
        forall=(j,),
    ),
    Step(
        "together",
        le(gap, (beta_p * y + L_p * z) * distance),
        Smt("given 1", "given 2", at("gradients", j)),
        forall=(y, z, j),
        given=(
            le(norm(h_next - h_next_other) * norm(S_next), y * distance),
            le(norm(S_next - S_next_other), z * distance),
        ),
    ),
    Step(
        "gradients bounded",
        le(gap, smoothness(j + 1) * distance),
        Smt(
            at("together", (L_w * g(j + 1)) ** 2, change(j + 1, lam**j), j),
            at("curvature", j),
            at("change", j),
            "contractive",
        ),
        forall=(j,),
    ),
)
