"""A model in both directions forgets both ways: output t needs the inputs near t alone.

Of inputs x_1, …, x_{2T}, the output at t = T is compared with that of the window T − k + 1, …,
2T − k: of k inputs up to t and of T − k after it, in which all runs start from zero at both ends.
One layer gives y_t = (h→_t, h←_t); a second one reads both, and its own gaps add to those below.
"""

from typing import Any

from sympy import Expr, Max, sqrt
from sympy import Symbol as Natural
from sympy import symbols as real_symbols

from rnnbounds.theory.language import (
    ZERO,
    Assumption,
    Clause,
    Use,
    at,
    eq,
    le,
)
from rnnbounds.theory.language.quantities.norms import T, k
from rnnbounds.theory.language.quantity import Quantity, Symbol, certified, measured, tag
from rnnbounds.theory.language.terms.bidirectional import (
    BOTH_RUNS,
    TOP_RUNS,
    ahead,
    ahead_norm,
    ahead_run,
    back,
    back_norm,
    back_run,
    left_ahead,
    left_back,
    top_ahead,
    top_ahead_left,
    top_ahead_norm,
    top_ahead_run,
    top_back,
    top_back_left,
    top_back_norm,
    top_back_run,
)
from rnnbounds.theory.language.terms.variables import i, j, m, s, v, x
from rnnbounds.theory.language.terms.vectors import entry, norm
from rnnbounds.theory.language.vocabulary import enter
from rnnbounds.theory.models.printed import assumed
from rnnbounds.theory.models.system import WINDOW
from rnnbounds.theory.proof import Claim, Source, Step, step, theorem
from rnnbounds.theory.proof.methods import HYPOTHESIS


def joint(one: Expr, other: Expr) -> Expr:
    """√(a² + b²)."""
    return sqrt(one**2 + other**2)


def _inputs(name: str, meaning: str, notation: str) -> Quantity:
    """A number of inputs that a certificate prints."""
    return Quantity(Symbol(name, integer=True), "certified", meaning, "number", notation)


_OWN = "of the cell's certificate"
ahead_gap = norm(ahead_run(x, 0, T) - ahead_run(x, T - k, k))
back_gap = norm(back_run(x, 2 * T, T + 1) - back_run(x, 2 * T - k, T - k + 1))
top_ahead_gap = norm(top_ahead_run(x, 0, 2 * T, T) - top_ahead_run(x, T - k, 2 * T - k, k))
top_back_gap = norm(top_back_run(x, 0, 2 * T, T + 1) - top_back_run(x, T - k, 2 * T - k, T - k + 1))
(
    lam_ahead, lam_back, C_ahead, C_back, R_ahead, R_back, past, future, epsilon, both_gap, top_gap
) = enter(
    *tag(
        "both",
        certified("lam_ahead", "the printed λ of the forward cell", _OWN, r"\lambda_\to"),
        certified("lam_back", "the printed λ of the reverse cell", _OWN, r"\lambda_\gets"),
        certified("C_ahead", "the printed C of the forward cell", _OWN, r"C_\to"),
        certified("C_back", "the printed C of the reverse cell", _OWN, r"C_\gets"),
        certified("R_ahead", "min(S/(1 − λ), R) of the forward cell", _OWN, r"R_\to"),
        certified("R_back", "min(S/(1 − λ), R) of the reverse cell", _OWN, r"R_\gets"),
    ),
    *tag(
        "both both-stack",
        _inputs("past_told", "the printed inputs before t", "k_1^{(cert)}"),
        _inputs("future_told", "the printed inputs after t", "k_2^{(cert)}"),
        certified("eps_both", "the ε of that window", "Euclidean", r"\varepsilon^{(cert)}"),
    ),
    *tag(
        "both",
        measured(
            "both_gap", "the output of one layer at T in full against that of the window",
            r"\lVert y_T-y_T^{(k)}\rVert", joint(ahead_gap, back_gap),
        ),
    ),
    *tag(
        "both-stack",
        measured(
            "top_both_gap", "the output of two layers at T in full against that of the window",
            r"\lVert y^2_T-y_T^{2(k)}\rVert", joint(top_ahead_gap, top_back_gap),
        ),
    ),
)  # fmt: skip

