"""Lemmas 2 and 3 on all weights of Ω: how the two descents of a model are tied to its runs.

∇p_T(w) and ∇p_T^k(w) are the gradients of the loss of the full run and of the truncated one, whose
weights are w.  All constants are uniform on the set Ω of weights.
"""

from dataclasses import replace

from sympy import Abs, Expr

from rnnbounds.theory.axioms.base import SUBMULTIPLICATIVE
from rnnbounds.theory.axioms.entries import INNER_PRODUCT
from rnnbounds.theory.claims.gradients.gradient_gap import UNIFORM as GAP
from rnnbounds.theory.claims.gradients.gradient_gap import all_length_steps, gap_factors
from rnnbounds.theory.claims.gradients.gradient_lipschitz import IN_BOX as SMOOTH_IN_BOX
from rnnbounds.theory.claims.gradients.gradient_lipschitz import UNIFORM as SMOOTHNESS
from rnnbounds.theory.claims.gradients.gradient_lipschitz import beta as smoothness
from rnnbounds.theory.claims.gradients.gradient_lipschitz import uniform_bound
from rnnbounds.theory.claims.gradients.jacobian_gap import IN_BOX as GAP_IN_BOX
from rnnbounds.theory.claims.gradients.jacobian_gap import gradient_assumptions
from rnnbounds.theory.language import ONE, Assumption, Use, assume, at, eq, le, symbols
from rnnbounds.theory.language.terms import networks as gradients
from rnnbounds.theory.language.terms.variables import v, w, w_other, x
from rnnbounds.theory.language.terms.vectors import inner, norm, state
from rnnbounds.theory.models.box.geometry import BOX
from rnnbounds.theory.models.weights.every_weight import content, extend_assumption, extend_law
from rnnbounds.theory.models.weights.other_weights import ON_OMEGA, SOME_INPUT
from rnnbounds.theory.models.weights.training import GRADIENT_BOUND, GRADIENT_GAP, SMOOTH
from rnnbounds.theory.proof import Step, step
from rnnbounds.theory.proof.everywhere import WeightSet
from rnnbounds.theory.proof.records import Lemma

T, k, beta, eps_k = symbols("T k beta eps_k")

OMEGA = WeightSet(eq(gradients.feasible(w), ONE))


def derivative(weights: Expr, start: Expr, steps: Expr) -> Expr:
    """Of the loss of a run in its weights, by the chain rule."""
    return gradients.d_loss(state(x, start, steps, weights)) * gradients.sensitivity(
        x, start, steps, weights
    )


full, full_other, cut = derivative(w, 0, T), derivative(w_other, 0, T), derivative(w, T - k, k)
weight_gap = gradients.loss_gradient(w) - gradients.loss_gradient(w_other)
off = gradients.loss_gradient(w) - gradients.truncated_gradient(w)
GRADIENTS = assume(
    "gradients",
    "∇p_T(w) and ∇p_T^k(w) are the gradients at w of p(h_T) and of p(h_T^k): ⟨∇p, v⟩ is the "
    "derivative along v",
    forall=(w, w_other, v),
).that(
    eq(Abs(inner(weight_gap, v)), norm((full - full_other) * v)),
    eq(Abs(inner(off, v)), norm((full - cut) * v)),
)


def assumptions_on_omega(*presupposed: Assumption) -> tuple[Assumption, ...]:
    """Assumptions of the lemmas for all weights of Ω, without duplicates."""
    found: dict[object, Assumption] = {}
    for assumption in presupposed:
        if assumption.law is None:
            found.setdefault(assumption.condition, assumption)
            continue
        is_taken = assumption.id in {other.id for other in found.values()}
        id, text = assumption.id, ""
        if is_taken:
            id, text = f"{id} between weights", f"{assumption.text}, between any two weights of Ω"
        on_all_weights = extend_assumption(OMEGA, assumption, id, text)
        assert on_all_weights.law is not None
        found.setdefault(content(on_all_weights.law), on_all_weights)
    return tuple(assumption for assumption in found.values() if assumption != SOME_INPUT)


def granted_ids(lemma: Lemma, granted: tuple[Assumption, ...]) -> tuple[str, ...]:
    """Ids of the granted assumptions that state the lemma's laws for all weights."""
    omega = lemma.weight_set
    assert omega is not None
    ids_by_content = {content(each.law): each.id for each in granted if each.law is not None}
    laws = (extend_law(omega, each.law) for each in lemma.assumptions if each.law is not None)
    return tuple(dict.fromkeys(ids_by_content[content(law)] for law in laws))


