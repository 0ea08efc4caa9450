"""A causal feed-forward model sees exactly the last 1 + Σ (K_l − 1) d_l inputs.

Fields add: a step whose old tap lies d back sees d inputs more than the step before.  Sources: Bai,
Kolter & Koltun (temporal convolution), van den Oord et al. (gated convolution, WaveNet), Vaswani
et al. (attention, here over the last w positions).
"""

from sympy import Expr

from rnnbounds.theory.language import (
    ONE,
    ZERO,
    Assumption,
    Clause,
    Statement,
    assume,
    at,
    eq,
    le,
    lt,
    symbols,
)
from rnnbounds.theory.language.terms.causal import INPUTS, REACH, TWO_TAPS, J, apart, delay, reach
from rnnbounds.theory.language.terms.variables import j, x, x_edge, x_past, z
from rnnbounds.theory.language.terms.vectors import entry, norm
from rnnbounds.theory.models.system import SOME_WINDOW
from rnnbounds.theory.proof import Form, Proof, Step, Variant, premises, step, theorem
from rnnbounds.theory.proof.methods import HYPOTHESIS

T, k, R, causal_gap, causal_edge_gap = symbols("T k R causal_gap causal_edge_gap")
R_undilated, R_widest, R_halved, R_overlap = symbols("R_undilated R_widest R_halved R_overlap")


def covers(field: Expr) -> Assumption:
    """Assumption that the window is no shorter than this field."""
    return Assumption("wide window", f"the window covers the field: k ≥ {field}", le(field, k))


def exact_field(field: Expr) -> Assumption:
    """Assumption that the window is exactly this field."""
    return Assumption("exact window", f"the window is the field: k = {field}", eq(k, field))


def unchanged_clause(other: Expr, *when: Statement) -> Clause:
    """The two input sequences have the same input at all such times z."""
    return Clause(eq(norm(entry(x, z) - entry(other, z)), ZERO), when)


LOCAL = Assumption(
    "two taps",
    "a step computes, at each time, a function of two values of the step before",
    law=TWO_TAPS,
)
CAUSAL = assume("causal", "no step looks ahead: its delay is not negative", forall=(j,)).that(
    le(ZERO, delay(j))
)
DELAYED = assume("delayed", "the two taps of a step differ", forall=(j,)).that(lt(ZERO, delay(j)))
FIELD = assume("field", "R is one more than all delays together").that(eq(R, ONE + reach(J)))
PAST = assume(
    "changed past",
    "x′ agrees with x at the last k times up to T, and is arbitrary before and after",
    forall=(z,),
).that(unchanged_clause(x_past, lt(T - k, z), le(z, T)))
EDGE = assume(
    "changed edge",
    "x″ differs from x at time T − k + 1, and agrees with it at all later times",
    forall=(z,),
).that(
    unchanged_clause(x_edge, lt(T - k + ONE, z)),
    Clause(lt(ZERO, norm(entry(x, z) - entry(x_edge, z))), (eq(z, T - k + ONE),)),
)
TELLS_APART = assume(
    "tells apart",
    "along the two runs each step, where its new taps agree, tells its old ones apart",
    forall=(j, z),
).that(
    Clause(
        lt(ZERO, apart(x, x_edge, j + 1, z)),
        (eq(apart(x, x_edge, j, z), ZERO), lt(ZERO, apart(x, x_edge, j, z - delay(j)))),
    )
)


def agreement_step(other: Expr, assumption_id: str, causal: str, *given: Statement) -> Step:
    """Step j computes the same at all times z that are ``given``: late enough for its reach."""
    premise_names = premises(given)
    return step(
        "later values agree", eq(apart(x, other, j, z), ZERO), forall=(j, z), given=given
    ).inductively(
        base=(
            *premise_names,
            INPUTS.at(x, z),
            INPUTS.at(other, z),
            REACH.at(0),
            at(assumption_id, z),
        ),
        step=(
            *premise_names,
            at(HYPOTHESIS, z),
            at(HYPOTHESIS, z - delay(j)),
            at("two taps", x, other, j, z),
            REACH.at(j),
            at(causal, j),
        ),
        others=(z,),
    )


UNSEEN = eq(causal_gap, ZERO)
OUTSIDE = Proof(
    (
        agreement_step(x_past, "changed past", "causal", lt(T - k + reach(j), z), le(z, T)),
        step("claim", UNSEEN).by(at("later values agree", J, T), "wide window", "field"),
    )
)


def outside_form(name: str, about: str, note: str) -> Form:
    """Of one kind of model: nothing before the last R inputs is seen, and nothing after them."""
    return Form(name, UNSEEN, (covers(R), LOCAL, CAUSAL, FIELD, PAST), about, OUTSIDE, note)


DILATED = outside_form("dilated", "tcn", "R = 1 + Σ 2(K − 1)d over the blocks of two convolutions")
GATED = outside_form("gated convolution", "gated-conv", "R = 1 + Σ (K − 1)d")
WAVENET = outside_form("wavenet", "wavenet", "R = K + Σ (K − 1)d: one convolution before the stack")
ATTENTION = outside_form("attention", "attention", "R = 1 + L(w − 1) for L layers over w positions")

SEEN_FORM = theorem(
    "oldest input",
    lt(ZERO, causal_edge_gap),
    (exact_field(R), LOCAL, DELAYED, FIELD, EDGE, TELLS_APART),
    "monotone",
    (
        agreement_step(x_edge, "changed edge", "delayed", lt(T - k + ONE + reach(j), z)),
        step(
            "the oldest is seen",
            lt(ZERO, apart(x, x_edge, j, z)),
            forall=(j, z),
            given=(eq(z, T - k + ONE + reach(j)),),
        ).inductively(
            base=(
                "given 1",
                INPUTS.at(x, z),
                INPUTS.at(x_edge, z),
                REACH.at(0),
                at("changed edge", z),
            ),
            step=(
                "given 1",
                at(HYPOTHESIS, z - delay(j)),
                at("later values agree", j, z),
                at("tells apart", j, z),
                REACH.at(j),
                at("delayed", j),
            ),
            others=(z,),
        ),
    ),
    note="the field is no shorter: the oldest of the R inputs changes the output",
).by(at("the oldest is seen", J, T), "exact window", "field")
CAUSAL_FORMS = (DILATED, GATED, WAVENET, ATTENTION, SEEN_FORM)


def shorter(form: Form, id: str, text: str, field: Expr) -> Variant:
    """False variant that states the form for a receptive field shorter than it is."""
    return form.variant(id, text, covers(field))


INSIDE = Assumption("exact window", "the input lies inside of the field: k ≤ R", le(k, R))
CAUSAL_VARIANTS = (
    DILATED.variant(
        "causal-one-shorter",
        "the oldest input of the field is not seen",
        assumptions=(covers(R - 1), SOME_WINDOW, *DILATED.assumptions[1:]),
    ),
    shorter(DILATED, "blocks-halved", "a block counts as one convolution, not as two", R_halved),
    shorter(GATED, "dilation-forgotten", "every tap counts once, however far apart", R_undilated),
    shorter(WAVENET, "widest-layer", "a stack sees as far as its widest layer", R_widest),
    shorter(ATTENTION, "one-window", "layers of attention share one window", R_widest),
    SEEN_FORM.variant(
        "no-holes",
        "every input inside of the field is seen",
        assumptions=(SOME_WINDOW, INSIDE, *SEEN_FORM.assumptions[1:]),
    ),
    SEEN_FORM.variant(
        "overlap-counted",
        "a layer sees K_l d_l inputs more, the overlap with the next counted twice",
        exact_field(R_overlap),
    ),
)
