"""A model in both directions forgets both ways: output t needs the inputs near t alone.

Of inputs x_1, …, x_{2T}, the output at t = T is compared with that of the window T − k + 1, …,
2T − k: of k inputs up to t and of T − k after it, in which all runs start from zero at both ends.
One layer gives y_t = (h_f_t, h_r_t); a second one reads both, and its own gaps add to those below.
"""

from sympy import Max

from rnnbounds.theory.language import Assumption, at, eq, le, symbols
from rnnbounds.theory.language.quantities.bidirectional import ahead_gap, back_gap, joint
from rnnbounds.theory.language.quantities.norms import T, k
from rnnbounds.theory.language.terms.bidirectional import (
    BOTH_RUNS,
    ahead_norm,
    ahead_run,
    back_norm,
    back_run,
    top_ahead_run,
    top_back_run,
)
from rnnbounds.theory.language.terms.variables import i, j, m, s, x
from rnnbounds.theory.models.both_directions import (
    AHEAD,
    AT_FUTURE,
    AT_PAST,
    BACK,
    LEFT,
    LONG_FUTURE,
    LONG_PAST,
    PRINTED_TOP,
    PRINTED_WINDOW,
    UPPER,
    UPPER_STEPS,
    fresh,
    fresh_back,
    whole,
    whole_back,
)
from rnnbounds.theory.models.system import WINDOW
from rnnbounds.theory.proof import Claim, Source, step, theorem

lam_ahead, lam_back, C_ahead, C_back, R_ahead, R_back, past, epsilon = symbols(
    "lam_ahead lam_back C_ahead C_back R_ahead R_back past_told eps_both"
)
both_gap, top_gap = symbols("both_gap top_both_gap")
FORGETTING = (
    step(
        "forward forgetting", le(ahead_norm(whole - fresh), lam_ahead**j * R_ahead), forall=(s, j)
    ).by_induction(
        base=(BOTH_RUNS.at(x, s, 0, 0), at("forward cell", s, 0)),
        step=(BOTH_RUNS.at(x, 0, 0, s + j), BOTH_RUNS.at(x, s, 0, j), at("forward cell", s, j)),
    ),
    step(
        "reverse forgetting",
        le(back_norm(whole_back - fresh_back), lam_back**j * R_back),
        forall=(m, i, j),
    ).by_induction(
        base=(BOTH_RUNS.at(x, 0, m, 0), at("reverse cell", m, i, 0)),
        step=(
            BOTH_RUNS.at(x, 0, m + i, i + j),
            BOTH_RUNS.at(x, 0, m, j),
            at("reverse cell", m, i, j),
        ),
    ),
    step("forward gap", le(ahead_gap, C_ahead * lam_ahead**k * R_ahead)).by(
        at("forward forgetting", T - k, k),
        at("forward output", ahead_run(x, 0, T) - ahead_run(x, T - k, k)),
        "window",
    ),
    step("reverse gap", le(back_gap, C_back * lam_back ** (T - k + 1) * R_back)).by(
        at("reverse forgetting", 2 * T - k, k, T - k + 1),
        at("reverse output", back_run(x, 2 * T, T + 1) - back_run(x, 2 * T - k, T - k + 1)),
        "window",
    ),
    *(
        step(name, eq(lam ** (j + m), lam**j * lam**m), forall=(j, m)).by_induction()
        for name, lam in (("forward powers", lam_ahead), ("reverse powers", lam_back))
    ),
)
ahead_bound = C_ahead * lam_ahead**k * R_ahead
back_bound = C_back * lam_back ** (T - k + 1) * R_back
ONE_LAYER = theorem(
    "one-layer",
    le(both_gap, joint(ahead_bound, back_bound)),
    (*AHEAD, *BACK, WINDOW),
    "both",
    FORGETTING,
    "of two cells, each with the constants that its certificate prints",
).by(
    "forward gap",
    "reverse gap",
    at("forward powers", k, k),
    at("reverse powers", T - k + 1, T - k + 1),
    "window",
)
WINDOW_FORM = theorem(
    "window",
    le(both_gap, epsilon),
    (*LEFT, PRINTED_WINDOW, LONG_PAST, LONG_FUTURE),
    "both",
    note="the windows that are printed of one layer",
).by(
    at("forward memory", T - k, k),
    at("reverse memory", 2 * T - k, k, T - k + 1),
    at("printed window", T - k, k),
    "long past",
    "long future",
)

top_ahead_pair = top_ahead_run(x, 0, 2 * T, T) - top_ahead_run(x, T - k, 2 * T - k, k)
top_back_pair = top_back_run(x, 0, 2 * T, T + 1) - top_back_run(x, T - k, 2 * T - k, T - k + 1)
TWO_LAYERS = theorem(
    "two-layers",
    le(top_gap, epsilon),
    (*LEFT, *UPPER, PRINTED_TOP, AT_PAST, AT_FUTURE),
    "both-stack",
    UPPER_STEPS,
    "the windows that are printed of two layers",
).by(
    at("upper forward gap", T - k, k, T - k, k),
    at("upper reverse gap", T - k, k, k - 1, T - k + 1),
    at("upper forward output", top_ahead_pair),
    at("upper reverse output", top_back_pair),
    at("printed window", T - k, k - 1),
    "printed past",
    "printed future",
)

BIDIRECTIONAL = Claim(
    id="bidirectional",
    title="A model in both directions forgets both ways",
    source=Source("Miller & Hardt, Stable Recurrent Models", "Lemma 1, of each cell"),
    forms=(ONE_LAYER, WINDOW_FORM, TWO_LAYERS),
    false_variants=(
        ONE_LAYER.variant(
            "larger-of-both", "the larger of the two bounds in place of the root of their squares",
            Max(ahead_bound, back_bound),
        ),
        ONE_LAYER.variant(
            "next-power", "both cells forget a step more than they have seen",
            joint(lam_ahead * ahead_bound, lam_back * back_bound),
        ),
        ONE_LAYER.variant(
            "past-alone", "inputs after t play no part", ahead_bound,
        ),
        ONE_LAYER.variant(
            "future-alone", "inputs before t play no part", back_bound,
        ),
        ONE_LAYER.variant(
            "sides-swapped", "the past is taken for the future",
            joint(
                C_ahead * lam_ahead ** (T - k + 1) * R_ahead, C_back * lam_back**k * R_back
            ),
        ),
        WINDOW_FORM.variant(
            "half-of-epsilon", "the printed window is good for half of its ε", epsilon / 2
        ),
        WINDOW_FORM.variant(
            "one-input-less",
            "one input of the past less is as good as the printed ones",
            Assumption("long past", "the window has the printed inputs before t less one",
                       le(past, k)),
        ),
        TWO_LAYERS.variant(
            "half-of-two-layers",
            "the printed window of two layers is good for half of its ε",
            epsilon / 2,
        ),
    ),
    extremal=(
        "scalar linear cells with constant inputs on the bound: equality of the gap of each cell, "
        "and so of the root of their squares, for every window of a long sequence"
    ),
)  # fmt: skip
