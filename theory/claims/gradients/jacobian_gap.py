"""The Jacobians of a truncated run drift from the full run's: Lemma 2, term by term.

D_t = S_t − Ŝ_t obeys D_t = A_t D_{t-1} + (A_t − Â_t) Ŝ_{t-1} + (B_t − B̂_t), where hats are of the
fresh run.
"""

from sympy import Add, Expr

from rnnbounds.theory.axioms.gradients import CHAIN_RULE_WEIGHTS, WEIGHTS_START
from rnnbounds.theory.language import Assumption, at, le, symbols
from rnnbounds.theory.language.quantities.models import run_gradient
from rnnbounds.theory.language.terms.networks import d_loss, sensitivity
from rnnbounds.theory.language.terms.variables import j, s, x
from rnnbounds.theory.language.terms.vectors import norm, state
from rnnbounds.theory.models import geometry
from rnnbounds.theory.models.box.geometry import BOX
from rnnbounds.theory.models.lemmas.powers import power_at_most_one, power_nonnegative
from rnnbounds.theory.models.sensitivity import forgetting_steps, sensitivity_steps, start_steps
from rnnbounds.theory.models.system import DIFFERENTIABLE, SOME_WINDOW, WINDOW
from rnnbounds.theory.proof import Form, Step, step, theorem

T, k, grad_gap = symbols("T k grad_gap")


def drift(g: geometry.Geometry, steps: Expr) -> Expr:
    """Bound the part of ‖S − Ŝ‖ that is due to differing Jacobians, divided by λ^{steps−1}‖h_s‖."""
    curvature = g.beta_hh * g.L_w / (1 - g.lam)
    return steps * g.beta_wh + curvature * (steps - g.geometric_sum(steps))


def gap_terms(
    g: geometry.Geometry, time: Expr, steps: Expr, at_start: Expr
) -> tuple[Expr, Expr, Expr]:
    """Forgotten sensitivity, curvature of the loss, drift of the Jacobians."""
    return (
        g.lam**steps * g.L_p * g.L_w * g.geometric_sum(time),
        g.lam**steps * g.beta_p * g.L_w * at_start * g.geometric_sum(steps),
        g.lam ** (steps - 1) * g.L_p * at_start * drift(g, steps),
    )


def gap_bound(g: geometry.Geometry, time: Expr, steps: Expr, at_start: Expr) -> Expr:
    """Their sum, which bounds the gap after so many steps of a run that has lost its past."""
    return Add(*gap_terms(g, time, steps, at_start))


def sensitivity_gap_steps(g: geometry.Geometry) -> tuple[Step, ...]:
    """Steps: bound on ‖S_t − Ŝ_t‖, for one step and for all."""
    bent_terms, changed_terms = (
        (geometry.A_full - geometry.A_fresh) * geometry.S_fresh,
        geometry.B_full - geometry.B_fresh,
    )
    gap, gap_next = (
        g.norm(sensitivity(x, 0, s + steps) - sensitivity(x, s, steps)) for steps in (j, j + 1)
    )
    state_gap, at_start = g.norm(geometry.full - geometry.fresh), g.norm(geometry.start)
    added = g.beta_hh * g.norm(geometry.S_fresh) + g.beta_wh
    return (
        step("drift, one step", le(gap_next, g.lam * gap + state_gap * added), forall=(s, j)).by(
            CHAIN_RULE_WEIGHTS.at(x, 0, s + j),
            CHAIN_RULE_WEIGHTS.at(x, s, j),
            at("differentiable", 0, s + j),
            at("differentiable", s, j),
            g.triangle.at(
                geometry.A_full * (geometry.S_full - geometry.S_fresh), bent_terms + changed_terms
            ),
            g.triangle.at(bent_terms, changed_terms),
            g.submultiplicative.at(geometry.A_full, geometry.S_full - geometry.S_fresh),
            g.submultiplicative.at(geometry.A_full - geometry.A_fresh, geometry.S_fresh),
            at("factor", 0, s + j),
            at("smooth", s, j),
        ),
        step(
            "drift, bounded",
            le(gap_next, g.lam * gap + g.lam**j * at_start * (drift(g, j + 1) - drift(g, j))),
            forall=(s, j),
        ).by(
            at("drift, one step", s, j),
            at("forgetting", s, j),
            at("sensitivity", s, j),
            "contractive",
        ),
        step(
            "drift",
            le(
                g.norm(sensitivity(x, 0, s + j + 1) - sensitivity(x, s, j + 1)),
                g.lam ** (j + 1) * g.norm(geometry.S_start) + g.lam**j * at_start * drift(g, j + 1),
            ),
            forall=(s, j),
        ).by_induction(
            base=(at("drift, bounded", s, 0), WEIGHTS_START.at(x, s), "contractive"),
            step=(at("drift, bounded", s, j + 1), "contractive"),
        ),
    )


