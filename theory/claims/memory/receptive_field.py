"""A truncated model is a feed-forward network, which sees exactly its last k inputs."""

from dataclasses import replace

from sympy import Integer

from rnnbounds.theory.claims.memory.receptive_field_causal import CAUSAL_FORMS, CAUSAL_VARIANTS
from rnnbounds.theory.language import assume, at, eq, le, ne, symbols
from rnnbounds.theory.language.terms.variables import j, m, x, x_past
from rnnbounds.theory.language.terms.vectors import FEED_FORWARD, RECURSION, entry, forward, state
from rnnbounds.theory.models.system import CONTRACTIVE, LONG_WINDOW, SOME_WINDOW, WINDOW
from rnnbounds.theory.proof import Claim, Source, step, theorem
from rnnbounds.theory.proof.methods import Identity

T, k, lam, S_0 = symbols("T k lam S_0")
forward_gap, field_gap, edge_gap, padding_gap, recurrent_gap, h_gap = symbols(
    "forward_gap field_gap edge_gap padding_gap recurrent_gap h_gap"
)

LAYERS = step(
    "layers are steps", eq(forward(x, j, m + j), state(x, m, j)), forall=(j, m)
).by_induction(
    base=(FEED_FORWARD.at(x, 0, m), RECURSION.at(x, m, 0)),
    step=(FEED_FORWARD.at(x, j, m + j), RECURSION.at(x, m, j)),
    method=Identity,
)
FEED_FORWARD_FORM = theorem(
    "feed-forward", eq(forward_gap, Integer(0)), (WINDOW,), "rnn", (LAYERS,)
).by(at("layers are steps", k, T - k), "window")

# x' agrees with x after time T - k, and is arbitrary before.
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
    method=Identity,
)
FIELD_FORM = theorem(
    "field",
    eq(field_gap, Integer(0)),
    (WINDOW, PAST),
    "rnn",
    (SAME_LAYERS,),
    note="nothing before the last k inputs is seen",
).by(at("layers agree", k))
# Nothing was said of φ: the states of any cell do.
CELL_FORMS = (
    replace(FEED_FORWARD_FORM, name="feed-forward-cell", about="cell"),
    replace(FIELD_FORM, name="cell", about="cell"),
)

RECEPTIVE_FIELD = Claim(
    id="receptive-field",
    title="A feed-forward model sees exactly its last k inputs",
    source=Source("Miller, When recurrent models don't need to be recurrent", "section 2"),
    forms=(FEED_FORWARD_FORM, FIELD_FORM, *CELL_FORMS, *CAUSAL_FORMS),
    false_variants=(
        FEED_FORWARD_FORM.variant(
            "zero-padding",
            "zeroing the inputs before the window is the same as starting from zero",
            eq(padding_gap, Integer(0)),
        ),
        FEED_FORWARD_FORM.variant(
            "no-truncation",
            "the network computes the recurrent model itself",
            eq(h_gap, Integer(0)),
        ),
        FIELD_FORM.variant(
            "field-one-shorter",
            "the oldest input of the window is not seen",
            eq(edge_gap, Integer(0)),
            SOME_WINDOW,
        ),
        FIELD_FORM.variant(
            "recurrent-field",
            "the recurrent model has the same field",
            eq(recurrent_gap, Integer(0)),
        ),
        FIELD_FORM.variant(
            "every-input-seen",
            "every input inside the window is seen",
            ne(edge_gap, Integer(0)),
            SOME_WINDOW,
        ),
        FIELD_FORM.variant(
            "fading-field",
            "eight steps fade the rest of a recurrent field to one S_0/(1 − λ)",
            le(recurrent_gap, S_0 / (1 - lam)),
            LONG_WINDOW,
            CONTRACTIVE,
        ),
        *CAUSAL_VARIANTS,
    ),
    extremal="every system: an exact equivalence",
)
