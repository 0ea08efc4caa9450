"""The gradient of a truncated model is close to that of the full one (Miller & Hardt, Lemma 2)."""

from sympy import Add, Expr

from rnnbounds.theory.claims.gradients.jacobian_gap import (
    FINITE,
    IN_BOX,
    gap_terms,
    sum_at_most_steps,
)
from rnnbounds.theory.language import assume, at, le, symbols
from rnnbounds.theory.language.terms.variables import y
from rnnbounds.theory.models.box.geometry import BOX
from rnnbounds.theory.models.geometry import EUCLIDEAN, Geometry
from rnnbounds.theory.models.lemmas.powers import power_at_most_one, power_nonnegative
from rnnbounds.theory.models.system import MEMORY
from rnnbounds.theory.proof import Claim, Source, Step, scale, step, theorem

T, k, lam, L_p, L_rho = symbols("T k lam L_p L_rho")
G_0, G_1, D_1, grad_gap = symbols("G_0 G_1 D_1 grad_gap")

MODEL = FINITE.assumptions
LEMMA = FINITE.lemma("gradient-gap").at()
FORGOTTEN, CURVED, DRIFTED = gap_terms(EUCLIDEAN, T - k, k, EUCLIDEAN.start_bound(T - k))


def gap_factors(g: Geometry) -> tuple[Expr, Expr]:
    """G_0 and D_1: for every length the gap is at most λ^k G_0 + k λ^{k−1} D_1."""
    curvature = g.beta_wh + g.L_w * g.beta_hh / (1 - g.lam)
    return g.L_w * (g.L_p + g.beta_p * g.B_h) / (1 - g.lam), g.L_p * g.B_h * curvature


def all_length_steps(g: Geometry) -> tuple[Step, ...]:
    """Steps: bounds on each of the three terms, for every length T."""
    forgotten_term, curved_term, drift_term = gap_terms(g, T - k, k, g.start_bound(T - k))
    power_k, drift = g.lam**k, gap_factors(g)[1]
    return (
        power_nonnegative(g.lam),
        power_at_most_one(g.lam),
        sum_at_most_steps(g),
        step("forgotten term", le(forgotten_term, power_k * g.L_p * g.L_w / (1 - g.lam))).by(
            at("power not negative", k), at("power not negative", T - k), "contractive", "window"
        ),
        step("curved term", le(curved_term, power_k * g.beta_p * g.L_w * g.B_h / (1 - g.lam))).by(
            at("power not negative", k), at("power at most one", k), "contractive"
        ),
        step("drifted term", le(drift_term, k * g.lam ** (k - 1) * drift)).by(
            at("power not negative", k - 1),
            at("power at most one", k),
            at("total", k),
            "contractive",
            "some window",
        ),
    )


_fixed_factor, _drift_factor = gap_factors(EUCLIDEAN)
_terms = gap_terms(EUCLIDEAN, T - k, k, EUCLIDEAN.start_bound(T - k))
SUM = lam**k * _fixed_factor + k * lam ** (k - 1) * _drift_factor
FACTORS = assume(
    "factors",
    "G_0 is at least L_w(L_p + β_p B_h)/(1 − λ), and D_1 at least L_p B_h(β_wh + L_w β_hh/(1 − λ))",
).that(*(le(least, factor) for least, factor in ((_fixed_factor, G_0), (_drift_factor, D_1))))
UNIFORM_BOUND = le(grad_gap, lam**k * G_0 + k * lam ** (k - 1) * D_1)
UNIFORM = theorem(
    "uniform",
    UNIFORM_BOUND,
    (*MODEL, FACTORS),
    "gradient",
    (
        *all_length_steps(EUCLIDEAN),
        step("all terms", le(Add(*_terms), SUM)).by(
            "forgotten term", "curved term", "drifted term", "contractive"
        ),
        # With a name for the sum z3 need not multiply it out.
        step("below", le(grad_gap, y), forall=(y,), given=(le(Add(*_terms), y),)).by(
            LEMMA, "contractive"
        ),
        step("gap", le(grad_gap, SUM)).by(at("below", SUM), "all terms", "contractive"),
    ),
    note="for every length T",
).by("gap", at("power not negative", k - 1), "factors", "contractive", "some window")

PAPER_FACTOR = assume("division", "G_1 is at least D_1/λ").that(le(D_1 / lam, G_1))
PAPER = theorem(
    "paper",
    le(grad_gap, (G_0 + G_1) * k * lam**k),
    (*UNIFORM.assumptions, MEMORY, PAPER_FACTOR),
    "gradient",
    (power_nonnegative(EUCLIDEAN.lam),),
    note="γ k λ^k with γ = G_0 + G_1, where G_1 is D_1/λ",
).by(
    UNIFORM.lemma("gradient-gap, uniform").at(),
    at("power not negative", k - 1),
    "division",
    "memory",
    "some window",
)


_at_start = EUCLIDEAN.start_bound(T - k)
# ReLU's second derivative is 0 but at the kink: what would be left of the drift without kinks
_flat_term = lam ** (k - 1) * L_p * _at_start * k * L_rho
FORGOTTEN_BOX, CURVED_BOX, DRIFTED_BOX = gap_terms(BOX, T - k, k, BOX.start_bound(T - k))

GRADIENT_GAP = Claim(
    id="gradient-gap",
    title="The truncated model's gradient is close",
    source=Source("Miller & Hardt, Stable Recurrent Models", "Lemma 2"),
    forms=(FINITE, UNIFORM, PAPER, IN_BOX),
    false_variants=(
        PAPER.variant(
            "without-division",
            "γ k λ^k with γ = G_0 + D_1, without the 1/λ",
            (G_0 + D_1) * k * lam**k,
            assumptions=UNIFORM.assumptions,
        ),
        scale(PAPER, 1 / k, "without-k", "γ λ^k without the factor k"),
        UNIFORM.variant(
            "one-horizon",
            "one factor 1/(1 − λ) less: the forgotten sensitivity is that of one step",
            (1 - lam) * lam**k * G_0 + k * lam ** (k - 1) * D_1,
        ),
        FINITE.variant(
            "without-curvature", "the loss is taken for linear: no β_p", FORGOTTEN + DRIFTED
        ),
        FINITE.variant(
            "almost-everywhere",
            "ReLU is taken for smooth, since its second derivative is 0 almost everywhere",
            FORGOTTEN + CURVED + _flat_term,
            without="smooth",
        ),
        UNIFORM.variant(
            "one-step-less",
            "k − 1 steps of drift in place of k",
            lam**k * G_0 + (k - 1) * lam ** (k - 1) * D_1,
        ),
        IN_BOX.variant(
            "box-without-drift",
            "the Jacobians of a cell are taken not to change with the state",
            FORGOTTEN_BOX + CURVED_BOX,
        ),
        IN_BOX.variant(
            "box-without-division",
            "λ^k in place of λ^{k−1} in what the Jacobians of a cell drift",
            FORGOTTEN_BOX + CURVED_BOX + BOX.lam * DRIFTED_BOX,
        ),
    ),
    extremal=(
        "scalar linear system h = ah + x with the one weight a = λ, linear loss and the constant "
        "input x = B_x: equality for every k in the limit T → ∞"
    ),
    example_factor=4.625,
)