def sum_at_most_steps(g: geometry.Geometry) -> Step:
    """Step: g(j) ≤ j."""
    return step("total", le(g.geometric_sum(j), j), forall=(j,)).by_induction(step="contractive")


def _steps(g: geometry.Geometry) -> tuple[Step, ...]:
    """All steps up to the bound for runs of j + 1 steps from time s."""
    h, h_fresh = state(x, 0, s + j + 1), state(x, s, j + 1)
    S, S_hat = sensitivity(x, 0, s + j + 1), sensitivity(x, s, j + 1)
    loss_gap = norm(run_gradient(0, s + j + 1) - run_gradient(s, j + 1))
    loss_change = d_loss(h) - d_loss(h_fresh)
    return (
        *g.setup_steps,
        *start_steps(g),
        *forgetting_steps(g),
        *sensitivity_steps(g),
        *sensitivity_gap_steps(g),
        power_nonnegative(g.lam),
        power_at_most_one(g.lam),
        sum_at_most_steps(g),
        step(
            "gradients",
            le(
                loss_gap, g.L_p * g.norm(S - S_hat) + g.beta_p * g.norm(h - h_fresh) * g.norm(S_hat)
            ),
            forall=(s, j),
        ).by(
            g.triangle.at(d_loss(h) * (S - S_hat), loss_change * S_hat),
            g.submultiplicative.at(d_loss(h), S - S_hat),
            g.submultiplicative.at(loss_change, S_hat),
            at("lipschitz loss", s + j + 1),
            at("smooth loss", s, j + 1),
            *g.gradient_norm_uses(h, h_fresh, (0, s + j + 1), (s, j + 1)),
        ),
        step(
            "gradients at the start",
            le(loss_gap, gap_bound(g, s, j + 1, g.norm(geometry.start))),
            forall=(s, j),
        ).by(
            at("gradients", s, j),
            at("drift", s, j),
            at("forgetting", s, j + 1),
            at("sensitivity", 0, s),
            at("sensitivity", s, j + 1),
            at("power not negative", j + 1),
            "contractive",
        ),
        step(
            "gradients bounded",
            le(loss_gap, gap_bound(g, s, j + 1, g.start_bound(s))),
            forall=(s, j),
        ).by(
            at("gradients at the start", s, j),
            at("start", s),
            at("total", j + 1),
            at("power not negative", j),
            at("power at most one", j + 1),
            "contractive",
        ),
    )


def gradient_assumptions(g: geometry.Geometry) -> tuple[Assumption, ...]:
    """Assumptions of Lemma 2 on a model, in the norm of `g`."""
    return (
        *dict.fromkeys((*g.contraction_assumptions, *g.slopes)),
        g.contractive,
        g.drive,
        g.states,
        g.weights,
        DIFFERENTIABLE,
        g.smooth,
        g.loss,
        g.smooth_loss,
        *g.gradient_assumptions,
        WINDOW,
        SOME_WINDOW,
    )


def _gap_form(name: str, g: geometry.Geometry, note: str = "", about: str = "gradient") -> Form:
    """Form: the bound by three terms, in one norm of states."""
    bound = le(grad_gap, gap_bound(g, T - k, k, g.start_bound(T - k)))
    return theorem(name, bound, gradient_assumptions(g), about, _steps(g), note).by(
        at("gradients bounded", T - k, k - 1), "window", "some window", "contractive"
    )


FINITE = _gap_form("finite", geometry.EUCLIDEAN)
IN_BOX = _gap_form("box", BOX, "any cell with a comparison matrix that is smooth", "cell")