whole, fresh = ahead_run(x, 0, s + j), ahead_run(x, s, j)
whole_back, fresh_back = back_run(x, m + i, i + j), back_run(x, m, j)
AHEAD = (
    assumed(
        "forward cell",
        "the printed λ→ is a contraction factor of φ→ along the runs, and R→ bounds its states, in "
        "the printed norm",
        (s, j),
        le(
            ahead_norm(ahead(whole, entry(x, s + j + 1)) - ahead(fresh, entry(x, s + j + 1))),
            lam_ahead * ahead_norm(whole - fresh),
        ),
        le(ahead_norm(ahead_run(x, 0, s)), R_ahead),
    ),
    assumed(
        "forward output", "the printed C→ is at least ‖h‖₂/‖s‖", (v,),
        le(norm(v), C_ahead * ahead_norm(v)),
    ),
)  # fmt: skip
BACK = (
    assumed(
        "reverse cell",
        "the printed λ← is a contraction factor of φ← along the runs, and R← bounds its states, in "
        "the printed norm",
        (m, i, j),
        le(
            back_norm(back(whole_back, entry(x, m - j)) - back(fresh_back, entry(x, m - j))),
            lam_back * back_norm(whole_back - fresh_back),
        ),
        le(back_norm(back_run(x, m + i, i)), R_back),
    ),
    assumed(
        "reverse output", "the printed C← is at least ‖h‖₂/‖s‖", (v,),
        le(norm(v), C_back * back_norm(v)),
    ),
)  # fmt: skip
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

