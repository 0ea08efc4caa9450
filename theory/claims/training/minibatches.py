"""Descents on shared minibatches stay close, step by step and for every order of the samples.

Stochastic gradient descent draws the same samples for the full and for the truncated model, so that
δ_{t+1} ≤ (1 + α_t β) δ_t + α_t ε_k on each path, and Proposition 4 of Miller & Hardt holds.
"""

from sympy import Expr, Symbol, log, sqrt

from rnnbounds.theory.axioms.base import HOMOGENEITY, PROJECTION_INSIDE, TRIANGLE
from rnnbounds.theory.language import (
    ONE,
    Clause,
    Law,
    Use,
    assume,
    at,
    define,
    enter,
    eq,
    le,
    symbols,
)
from rnnbounds.theory.language.functions import REAL_POWER, RealPower, StepProduct
from rnnbounds.theory.language.quantities.norms import EUCLIDEAN
from rnnbounds.theory.language.quantity import Quantity, certified, tag
from rnnbounds.theory.language.terms.gradients import feasible, project, step_size
from rnnbounds.theory.language.terms.variables import a, b, j, v, vector, w, x, x_other
from rnnbounds.theory.language.terms.vectors import entry, function, norm
from rnnbounds.theory.models.lemmas.growth import (
    LOGARITHM_POSITIVE,
    POWER_LARGE,
    POWERS,
    PRODUCT,
    PRODUCT_BY_LOGARITHM,
)
from rnnbounds.theory.models.weights.projection import LEMMAS, PROJECTS
from rnnbounds.theory.models.weights.training import (
    CONSTANT_SIZE,
    CONSTANT_STEPS,
    CURVED,
    INVERSE_STEPS,
    SOME_STEPS,
    STEP,
    STEP_SIZE,
    gradient_step,
)
from rnnbounds.theory.proof import Claim, Source, Step, step, swap, theorem, thousandth_less

N, alpha, beta, eps_k = symbols("N alpha beta eps_k")
c, s = alpha * beta, vector("sample")
SIGNS = ("step", "curved")

# sample_gradient(w, s) = ∇p_s(w) of a sample or minibatch s, near_gradient(w, s) = ∇p_s^k(w)
sample_gradient, near_gradient = (
    function(name, module=__name__) for name in ("sample_gradient", "near_gradient")
)
# The weights after j steps from v along the samples x_1, x_2, …, on the one gradient or the other.
sampled, near_sampled = (
    function(name, module=__name__, defined=True) for name in ("sampled", "near_sampled")
)


def _descent(name: str, weights: type[Expr], gradient: type[Expr]) -> Law:
    now = weights(v, x, j)
    after = project(gradient_step(now, gradient(now, entry(x, j + 1)), step_size(j)))
    return define(name, (v, x, j), eq(weights(v, x, 0), v), eq(weights(v, x, j + 1), after))


SAMPLED = _descent("descent on samples", sampled, sample_gradient)
NEAR_SAMPLED = _descent("descent on samples of truncated losses", near_sampled, near_gradient)


def _gap(name: str, meaning: str, steps: Expr, notation: str, order: Symbol = x) -> Quantity:
    apart = sampled(w, x, steps) - near_sampled(w, order, steps)
    return EUCLIDEAN.of(name, f"weights {meaning}", notation, apart)


gap, gap_before, gap_of_orders, eps_mean = enter(
    *tag(
        "samples",
        _gap(
            "sgd_gap", "after N steps on the same samples, full and truncated model", N,
            r"w_{N+1}(x)-\hat{w}_{N+1}(x)",
        ),
        _gap(
            "sgd_gap_before", "one step earlier, on the same samples", N - 1,
            r"w_N(x)-\hat{w}_N(x)",
        ),
        _gap(
            "sgd_gap_orders", "after N steps on samples x and x'", N,
            r"w_{N+1}(x)-\hat{w}_{N+1}(x')", x_other,
        ),
        certified(
            "eps_mean", "bound on ‖∇p − ∇p^k‖ of the mean over all samples", "Euclidean",
            r"\bar{\varepsilon}_k",
        ),
    )
)  # fmt: skip

START = assume("start", "both descents start from one point w of Ω").that(eq(feasible(w), ONE))
SMOOTH = assume(
    "smooth samples", "∇p is β-Lipschitz on Ω, for every sample", forall=(a, b, s)
).that(
    Clause(
        le(norm(sample_gradient(a, s) - sample_gradient(b, s)), beta * norm(a - b)),
        (eq(feasible(a), ONE), eq(feasible(b), ONE)),
    )
)
NEAR = assume("near samples", "ε_k bounds ‖∇p − ∇p^k‖ on Ω, for every sample", forall=(a, s)).that(
    Clause(le(norm(sample_gradient(a, s) - near_gradient(a, s)), eps_k), (eq(feasible(a), ONE),))
)

