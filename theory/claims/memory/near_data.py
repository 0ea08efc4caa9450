"""Near your data: what `measure` certifies of all inputs within δ of recorded ones.

‖h_T − h_T^k‖₂ ≤ g_k and ‖s_T − ŝ_T‖_∞ ≤ w for each input sequence with |x_tj − x̄_tj| ≤ δ at every
t and runs from any states with |s_i| ≤ r, where g_k and w are what is printed; h is the output, or
what a readout makes of it. Sets of states, and of differences of two runs on the same inputs, are
stepped along the recorded sequence; what one step makes of them is enclosed by slopes of chords,
and that all runs near stay in them is by induction.
"""

from sympy import Expr, Rational

from theory.language import ONE, ZERO, Assumption, Clause, assume, at, eq, le, lt
from theory.language.quantities.near import recorded
from theory.language.statement import Statement
from theory.language.terms.certificates import BEGUN, begun, on_record
from theory.language.terms.variables import a, b, c, j, m, s, v, vector, x
from theory.language.terms.vectors import (
    Operator,
    Scalar,
    entry,
    function,
    max_norm,
    norm,
    phi,
)
from theory.language.vocabulary import symbols
from theory.models.system import WINDOW
from theory.proof import Claim, Source, instead, step, theorem
from theory.proof.methods import HYPOTHESIS

T, k, gap = symbols("T k near_gap")
near_off, delta, states, near_eps, near_k = symbols(
    "near_off near_delta near_states_told near_eps_told near_k_told"
)
width_told, once_told, first_told, before_told = symbols(
    "near_width_told near_width_once near_width_first near_width_before"
)
gap_told, next_told, largest_told, recorded_told = symbols(
    "near_gap_told near_gap_next near_gap_largest near_gap_recorded"
)
# near(s, j, v) is 1 in the set of runs that start at time s, after j steps; between(s, j, v) in
# that of what the run from time 0 and the one from time s are apart by then.
# chords(a, b, c): the matrix of slopes between two states under one input.
chords = function("chords", Operator, __name__)
near, between = (function(name, Scalar, __name__) for name in ("near", "between"))


def held(time: Expr, steps: Expr, run: Expr) -> Statement:
    """The run is in the set."""
    return eq(near(time, steps, run), ONE)


def apart(time: Expr, steps: Expr, difference: Expr) -> Statement:
    """The difference is in the set."""
    return eq(between(time, steps, difference), ONE)


def close(time: Expr) -> Statement:
    """The input is near the recorded one."""
    return le(max_norm(entry(x, time) - entry(recorded, time)), delta)


