"""Assumptions on models in both directions: their cells, what a certificate prints, two layers.

The cells of the upper layer read both states below; how far their states are apart in a window of
i + j inputs is bounded by g(i, 0) ≥ R and g(i, j + 1) ≥ λ g(i + 1, j) + L e for the gap e of what
is read, which is how the certificate computes what it prints.
"""

from typing import Any

from sympy import Expr
from sympy import Symbol as Natural
from sympy import symbols as real_symbols

from rnnbounds.theory.language import ZERO, Assumption, Clause, Use, at, eq, le, symbols
from rnnbounds.theory.language.quantities.bidirectional import joint
from rnnbounds.theory.language.quantities.norms import T, k
from rnnbounds.theory.language.terms.bidirectional import (
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
from rnnbounds.theory.models.printed import assumed
from rnnbounds.theory.proof import Step, step
from rnnbounds.theory.proof.methods import HYPOTHESIS

lam_ahead, lam_back, C_ahead, C_back, R_ahead, R_back, past, future, epsilon = symbols(
    "lam_ahead lam_back C_ahead C_back R_ahead R_back past_told future_told eps_both"
)
whole, fresh = ahead_run(x, 0, s + j), ahead_run(x, s, j)
whole_back, fresh_back = back_run(x, m + i, i + j), back_run(x, m, j)
AHEAD = (
    assumed(
        "forward cell",
        "the printed λ_f is a contraction factor of φ_f along the runs, and R_f bounds its states, "
        "in the printed norm",
        (s, j),
        le(
            ahead_norm(ahead(whole, entry(x, s + j + 1)) - ahead(fresh, entry(x, s + j + 1))),
            lam_ahead * ahead_norm(whole - fresh),
        ),
        le(ahead_norm(ahead_run(x, 0, s)), R_ahead),
    ),
    assumed(
        "forward output", "the printed C_f is at least ‖h‖₂/‖s‖", (v,),
        le(norm(v), C_ahead * ahead_norm(v)),
    ),
)  # fmt: skip
BACK = (
    assumed(
        "reverse cell",
        "the printed λ_r is a contraction factor of φ_r along the runs, and R_r bounds its states, "
        "in the printed norm",
        (m, i, j),
        le(
            back_norm(back(whole_back, entry(x, m - j)) - back(fresh_back, entry(x, m - j))),
            lam_back * back_norm(whole_back - fresh_back),
        ),
        le(back_norm(back_run(x, m + i, i)), R_back),
    ),
    assumed(
        "reverse output", "the printed C_r is at least ‖h‖₂/‖s‖", (v,),
        le(norm(v), C_back * back_norm(v)),
    ),
)  # fmt: skip
LEFT = (
    assumed(
        "forward memory",
        "m_f(j) bounds the distance of outputs of φ_f after j steps on the same inputs",
        (s, j),
        le(norm(whole - fresh), left_ahead(j)),
    ),
    assumed(
        "reverse memory",
        "m_r(j) bounds the distance of outputs of φ_r after j steps on the same inputs",
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
    "the printed (k₁, k₂) is so large that √(m_f² + m_r²) ≤ ε after k₁ + 1 and k₂ + 1 steps or "
    "more",
    (i, j),
    Clause(le(joint(left_ahead(j), left_back(i + 1)), epsilon), (le(past + 1, j), le(future, i))),
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
        assumed(
            f"upper {id} output",
            f"C is at least ‖h‖₂/‖s‖ of φ{arrow}",
            (v,),
            le(norm(v), C * own_norm(v)),
        ),
    )


def recursion(id: str, bound: Any, lam: Expr, L: Expr, R: Expr, gap_below: Expr) -> Assumption:
    """Assumption: g(i, 0) ≥ R and g(i, j + 1) ≥ λ g(i + 1, j) + L e, e the gap of what is read."""
    return assumed(
        f"printed {id} recursion",
        f"g bounds the upper {id} cell: g(i, 0) ≥ R, g(i, j + 1) ≥ λ g(i + 1, j) + L√(m_f² + m_r²)",
        (i, j),
        le(R, bound(i, 0)),
        le(lam * bound(i + 1, j) + L * gap_below, bound(i, j + 1)),
    )


UPPER = (
    *upper_cell(
        "forward", "_f", top_ahead, top_ahead_norm, before_ta, read_ta,
        top_ahead_run(x, 0, far, s), (lam_ta, L_ta, C_ta, R_ta),
    ),
    *upper_cell(
        "reverse", "_r", top_back, top_back_norm, before_tb, read_tb,
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