LEFT = (
    assumed(
        "forward memory",
        "f→(j) bounds the distance of outputs of φ→ after j steps on the same inputs",
        (s, j),
        le(norm(whole - fresh), left_ahead(j)),
    ),
    assumed(
        "reverse memory",
        "f←(j) bounds the distance of outputs of φ← after j steps on the same inputs",
        (m, i, j),
        le(norm(whole_back - fresh_back), left_back(j)),
    ),
)
LONG_PAST = Assumption("long past", "the window has the printed inputs before t", le(past + 1, k))
LONG_FUTURE = Assumption(
    "long future", "the window has the printed inputs after t", le(future, T - k)
)
PRINTED_WINDOW = assumed(
    "printed window",
    "the printed (k₁, k₂) is so large that √(f→² + f←²) ≤ ε after k₁ + 1 and k₂ + 1 steps or more",
    (i, j),
    Clause(le(joint(left_ahead(j), left_back(i + 1)), epsilon), (le(past + 1, j), le(future, i))),
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

l = Natural("l", integer=True)
lam_ta, lam_tb, L_ta, L_tb, C_ta, C_tb, R_ta, R_tb = real_symbols(
    "lam_top_ahead lam_top_back L_top_ahead L_top_back C_top_ahead C_top_back R_top_ahead "
    "R_top_back",
    real=True,
)
# The window s + 1, …, s + i + j, and the whole sequence, which ends l inputs later.
end, far = s + i + j, s + i + j + l
full_ta, window_ta = top_ahead_run(x, 0, far, s + j), top_ahead_run(x, s, end, j)
full_tb, window_tb = top_back_run(x, 0, far, l + j), top_back_run(x, s, end, j)
# One step later, in a window of one input more: the states, and the outputs below that are read.
before_ta = top_ahead_run(x, 0, far + 1, s + j), top_ahead_run(x, s, end + 1, j)
before_tb = top_back_run(x, 0, far + 1, l + j), top_back_run(x, s, end + 1, j)
read_ta = (
    (ahead_run(x, 0, s + j + 1), ahead_run(x, s, j + 1)),
    (back_run(x, far + 1, i + 1 + l), back_run(x, end + 1, i + 1)),
)
read_tb = (
    (ahead_run(x, 0, s + i + 1), ahead_run(x, s, i + 1)),
    (back_run(x, far + 1, l + j + 1), back_run(x, end + 1, j + 1)),
)


def apart(pair: tuple[Expr, Expr]) -> Expr:
    """‖a − b‖₂."""
    return norm(pair[0] - pair[1])


def upper_cell(
    id: str,
    arrow: str,
    cell: Any,
    own_norm: Any,
    before: tuple[Expr, Expr],
    read: tuple[tuple[Expr, Expr], tuple[Expr, Expr]],
    start: Expr,
    constants: tuple[Expr, Expr, Expr, Expr],
) -> tuple[Assumption, ...]:
    """Assumptions on a cell of the upper layer: it contracts, its inputs move it, and its output is
    bounded, in its own norm; `start` is its state where a window starts."""
    lam, L, C, R = constants
    (a, a_window), (b, b_window) = read
    return (
        assumed(
            f"upper {id} cell",
            f"φ{arrow} of the upper layer contracts by λ and is L-Lipschitz in what it reads along "
            f"the runs, and R bounds its states, in its own norm",
            (s, l, i, j),
            le(
                own_norm(cell(before[0], a, b) - cell(before[1], a_window, b_window)),
                lam * own_norm(before[0] - before[1]) + L * joint(apart(read[0]), apart(read[1])),
            ),
            le(own_norm(start), R),
            le(ZERO, lam),
            le(ZERO, L),
        ),
        assumed(f"upper {id} output", "C is at least ‖h‖₂/‖s‖", (v,), le(norm(v), C * own_norm(v))),
    )


def recursion(id: str, bound: Any, lam: Expr, L: Expr, R: Expr, gap_below: Expr) -> Assumption:
    """Assumption: g(i, 0) ≥ R and g(i, j + 1) ≥ λ g(i + 1, j) + L e, e the gap of what is read."""
    return assumed(
        f"printed {id} recursion",
        "what is printed is computed by g(i, 0) ≥ R, g(i, j + 1) ≥ λ g(i + 1, j) + L√(f→² + f←²)",
        (i, j),
        le(R, bound(i, 0)),
        le(lam * bound(i + 1, j) + L * gap_below, bound(i, j + 1)),
    )


UPPER = (
    *upper_cell(
        "forward", "→", top_ahead, top_ahead_norm, before_ta, read_ta,
        top_ahead_run(x, 0, far, s), (lam_ta, L_ta, C_ta, R_ta),
    ),
    *upper_cell(
        "reverse", "←", top_back, top_back_norm, before_tb, read_tb,
        top_back_run(x, 0, far, l), (lam_tb, L_tb, C_tb, R_tb),
    ),
    recursion(
        "forward", top_ahead_left, lam_ta, L_ta, R_ta, joint(left_ahead(j + 1), left_back(i + 1))
    ),
    recursion(
        "reverse", top_back_left, lam_tb, L_tb, R_tb, joint(left_ahead(i + 1), left_back(j + 1))
    ),
)  # fmt: skip
AT_PAST = Assumption("printed past", "the window has k₁ inputs before t", eq(k, past + 1))
AT_FUTURE = Assumption("printed future", "the window has k₂ inputs after t", eq(T, k + future))
PRINTED_TOP = assumed(
    "printed window",
    "the printed (k₁, k₂) is so large that the bounds of the upper layer's cells leave at most ε",
    (i, j),
    Clause(
        le(joint(C_ta * top_ahead_left(i, j + 1), C_tb * top_back_left(j, i + 1)), epsilon),
        (eq(j, past), eq(i, future)),
    ),
)


def upper_gap(
    id: str,
    own_norm: Any,
    pair: tuple[Expr, Expr],
    bound: Any,
    below: tuple[Use, Use],
    runs: tuple[Use, ...],
) -> Step:
    """Step: the states of an upper cell in the window are at most g(i, j) from the whole run's."""
    return step(
        f"upper {id} gap", le(own_norm(pair[0] - pair[1]), bound(i, j)), forall=(s, l, i, j)
    ).inductively(
        base=(
            runs[0],
            at(f"upper {id} cell", s, l, i, 0),
            at(f"printed {id} recursion", i, 0),
        ),
        step=(
            at(HYPOTHESIS, i + 1),
            *runs[1:],
            at(f"upper {id} cell", s, l, i, j),
            at(f"printed {id} recursion", i, j),
            *below,
        ),
        others=(i,),
    )


UPPER_STEPS = (
    upper_gap(
        "forward", top_ahead_norm, (full_ta, window_ta), top_ahead_left,
        (at("forward memory", s, j + 1), at("reverse memory", end + 1, l, i + 1)),
        (
            TOP_RUNS.at(x, s, s + i, 0),
            TOP_RUNS.at(x, 0, far + 1, s + j), TOP_RUNS.at(x, s, end + 1, j),
        ),
    ),
    upper_gap(
        "reverse", top_back_norm, (full_tb, window_tb), top_back_left,
        (at("forward memory", s, i + 1), at("reverse memory", end + 1, l, j + 1)),
        (
            TOP_RUNS.at(x, s, s + i, 0),
            TOP_RUNS.at(x, 0, far + 1, l + j), TOP_RUNS.at(x, s, end + 1, j),
        ),
    ),
)  # fmt: skip
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
            "past-alone", "what follows t plays no part", ahead_bound,
        ),
        ONE_LAYER.variant(
            "future-alone", "what precedes t plays no part", back_bound,
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
            "sixteenth-of-epsilon",
            "the printed window of two layers is good for a sixteenth of its ε",
            epsilon / 16,
        ),
    ),
    extremal=(
        "scalar linear cells with constant inputs on the bound: equality of the gap of each cell, "
        "and so of the root of their squares, for every window of a long sequence"
    ),
)  # fmt: skip