here, there, size, sample = sampled(w, x, j), near_sampled(w, x, j), step_size(j), entry(x, j + 1)
full, same, other = (
    sample_gradient(here, sample),
    sample_gradient(there, sample),
    near_gradient(there, sample),
)
after, after_near = gradient_step(here, full, size), gradient_step(there, other, size)
apart, apart_next = (
    norm(sampled(w, x, j + more) - near_sampled(w, x, j + more)) for more in (0, 1)
)
FEASIBLE = tuple(
    step(f"the {name} weights are feasible", eq(feasible(point), ONE), forall=(j,)).inductively(
        base=("start", descent.at(w, x, 0)),
        step=(descent.at(w, x, j), at("projection", inside), PROJECTION_INSIDE.at(inside)),
    )
    for name, point, descent, inside in (
        ("full", here, SAMPLED, after),
        ("truncated", there, NEAR_SAMPLED, after_near),
    )
)
ONE_STEP = step(
    "one step", le(apart_next, (1 + size * beta) * apart + size * eps_k), forall=(j,)
).by(
    SAMPLED.at(w, x, j),
    NEAR_SAMPLED.at(w, x, j),
    at("non-expansive", after, after_near),
    TRIANGLE.at(here - there, -size * (full - other)),
    HOMOGENEITY.at(size, full - other),
    TRIANGLE.at(full - same, same - other),
    at("smooth samples", here, there, sample),
    at("near samples", there, sample),
    at("the full weights are feasible", j),
    at("the truncated weights are feasible", j),
    at("step sizes are positive", j),
)
MODEL = (PROJECTS, START, STEP, SMOOTH, NEAR)


def steps_of(sizes: Step) -> tuple[Step, ...]:
    """Steps that end with the recursion of the difference of both descents, for these sizes."""
    return (*LEMMAS, *FEASIBLE, sizes, ONE_STEP)


def drift(factor: Expr, *uses: Use, base: tuple[Use, ...] = ()) -> Step:
    """The difference after j steps, from the product of the factors of all steps."""
    starts = SAMPLED.at(w, x, 0), NEAR_SAMPLED.at(w, x, 0)
    return step("all steps", le(beta * apart, eps_k * (factor - 1)), forall=(j,)).by_induction(
        base=(*starts, *base), step=(at("one step", j), *uses)
    )


RECURSION = theorem(
    "recursion",
    le(gap, (1 + c / N) * gap_before + alpha / N * eps_k),
    (*MODEL, INVERSE_STEPS, SOME_STEPS),
    "samples",
    steps_of(STEP_SIZE),
    note="one step of size α/N, whatever the samples are",
).by(at("one step", N - 1), at("inverse steps", N - 1), "some steps")
BY_PRODUCT = theorem(
    "product",
    le(gap, eps_k / beta * (StepProduct(N, c) - 1)),
    (*MODEL, CURVED, INVERSE_STEPS),
    "samples",
    (
        *steps_of(STEP_SIZE),
        *PRODUCT,
        drift(
            StepProduct(j, c),
            at("next factor", j, c),
            at("inverse steps", j),
            "step",
            base=(at("empty product", c), "step"),
        ),
    ),
    note="for every order of the samples; the Γ quotient is the product of all 1 + αβ/t",
).by(at("all steps", N), "curved")
BY_LOGARITHM = theorem(
    "logarithm",
    le(gap, alpha * eps_k * RealPower(N, c) * (1 + log(N))),
    (*BY_PRODUCT.assumptions, SOME_STEPS),
    "samples",
    (*POWERS, POWER_LARGE, LOGARITHM_POSITIVE, *PRODUCT, PRODUCT_BY_LOGARITHM),
    note="polynomial in the number of steps",
).by(
    BY_PRODUCT.lemma("minibatches, product").at(),
    at("product by a logarithm", c, N - 1),
    REAL_POWER.at(N, c),
    "some steps",
    *SIGNS,
)
CONSTANT = theorem(
    "constant",
    le(gap, eps_k / beta * ((1 + c) ** N - 1)),
    (*MODEL, CURVED, CONSTANT_STEPS),
    "samples",
    (*steps_of(CONSTANT_SIZE), drift((1 + c) ** j, at("constant steps", j))),
    note="constant steps: exponential in their number",
).by(at("all steps", N), "curved")

MINIBATCHES = Claim(
    id="minibatches",
    title="Weights trained on the same minibatches stay close",
    source=Source(
        "Miller & Hardt, Stable Recurrent Models", "Proposition 4, of stochastic descent"
    ),
    forms=(BY_PRODUCT, RECURSION, BY_LOGARITHM, CONSTANT),
    false_variants=(
        BY_PRODUCT.variant(
            "own-samples",
            "each descent may take the samples in an order of its own",
            le(gap_of_orders, BY_PRODUCT.statement.rhs),
        ),
        swap(
            BY_PRODUCT,
            eps_k,
            eps_mean,
            "mean-gradient",
            "the mean gradients' gap is taken for that of each sample",
        ),
        thousandth_less(BY_PRODUCT),
        BY_PRODUCT.variant(
            "one-step-short",
            "the product of one step less",
            eps_k / beta * (StepProduct(N - 1, c) - 1),
            SOME_STEPS,
        ),
        RECURSION.variant(
            "no-growth",
            "the gaps of the samples add up, and none of them grows",
            gap_before + alpha / N * eps_k,
        ),
        BY_LOGARITHM.variant(
            "constant-as-good",
            "constant steps are as good as steps of size α/t",
            assumptions=(*MODEL, CURVED, CONSTANT_STEPS, SOME_STEPS),
        ),
        CONSTANT.variant(
            "averaged-out",
            "samples average out: the steps add up like the square root of their number",
            alpha * eps_k * sqrt(N),
        ),
    ),
    extremal=(
        "p(w) = −βw²/2 and p^k(w) = p(w) + εw for every sample, without constraint: equality in "
        "the recursion, the product and the constant steps, for every N"
    ),
)
