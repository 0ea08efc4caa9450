"""A truncated model is a feed-forward network, which sees exactly its last k inputs."""

from dataclasses import replace

from sympy import Integer

from theory.claims.memory.receptive_field_causal import CAUSAL_FORMS, CAUSAL_VARIANTS
from theory.language.claim import Claim, Form, Source
from theory.language.law import Assumption, at, law
from theory.language.statement import eq, le, ne
from theory.language.terms.vectors import (
    FEED_FORWARD,
    RECURSION,
    entry,
    forward,
    j,
    m,
    state,
    x,
    x_past,
)
from theory.language.vocabulary import symbols
from theory.models.system import CONTRACTIVE, LONG_WINDOW, SOME_WINDOW, WINDOW
from theory.proof.methods import Identity, Induction, Smt
from theory.proof.methods.induction import HYPOTHESIS
from theory.proof.proof import Proof, Step

T, k, lam, S_0 = symbols("T k lam S_0")
forward_gap, field_gap, edge_gap, padding_gap, recurrent_gap, h_gap = symbols(
    "forward_gap field_gap edge_gap padding_gap recurrent_gap h_gap"
)

LAYERS = Step(
    "layers are steps",
    eq(forward(x, j, m + j), state(x, m, j)),
    Induction(
        j,
        base=Identity(FEED_FORWARD.at(x, 0, m), RECURSION.at(x, m, 0)),
        step=Identity(HYPOTHESIS, FEED_FORWARD.at(x, j, m + j), RECURSION.at(x, m, j)),
    ),
    forall=(j, m),
)
SAME_STATE = eq(forward_gap, Integer(0))
FEED_FORWARD_FORM = Form(
    "feed-forward",
    SAME_STATE,
    (WINDOW,),
    "rnn",
    Proof(
        (LAYERS, Step("claim", SAME_STATE, Smt(at("layers are steps", k, T - k), "window"))),
    ),
)

# x' agrees with x after time T - k, and is arbitrary before.
PAST = Assumption(
    "changed past",
    "x′ agrees with x at all times after T − k",
    law=law("changed past", (j,), eq(entry(x_past, T - k + j + 1), entry(x, T - k + j + 1))),
)
SAME_LAYERS = Step(
    "layers agree",
    eq(forward(x_past, j, T - k + j), forward(x, j, T - k + j)),
    Induction(
        j,
        base=Identity(FEED_FORWARD.at(x, 0, T - k), FEED_FORWARD.at(x_past, 0, T - k), "window"),
        step=Identity(
            HYPOTHESIS,
            FEED_FORWARD.at(x, j, T - k + j),
            FEED_FORWARD.at(x_past, j, T - k + j),
            at("changed past", j),
            "window",
        ),
    ),
    forall=(j,),
)
SAME_FIELD = eq(field_gap, Integer(0))
FIELD_FORM = Form(
    "field",
    SAME_FIELD,
    (WINDOW, PAST),
    "rnn",
    Proof((SAME_LAYERS, Step("claim", SAME_FIELD, Smt(at("layers agree", k))))),
    note="nothing before the last k inputs is seen",
)
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
            (WINDOW, PAST, SOME_WINDOW),
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
            (WINDOW, PAST, SOME_WINDOW),
        ),
        FIELD_FORM.variant(
            "fading-field",
            "eight steps fade the rest of a recurrent field to one S_0/(1 − λ)",
            le(recurrent_gap, S_0 / (1 - lam)),
            (WINDOW, PAST, LONG_WINDOW, CONTRACTIVE),
        ),
        *CAUSAL_VARIANTS,
    ),
    extremal="every system: an exact equivalence",
)
