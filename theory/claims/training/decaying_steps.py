"""Steps of gradient descent must decay: constant ones drive two descents apart exponentially.

On p(w) = −β‖w‖²/2 each step of size α multiplies the difference of two descents by 1 + αβ: N
constant steps multiply it by (1 + αβ)^N, but N steps of sizes α/t by Π (1 + αβ/t) ≤ N^{αβ} e^{αβ}.
"""

from sympy import Expr, Rational, exp, log

from rnnbounds.theory.axioms.base import HOMOGENEITY
from rnnbounds.theory.language import Use, assume, at, define, enter, eq, le, symbols
from rnnbounds.theory.language.functions import REAL_POWER, RealPower, StepProduct
from rnnbounds.theory.language.quantities.norms import EUCLIDEAN
from rnnbounds.theory.language.quantity import tag
from rnnbounds.theory.language.terms.gradients import loss_gradient, step_size
from rnnbounds.theory.language.terms.variables import j, v, w, w_other
from rnnbounds.theory.language.terms.vectors import function, norm
from rnnbounds.theory.models.lemmas.growth import POWERS, PRODUCT, PRODUCT_BY_ZETA
from rnnbounds.theory.models.weights.training import (
    CONSTANT_SIZE,
    CONSTANT_STEPS,
    INVERSE_STEPS,
    SOME_STEPS,
    STEP,
    STEP_SIZE,
)
from rnnbounds.theory.proof import Claim, Source, Step, step, swap, theorem
from rnnbounds.theory.proof.methods import Elementary

N, alpha, beta = symbols("N alpha beta")
c = alpha * beta

descended = function("descended", module=__name__, defined=True)  # the point after j steps from v
DESCENDED = define(
    "gradient descent",
    (v, j),
    eq(descended(v, 0), v),
    eq(descended(v, j + 1), descended(v, j) - step_size(j) * loss_gradient(descended(v, j))),
)
here, there = descended(w, j), descended(w_other, j)
drift, start = enter(
    *tag(
        "saddle",
        EUCLIDEAN.of(
            "descent_drift", "two descents from two starts, after N steps", "w_{N+1}-w'_{N+1}",
            descended(w, N) - descended(w_other, N),
        ),
        EUCLIDEAN.of("descent_start", "the starts of two descents", "w_1-w'_1", w - w_other),
    )
)  # fmt: skip
LOSS = assume("loss", "the loss is p(w) = −β‖w‖²/2: ∇p(w) = −βw", forall=(w,)).that(
    eq(loss_gradient(w), -beta * w)
)

MODEL = (LOSS, STEP)
apart, apart_next = (norm(descended(w, j + more) - descended(w_other, j + more)) for more in (0, 1))


def drifting(sizes: Step) -> tuple[Step, Step]:
    """Each step multiplies the difference of both descents by 1 + α_t β, for positive sizes."""
    return sizes, step(
        "one step", eq(apart_next, (1 + step_size(j) * beta) * apart), forall=(j,)
    ).by(
        DESCENDED.at(w, j),
        DESCENDED.at(w_other, j),
        at("loss", here),
        at("loss", there),
        HOMOGENEITY.at(1 + step_size(j) * beta, here - there),
        at("step sizes are positive", j),
    )


def after(factor: Expr, *uses: Use, base: tuple[Use, ...] = ()) -> Step:
    """The difference after j steps is the factor times that of the starts."""
    starts = DESCENDED.at(w, 0), DESCENDED.at(w_other, 0)
    return step("all steps", eq(apart, factor * norm(w - w_other)), forall=(j,)).by_induction(
        base=(*starts, *base), step=(at("one step", j), *uses)
    )


CONSTANT = theorem(
    "constant",
    eq(drift, (1 + c) ** N * start),
    (*MODEL, CONSTANT_STEPS),
    "saddle",
    (*drifting(CONSTANT_SIZE), after((1 + c) ** j, at("constant steps", j))),
    note="constant steps: exponential in their number",
).by(at("all steps", N))
DECAYING = theorem(
    "decaying",
    eq(drift, StepProduct(N, c) * start),
    (*MODEL, INVERSE_STEPS),
    "saddle",
    (
        *PRODUCT,
        *drifting(STEP_SIZE),
        after(
            StepProduct(j, c),
            at("next factor", j, c),
            at("inverse steps", j),
            "step",
            base=(at("empty product", c), "step"),
        ),
    ),
    note="steps α/t: the Γ quotient is the product of all 1 + αβ/t",
).by(at("all steps", N))
POLYNOMIAL = theorem(
    "polynomial",
    le(drift, RealPower(N, c) * exp(c) * start),
    (*MODEL, INVERSE_STEPS, SOME_STEPS),
    "saddle",
    (
        *POWERS,
        *PRODUCT,
        PRODUCT_BY_ZETA,
        Step("the first steps", le(1 + c, exp(c)), Elementary()),
    ),
    note="steps α/t: polynomial in their number, since Σ 1/t ≤ 1 + ln N",
).by(
    DECAYING.lemma("decaying-steps, decaying").at(),
    at("product by a power", c, N - 1),
    REAL_POWER.at(N, c),
    "the first steps",
    "some steps",
    "step",
)

DECAYING_STEPS = Claim(
    id="decaying-steps",
    title="Steps of gradient descent must decay",
    source=Source(
        "Miller & Hardt, Stable Recurrent Models", "section 4: why Proposition 4 has steps α/t"
    ),
    forms=(CONSTANT, DECAYING, POLYNOMIAL),
    false_variants=(
        POLYNOMIAL.variant(
            "constant-as-good",
            "constant steps drift apart no faster than decaying ones",
            assumptions=(*MODEL, CONSTANT_STEPS, SOME_STEPS),
        ),
        POLYNOMIAL.variant(
            "no-first-steps", "N^{αβ} alone, without e^{αβ}", RealPower(N, c) * start
        ),
        swap(POLYNOMIAL, c, beta, "exponent-without-step", "the exponent β in place of αβ"),
        CONSTANT.variant("adding-up", "the steps add up: 1 + Nαβ", eq(drift, (1 + N * c) * start)),
        DECAYING.variant(
            "harmonic",
            "the steps add up, to 1 + αβ(1 + ln N)",
            le(drift, (1 + c * (1 + log(N))) * start),
            SOME_STEPS,
        ),
        CONSTANT.variant(
            "one-step-short",
            "the power of one step less",
            le(drift, (1 + c) ** (N - 1) * start),
            SOME_STEPS,
        ),
        DECAYING.variant(
            "a-thousandth-less",
            "the worst case is never reached: 0.999 of it is enough",
            le(drift, Rational(999, 1000) * StepProduct(N, c) * start),
        ),
    ),
    extremal="any two starts: equality for every N, with constant and with decaying steps",
)