now, u = entry(x, s + j + 1), vector("u")
INPUTS = assume(
    "near", "each number of each input is within δ of the recorded one", forall=(m,)
).that(close(m + 1))
STARTS = assume("starts", "no entry of the states that the runs start in is larger than r").that(
    le(max_norm(a), states), le(max_norm(b), states)
)
SETS = assume(
    "tube",
    "the sets contain all start states, and the image of each of their states by a "
    "step on an input within δ of the recorded one: images are enclosed by divided differences, "
    "rounded outwards",
    forall=(v, s, j),
    inclusion=True,
).that(
    Clause(held(s, ZERO, v), (le(max_norm(v), states),)),
    Clause(held(s, j + 1, phi(v, now)), (held(s, j, v), close(s + j + 1))),
)
SLOPES = assume(
    "slopes",
    "φ(s, x) = φ(s′, x) + M (s − s′) with divided differences M: each row is the mean of the "
    "slopes of its unit along a segment of its own",
    forall=(u, v, c),
).that(eq(phi(u, c), phi(v, c) + chords(u, v, c) * (u - v)))
DIFFERENCES = assume(
    "differences",
    "the sets of differences contain every difference of a state of the set and a "
    "start state, and the image of each difference by the divided differences M between any two "
    "states of the sets: M is enclosed around the two computed runs, to first order in their "
    "errors, and the rest is rounded outwards",
    forall=(u, v, c, s, j),
    inclusion=True,
).that(
    Clause(apart(s, ZERO, u - v), (held(ZERO, s, u), le(max_norm(v), states))),
    Clause(
        apart(s, j + 1, chords(u, v, now) * c),
        (held(ZERO, s + j, u), held(s, j, v), apart(s, j, c), close(s + j + 1)),
    ),
)
STAY = step(
    "runs stay",
    held(s, j, begun(v, x, s, j)),
    forall=(v, s, j),
    given=(le(max_norm(v), states),),
).inductively(
    base=("given 1", BEGUN.at(v, x, s, 0), at("tube", v, s, 0)),
    step=(
        HYPOTHESIS,
        BEGUN.at(v, x, s, j),
        at("tube", begun(v, x, s, j), s, j),
        at("near", s + j),
    ),
)
full, fresh = begun(a, x, 0, s + j), begun(b, x, s, j)
TOGETHER = step("differences stay", apart(s, j, full - fresh), forall=(s, j)).by_induction(
    base=(
        "starts",
        BEGUN.at(b, x, s, 0),
        at("runs stay", a, 0, s),
        at("differences", begun(a, x, 0, s), b, 0, s, 0),
    ),
    step=(
        "starts",
        BEGUN.at(a, x, 0, s + j),
        BEGUN.at(b, x, s, j),
        at("runs stay", a, 0, s + j),
        at("runs stay", b, s, j),
        at("slopes", full, fresh, now),
        at("differences", full, fresh, full - fresh, s, j),
        at("near", s + j),
    ),
)
PRINTED_GAP = assume(
    "printed gap", "the printed gap bounds ‖h‖₂ of all differences after k steps", forall=(v,)
).that(Clause(le(norm(v), gap_told), (apart(T - k, k, v),)))
PRINTED_WIDTH = assume(
    "printed width", "the printed width bounds the error of all states", forall=(v,)
).that(Clause(le(max_norm(v - on_record(recorded, T)), width_told), (held(ZERO, T, v),)))
MODEL = (STARTS, SETS, SLOPES, DIFFERENCES, INPUTS, WINDOW)
GAP = theorem(
    "gap",
    le(gap, gap_told),
    (*MODEL, PRINTED_GAP),
    "near",
    (STAY, TOGETHER),
    note="every k that is printed, and all inputs near",
).by(
    at("differences stay", T - k, k),
    at("printed gap", begun(a, x, 0, T) - begun(b, x, T - k, k)),
    "window",
)
WIDTH = theorem(
    "width", le(near_off, width_told), (STARTS, SETS, INPUTS, PRINTED_WIDTH), "near", (STAY,)
).by(at("runs stay", a, 0, T), "starts", at("printed width", begun(a, x, 0, T)))
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

SHORTER = Assumption("shorter", "k < T", lt(k, T))
NEAR_DATA = Claim(
    id="near-data",
    title="A certificate near recorded inputs holds for every input near them",
    source=Source(
        "Lohner, Enclosing the Solutions of Ordinary Initial and Boundary Value Problems",
        "mean-value enclosures in turned coordinates; divided differences for two runs",
    ),
    forms=(GAP, WIDTH, WINDOW_FORM),
    false_variants=(
        instead(GAP, gap_told, recorded_told, "recorded-alone", "the gap seen on the data itself"),
        instead(
            GAP, gap_told, gap_told * Rational(999, 1000), "a-thousandth-less",
            "the printed gap is never met: 0.999 of it is enough",
        ),
        GAP.variant(
            "one-step-too-few",
            "the gap at k + 1 is that at k",
            le(gap, next_told),
            (*GAP.assumptions, SHORTER),
        ),
        instead(
            GAP, gap_told, largest_told, "maximum-norm",
            "the largest gap of one output is taken for the Euclidean norm of all",
        ),
        instead(
            WIDTH, width_told, once_told, "radius-once",
            "inputs are off by δ at one step alone",
        ),
        instead(
            WIDTH, width_told, first_told, "without-remainder",
            "Jacobians on the recorded run are taken for those of all runs near it",
        ),
        instead(
            WIDTH, width_told, before_told, "one-step-short", "the enclosure ends one step early"
        ),
        WINDOW_FORM.variant(
            "half-of-epsilon", "the printed k is good for half of its ε", le(gap, near_eps / 2)
        ),
    ),
    extremal="linear units and inputs that are off by δ the same way at every step: equality",
)  # fmt: skip
