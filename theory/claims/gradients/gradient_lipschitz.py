"""The gradient is Lipschitz in the weights (Miller & Hardt, Lemma 3)."""

from sympy import Expr

from rnnbounds.theory.language import Statement, Use, at, le, symbols
from rnnbounds.theory.language.terms.variables import y, z
from rnnbounds.theory.models.lemmas.powers import power_at_most_one, power_nonnegative
from rnnbounds.theory.models.sensitivity import sensitivity_steps
from rnnbounds.theory.models.weights import weights_change
from rnnbounds.theory.models.weights.other_weights import ANYWHERE, ON_OMEGA, OtherWeights
from rnnbounds.theory.proof import Claim, Form, Proof, Source, Step, scale, step

T, lam, L_w, L_p, beta_p = symbols("T lam L_w L_p beta_p")
beta_wh, grad_gap_weights, weight_distance = symbols("beta_wh grad_gap_weights weight_distance")


def finite_bound(o: OtherWeights) -> Statement:
    """Lemma 3 at length T: ‖∇p_T(w) − ∇p_T(w′)‖ ≤ β_T ‖w − w′‖, β_T the gradient's smoothness."""
    return le(grad_gap_weights, weights_change.gradient_smoothness(o, T) * weight_distance)


def finite_bound_steps(o: OtherWeights, name: str) -> tuple[Step, ...]:
    """The ledger of it, the last step under that name."""
    return (
        *o.setup_steps,
        *sensitivity_steps(o.g),
        *weights_change.state_change_steps(o),
        *weights_change.jacobian_change_steps(o),
        *weights_change.loss_change_steps(o),
        step(name, finite_bound(o)).by(at("gradients bounded", T - 1), "some input", "contractive"),
    )


def change_limit(o: OtherWeights) -> Expr:
    """Upper bound on d_t, for every t."""
    g = o.g
    return (
        g.beta_hh * g.L_w**2 / (1 - g.lam) ** 3
        + (o.beta_hw + g.beta_wh) * g.L_w / (1 - g.lam) ** 2
        + o.beta_ww / (1 - g.lam)
    )


def curvature_limit(o: OtherWeights) -> Expr:
    """Upper bound on (L_w g(T))², for every T."""
    return o.g.L_w**2 / (1 - o.g.lam) ** 2


def uniform_bound(o: OtherWeights) -> Expr:
    """The Lipschitz constant β of the gradient, for every length T."""
    return o.g.beta_p * curvature_limit(o) + o.g.L_p * change_limit(o)


def uniform_bound_steps(o: OtherWeights, of_length: Use) -> tuple[Step, ...]:
    """From the bound for one length to the one for all."""
    g = o.g
    last = g.lam ** (T - 1)
    bent, mixed = weights_change.lemma_factors(g, T, last)
    return (
        power_nonnegative(g.lam),
        power_at_most_one(g.lam),
        step(
            "curvature, every length", le((g.L_w * g.geometric_sum(T)) ** 2, curvature_limit(o))
        ).by(at("power not negative", T), at("power at most one", T), "contractive"),
        step("mixed", le(mixed, 1 / (1 - g.lam) ** 2)).by(
            at("power not negative", T - 1), "some input", "contractive"
        ),
        step("bent", le(bent, 1 / (1 - g.lam) ** 3)).by(
            at("power not negative", T - 1), "some input", "contractive"
        ),
        step(
            "change, every length",
            le(weights_change.change(o, T, g.lam ** (T - 1)), change_limit(o)),
        ).by("mixed", "bent", "contractive"),
        step(
            "smoothness, every length",
            le(weights_change.gradient_smoothness(o, T), uniform_bound(o)),
        ).by("curvature, every length", "change, every length", "contractive"),
        step(
            "larger constants",
            le(grad_gap_weights, z * weight_distance),
            forall=(y, z),
            given=(le(grad_gap_weights, y * weight_distance), le(y, z)),
        ).by(),
        step("every length", le(grad_gap_weights, uniform_bound(o) * weight_distance)).by(
            at("larger constants", weights_change.gradient_smoothness(o, T), uniform_bound(o)),
            of_length,
            "smoothness, every length",
            "contractive",
        ),
        step("claim", le(grad_gap_weights, uniform_bound(o) * weight_distance)).by(
            "every length", "contractive"
        ),
    )


MODEL = ANYWHERE.model
FINITE = Form(
    "finite", finite_bound(ANYWHERE), MODEL, "smooth", Proof(finite_bound_steps(ANYWHERE, "claim"))
)
LEMMA = FINITE.lemma("gradient-lipschitz").at()
beta = uniform_bound(ANYWHERE)
UNIFORM = Form(
    "uniform",
    le(grad_gap_weights, beta * weight_distance),
    MODEL,
    "smooth",
    Proof(uniform_bound_steps(ANYWHERE, LEMMA)),
    note="for every length T",
)
IN_BOX = Form(
    "box",
    le(grad_gap_weights, uniform_bound(ON_OMEGA) * weight_distance),
    ON_OMEGA.model,
    "cell",
    Proof(
        (*finite_bound_steps(ON_OMEGA, "one length"), *uniform_bound_steps(ON_OMEGA, "one length"))
    ),
    note="any cell with a comparison matrix that is smooth, for every length T",
)
_box = ON_OMEGA.g

GRADIENT_LIPSCHITZ = Claim(
    id="gradient-lipschitz",
    title="The gradient is Lipschitz in the weights",
    source=Source("Miller & Hardt, Stable Recurrent Models", "Lemma 3"),
    forms=(UNIFORM, FINITE, IN_BOX),
    false_variants=(
        UNIFORM.variant(
            "one-mixed-term",
            "the change of ∂φ/∂w with the state is forgotten: only one of the two mixed terms",
            (beta - L_p * beta_wh * L_w / (1 - lam) ** 2) * weight_distance,
        ),
        UNIFORM.variant(
            "curvature-once",
            "β_p L_w²/(1 − λ): the loss's curvature with one horizon in place of two",
            (beta_p * L_w**2 / (1 - lam) + L_p * change_limit(ANYWHERE)) * weight_distance,
        ),
        scale(
            FINITE, lam, "one-factor-more", "λ times the constant, as if the last step only forgot"
        ),
        IN_BOX.variant(
            "box-loss-alone",
            "the derivatives of a cell are taken not to change: only the loss is curved",
            _box.beta_p * curvature_limit(ON_OMEGA) * weight_distance,
        ),
        IN_BOX.variant(
            "box-state-alone",
            "the derivatives of a cell change with its state alone, not with its weights",
            (
                _box.beta_p * curvature_limit(ON_OMEGA)
                + _box.L_p * _box.beta_hh * _box.L_w**2 / (1 - _box.lam) ** 3
            )
            * weight_distance,
        ),
    ),
    example_factor=0.75,
    extremal=(
        "scalar linear system h = ah + x with the one weight a = λ, linear loss, constant input "
        "and w′ → w: equality in the limit T → ∞"
    ),
)