_inner_product = INNER_PRODUCT.at(gradients.loss_gradient(w), gradients.truncated_gradient(w), off)
OF_DERIVATIVES = (
    step(
        "derivatives at two weights", le(norm(weight_gap), norm(full - full_other)), (w, w_other)
    ).by(
        at("gradients", w, w_other, weight_gap),
        INNER_PRODUCT.at(gradients.loss_gradient(w), gradients.loss_gradient(w_other), weight_gap),
        SUBMULTIPLICATIVE.at(full - full_other, weight_gap),
    ),
    step("derivatives of the two losses", le(norm(off), norm(full - cut)), (w,)).by(
        at("gradients", w, w, off), _inner_product, SUBMULTIPLICATIVE.at(full - cut, off)
    ),
)

LEMMA_3 = (
    "β is at least the constant of Lemma 3, β_p L_w²/(1 − λ)² + "
    "L_p (β_hh L_w²/(1 − λ)³ + (β_hw + β_wh) L_w/(1 − λ)² + β_ww/(1 − λ))"
)


def chained_form(
    gap: Lemma, smooth: Lemma, granted: tuple[Assumption, ...], *more: Use
) -> tuple[Step, Step]:
    """Both descents are as the theorem on any two losses asks; by more, where ε_k needs it."""
    assert SMOOTH.law is not None
    assert GRADIENT_GAP.law is not None
    (lipschitz,), (near,) = SMOOTH.law.clauses, GRADIENT_GAP.law.clauses
    return (
        step("smooth gradient", lipschitz.conclusion, (w, w_other), lipschitz.given).by(
            at("derivatives at two weights", w, w_other),
            smooth.at(w, w_other, T),
            *granted_ids(smooth, granted),
            "smoothness",
            "contractive",
            "window",
            "some window",
        ),
        step("gradient gap", near.conclusion, (w,), near.given).by(
            at("derivatives of the two losses", w),
            gap.at(w),
            *granted_ids(gap, granted),
            "contractive",
            *more,
        ),
    )


MODEL = (
    *assumptions_on_omega(*GAP.assumptions, *SMOOTHNESS.assumptions),
    GRADIENTS,
    GRADIENT_BOUND,
    assume("smoothness", LEMMA_3).that(le(smoothness, beta)),
)
CHAIN = (
    *OF_DERIVATIVES,
    *chained_form(
        GAP.lemma("gradient-gap, uniform", everywhere=OMEGA),
        SMOOTHNESS.lemma("gradient-lipschitz, uniform", T, everywhere=OMEGA),
        MODEL,
        at("gradient bound", k - 1),
        "some window",
    ),
)

# Cells of any kind: Lemma 2 in the constants that hold on Ω.
_g = ON_OMEGA.g
_NAMES = "lam S_0 B_h L_w beta_hh beta_wh L_p beta_p".split()
IN_CONSTANTS_OF_OMEGA = replace(
    OMEGA, constants=tuple((getattr(BOX, name), getattr(_g, name)) for name in _NAMES)
)
_still, _drifting = gap_factors(_g)
CELL_MODEL = (
    *assumptions_on_omega(*gradient_assumptions(_g), *SMOOTH_IN_BOX.assumptions),
    GRADIENTS,
    assume("gradient bound", "ε_k is at least λ^k G_0 + k λ^{k−1} D_1, the bound of Lemma 2").that(
        le(_g.lam**k * _still + k * _g.lam ** (k - 1) * _drifting, eps_k)
    ),
    assume("smoothness", LEMMA_3).that(le(uniform_bound(ON_OMEGA), beta)),
)
CELL_CHAIN = (
    *OF_DERIVATIVES,
    *all_length_steps(_g),
    *chained_form(
        GAP_IN_BOX.lemma("gradient-gap, box", everywhere=IN_CONSTANTS_OF_OMEGA),
        SMOOTH_IN_BOX.lemma("gradient-lipschitz, box", T, everywhere=OMEGA),
        CELL_MODEL,
        "forgotten term",
        "curved term",
        "drifted term",
        "gradient bound",
    ),
)
