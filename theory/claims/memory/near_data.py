"""Near your data: what `measure` certifies of all inputs within δ of recorded ones.

‖h_T − h_T^k‖₂ ≤ g_k and ‖s_T − ŝ_T‖_∞ ≤ w for each input sequence with |x_tj − x̄_tj| ≤ δ at every
t and runs from any states with |s_i| ≤ r, where g_k and w are what is printed; h is the output, or
what a readout makes of it. Sets of states, and of two runs on the same inputs, are stepped along
the recorded sequence by affine arithmetic, operation by operation; that all runs near stay in them
is by induction over time. What is assumed are the single operations.

Of wide balls of starts, whose sets are polynomials, and of runs from recorded pasts, whose sets are
merged, it is assumed that a step takes each set into the next one. A product of derivatives is
bounded step by step, in metrics that vary in time.
"""

from sympy import Rational, exp

from rnnbounds.theory.language import Assumption, Clause, assume, at, eq, le, lt
from rnnbounds.theory.language.terms.certificates import begun, run_slope
from rnnbounds.theory.language.terms.tubes import alone, anchor, both
from rnnbounds.theory.language.terms.variables import a, b, c, v, x
from rnnbounds.theory.language.terms.vectors import max_norm, norm, state
from rnnbounds.theory.language.vocabulary import symbols
from rnnbounds.theory.models.system import WINDOW
from rnnbounds.theory.models.tube import enclosures, lines, pairs, sets, stretching
from rnnbounds.theory.proof import Claim, Source, theorem, thousandth_less

T, k, gap = symbols("T k near_gap")
near_off, near_eps, near_k = symbols("near_off near_eps_told near_k_told")
width_told, once_told, first_told, before_told = symbols(
    "near_width_told near_width_once near_width_first near_width_before"
)
gap_told, next_told, largest_told, recorded_told, half_told = symbols(
    "near_gap_told near_gap_next near_gap_largest near_gap_recorded near_gap_half"
)
past_gap, ball_gap, stretch, exponent_told, exponent_recorded = symbols(
    "near_past_gap near_ball_gap near_stretch near_exponent_told near_exponent_recorded"
)

PRINTED_GAP = assume(
    "printed gap",
    "the printed gap bounds ‖h‖₂ of the difference of any two states of the pair after k steps",
    forall=(v, c),
).that(Clause(le(norm(v - c), gap_told), (sets.in_pair(both(T - k, k), v, c),)))
PRINTED_WIDTH = assume(
    "printed width", "the printed width bounds |s_i − ŝ_i| of all states of the line", forall=(v,)
).that(Clause(le(max_norm(v - anchor(alone(T))), width_told), (sets.in_line(alone(T), v),)))
OF_LINES, OF_PAIRS = (*lines.ASSUMED, *sets.OF_LINES), (*pairs.ASSUMED, *sets.OF_PAIRS)
GAP = theorem(
    "gap",
    le(gap, gap_told),
    (sets.STARTS, *OF_LINES, *OF_PAIRS, sets.INPUTS, WINDOW, PRINTED_GAP),
    "near",
    (*sets.STAY, *sets.TOGETHER),
    note="every k that is printed, and all inputs near",
).by(
    at("both runs stay", T - k, k),
    at("printed gap", begun(a, x, 0, T), begun(b, x, T - k, k)),
    "window",
)
WIDTH = theorem(
    "width",
    le(near_off, width_told),
    (sets.STARTS, *OF_LINES, sets.INPUTS, PRINTED_WIDTH),
    "near",
    sets.STAY,
).by(at("runs stay", a, T), "starts", at("printed width", begun(a, x, 0, T)), at("recorded run", T))
AT_K = Assumption("printed k", "k is the printed one", eq(k, near_k))
ENOUGH = assume("printed window", "the gap at the printed k is at most ε", forall=()).that(
    Clause(le(gap_told, near_eps), (eq(k, near_k),))
)
WINDOW_FORM = theorem(
    "window",
    le(gap, near_eps),
    (*GAP.assumptions, AT_K, ENOUGH),
    "near",
    note="the pairs (ε, k) that are printed",
).by(GAP.lemma("near-data, gap").at(), "printed k", "printed window")

WIDE_GAP = theorem(
    "wide gap",
    le(gap, gap_told),
    (sets.STARTS, *enclosures.OF_LINES, *enclosures.OF_PAIRS, sets.INPUTS, WINDOW, PRINTED_GAP),
    "near-wide",
    (*enclosures.STAY, *enclosures.TOGETHER),
    note="balls of starts so wide that their sets are polynomials",
).by(
    at("both runs stay", T - k, k),
    at("printed gap", begun(a, x, 0, T), begun(b, x, T - k, k)),
    "window",
)
WIDE_WIDTH = theorem(
    "wide width",
    le(near_off, width_told),
    (sets.STARTS, *enclosures.OF_LINES, sets.INPUTS, PRINTED_WIDTH),
    "near-wide",
    enclosures.STAY,
).by(at("runs stay", a, T), "starts", at("printed width", begun(a, x, 0, T)), at("recorded run", T))
EXPONENT = theorem(
    "exponent",
    le(stretch, exp(T * exponent_told)),
    (sets.STARTS, *OF_LINES, sets.INPUTS, *stretching.ASSUMED),
    "near",
    (*sets.STAY, *stretching.STRETCHED),
    note="the printed finite-time exponent of all runs near",
).by(
    at("runs stretch as stated", T - 1),
    at("last metric", run_slope(a, x, 0, T - 1)),
    "printed exponent",
    "some steps",
)

