"""A feed-forward model sees no more than its last inputs: a truncated one k, a causal one R.

A causal model of layers with K_l taps d_l apart sees the last R = 1 + Σ (K_l − 1) d_l inputs, for
fields add: a step whose old tap lies d back sees d inputs more than the step before.  Sources: Bai
et al. (TCN), van den Oord et al. (WaveNet), Vaswani et al. (attention over K positions, d = 1).
"""

from rnnbounds.theory.language import ONE, ZERO, Assumption, Clause, assume, at, eq, le, lt, symbols
from rnnbounds.theory.language.terms.networks import (
    INPUTS,
    REACH,
    TWO_TAPS,
    J,
    apart,
    delay,
    delays,
)
from rnnbounds.theory.language.terms.variables import j, m, x, x_past, z
from rnnbounds.theory.language.terms.vectors import (
    FEED_FORWARD,
    RECURSION,
    entry,
    forward,
    norm,
    state,
)
from rnnbounds.theory.models.system import SOME_WINDOW, WINDOW
from rnnbounds.theory.proof import Claim, Source, step, theorem
from rnnbounds.theory.proof.methods import HYPOTHESIS

T, k, R = symbols("T k R")
forward_gap, field_gap, h_gap, causal_gap = symbols("forward_gap field_gap h_gap causal_gap")

LAYERS = step(
    "layers are steps", eq(forward(x, j, m + j), state(x, m, j)), forall=(j, m)
).by_induction(
    base=(FEED_FORWARD.at(x, 0, m), RECURSION.at(x, m, 0)),
    step=(FEED_FORWARD.at(x, j, m + j), RECURSION.at(x, m, j)),
)
FEED_FORWARD_FORM = theorem("feed-forward", eq(forward_gap, ZERO), (WINDOW,), "rnn", (LAYERS,)).by(
    at("layers are steps", k, T - k), "window"
)

PAST = assume("changed past", "x′ agrees with x at all times after T − k", forall=(j,)).that(
    eq(entry(x_past, T - k + j + 1), entry(x, T - k + j + 1))
)
SAME_LAYERS = step(
    "layers agree", eq(forward(x_past, j, T - k + j), forward(x, j, T - k + j)), forall=(j,)
).by_induction(
    base=(FEED_FORWARD.at(x, 0, T - k), FEED_FORWARD.at(x_past, 0, T - k), "window"),
    step=(
        FEED_FORWARD.at(x, j, T - k + j),
        FEED_FORWARD.at(x_past, j, T - k + j),
        at("changed past", j),
        "window",
    ),
)
FIELD_FORM = theorem(
    "field",
    eq(field_gap, ZERO),
    (WINDOW, PAST),
    "rnn",
    (SAME_LAYERS,),
    note="nothing before the last k inputs is seen",
).by(at("layers agree", k))

WIDE = Assumption("wide window", "the window covers the field: k ≥ R", le(R, k))
LOCAL = Assumption(
    "two taps",
    "a step computes, at each time, a function of two values of the step before",
    law=TWO_TAPS,
)
CAUSAL = assume("causal", "no step looks ahead: its delay is not negative", forall=(j,)).that(
    le(ZERO, delay(j))
)
FIELD = assume("field", "R is one more than all delays together").that(eq(R, ONE + delays(J)))
OUTSIDE = assume(
    "changed past",
    "x′ agrees with x at the last k times up to T, and is arbitrary before and after",
    forall=(z,),
).that(Clause(eq(norm(entry(x, z) - entry(x_past, z)), ZERO), (lt(T - k, z), le(z, T))))
LATE = ("given 1", "given 2")
AGREE = step(
    "later values agree",
    eq(apart(x, x_past, j, z), ZERO),
    forall=(j, z),
    given=(lt(T - k + delays(j), z), le(z, T)),
).inductively(
    base=(*LATE, INPUTS.at(x, z), INPUTS.at(x_past, z), REACH.at(0), at("changed past", z)),
    step=(
        *LATE,
        at(HYPOTHESIS, z),
        at(HYPOTHESIS, z - delay(j)),
        at("two taps", x, x_past, j, z),
        REACH.at(j),
        at("causal", j),
    ),
    others=(z,),
)
CAUSAL_FORM = theorem(
    "causal",
    eq(causal_gap, ZERO),
    (WIDE, LOCAL, CAUSAL, FIELD, OUTSIDE),
    "causal",
    (AGREE,),
    note="nothing before the last R inputs is seen, and nothing after them",
).by(at("later values agree", J, T), "wide window", "field")

RECEPTIVE_FIELD = Claim(
    id="receptive-field",
    title="A feed-forward model sees no more than its last k inputs",
    source=Source("Miller, When recurrent models don't need to be recurrent", "section 2"),
    forms=(FEED_FORWARD_FORM, FIELD_FORM, CAUSAL_FORM),
    false_variants=(
        FEED_FORWARD_FORM.variant(
            "no-truncation", "the network computes the recurrent model itself", eq(h_gap, ZERO)
        ),
        CAUSAL_FORM.variant(
            "causal-one-shorter",
            "the oldest input of the field is not seen",
            Assumption(WIDE.id, "k ≥ R − 1", le(R - 1, k)),
            SOME_WINDOW,
        ),
    ),
    extremal="every system: an exact equivalence",
)