PRINTED_PAST_GAP = assume(
    "printed gap of pasts",
    "the printed gap bounds ‖h‖₂ of the difference of any two states of an enclosure after k steps",
    forall=(v, c),
).that(Clause(le(norm(v - c), gap_told), (sets.in_pair(both(0, k), v, c),)))
PAST_GAP = theorem(
    "past gap",
    le(past_gap, gap_told),
    (*enclosures.OF_PASTS, sets.INPUTS, PRINTED_PAST_GAP),
    "near-pasts",
    enclosures.BESIDE_ZERO,
    note="every k that is printed, whichever of the recorded pasts came before",
).by(
    at("past and zero stay", k),
    at("printed gap of pasts", begun(a, x, 0, k), state(x, 0, k)),
)
FROM_K = Assumption("from the printed k on", "k is at least the printed one", le(near_k, k))
ENOUGH_LATER = assume("later gaps", "from the printed k on gaps are at most ε", forall=()).that(
    Clause(le(gap_told, near_eps), (le(near_k, k),))
)
PAST_WINDOW = theorem(
    "past window",
    le(past_gap, near_eps),
    (*PAST_GAP.assumptions, FROM_K, ENOUGH_LATER),
    "near-pasts",
    note="the pairs (ε, k) that are printed, at k and at all times after it",
).by(PAST_GAP.lemma("near-data, past gap").at(), "from the printed k on", "later gaps")

FORGOTTEN = assume(
    "forgotten",
    "ε bounds ‖h‖₂ of the difference of any two states of the pair after all inputs",
    forall=(v, c),
).that(Clause(le(norm(v - c), near_eps), (sets.in_pair(both(0, T), v, c),)))
BALL = theorem(
    "ball",
    le(ball_gap, near_eps),
    (*enclosures.OF_BALL, sets.INPUTS, FORGOTTEN),
    "near-ball",
    enclosures.FROM_BALL,
    note="the largest balls of starts that are printed, of the state and of c and h apart",
).by(at("runs from the ball stay", T), at("forgotten", begun(a, x, 0, T), begun(b, x, 0, T)))

SHORTER = Assumption("shorter", "k < T", lt(k, T))
NEAR_DATA = Claim(
    id="near-data",
    title="A certificate near recorded inputs holds for every input near them",
    source=Source(
        "Lohner, Enclosing the Solutions of Ordinary Initial and Boundary Value Problems",
        "mean-value enclosures in turned coordinates; divided differences for two runs",
    ),
    forms=(GAP, WIDTH, WINDOW_FORM, WIDE_GAP, WIDE_WIDTH, EXPONENT, PAST_GAP, PAST_WINDOW, BALL),
    false_variants=(
        GAP.variant("recorded-alone", "the gap seen on the data itself", recorded_told),
        thousandth_less(GAP, text="the printed gap is never met: 0.999 of it is enough"),
        GAP.variant("one-step-too-few", "the gap at k + 1 is that at k", next_told, SHORTER),
        GAP.variant(
            "maximum-norm",
            "the largest gap of one output is taken for the Euclidean norm of all",
            largest_told,
        ),
        WIDTH.variant("radius-once", "inputs are off by δ at one step alone", once_told),
        WIDTH.variant(
            "without-remainder",
            "Jacobians on the recorded run are taken for those of all runs near it",
            first_told,
        ),
        WIDTH.variant("one-step-short", "the enclosure ends one step early", before_told),
        WINDOW_FORM.variant(
            "half-of-epsilon", "the printed k is good for half of its ε", near_eps / 2
        ),
        WIDE_GAP.variant("half-of-wide-starts", "starts are half as far apart", half_told),
        WIDE_WIDTH.variant(
            "wide-starts-of-first-order",
            "Jacobians on the recorded run are taken for those of all runs from wide starts",
            first_told,
        ),
        thousandth_less(
            EXPONENT, "exponent-a-thousandth-less", "no run stretches by more than 0.999 of it"
        ),
        EXPONENT.variant(
            "exponent-of-the-recorded-run",
            "no run near the data stretches more than the recorded one",
            exp(T * exponent_recorded),
        ),
        EXPONENT.variant(
            "exponent-without-the-last-step",
            "the last step stretches nothing",
            exp((T - 1) * exponent_told),
        ),
        thousandth_less(
            PAST_GAP, "past-a-thousandth-less", "0.999 of the gap from pasts is enough"
        ),
        PAST_GAP.variant("past-half-as-near", "states are half as far from pasts", half_told),
        PAST_GAP.variant("past-on-recorded-inputs", "the gap on the data itself", recorded_told),
        PAST_GAP.variant(
            "past-one-step-too-few", "the gap from pasts at k + 1 is that at k", next_told, SHORTER
        ),
        PAST_WINDOW.variant(
            "past-half-of-epsilon", "the printed k is good for half of its ε", near_eps / 2
        ),
        BALL.variant(
            "ball-larger",
            "of linear units a ball a sixth larger is forgotten",
            near_eps * Rational(6, 7),
        ),
    ),
    extremal="linear units and inputs that are off by δ the same way at every step: equality",
)
