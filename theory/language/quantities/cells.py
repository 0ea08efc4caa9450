"""Cells of any kind in the norm of their comparison matrix, ‖s‖_box = max_j |s_j|/v_j.

s is the state of a cell, (c, h) of an LSTM, and h what it shows, a linear part of s; φ is a step on
s.  A norm without a name is the Euclidean one of h.  The constants hold on the invariant box.
"""

from sympy import Expr

from rnnbounds.theory.language.quantities.gradients import in_norm
from rnnbounds.theory.language.quantity import Quantity, Symbol, certified, measured, of
from rnnbounds.theory.language.terms.gates import boxed, gated_run
from rnnbounds.theory.language.terms.gradients import d_state, d_weights
from rnnbounds.theory.language.terms.variables import a, b, x, x_other
from rnnbounds.theory.language.terms.vectors import entry, state, weighted

T, k = Symbol("T", integer=True), Symbol("k", integer=True)
_UNITS = "max |·|_j/v_j"
_one, _other = ((boxed(h), entry(x, 1)) for h in (a, b))


def _gap(notation: str, difference: Expr) -> tuple[str, Expr, str]:
    """Notation, definition and unit of a difference measured in the norm of the box."""
    return rf"\lVert {notation}\rVert_{{box}}", weighted(difference), _UNITS


_SECOND = ("beta_hh", "beta_wh", "beta_ww")
_CERTIFIED = (
    *in_norm("box", _UNITS, _SECOND),
    *in_norm("omega", f"{_UNITS}, for all weights of Ω", _SECOND),
    certified(
        "lam_omega",
        "the contraction factor",
        f"{_UNITS}, for all weights of Ω",
        r"\lambda^{(omega)}",
    ),
    certified(
        "C_box",
        "the output against the state: ‖h‖₂ ≤ C‖s‖_box",
        "max |·|_j/v_j to Euclidean",
        "C^{(box)}",
    ),
    certified(
        "L_x_box",
        "Lipschitz constant of φ in the input",
        "Euclidean to max |·|_j/v_j",
        "L_x^{(box)}",
    ),
)
_MEASURED = of(
    "cell",
    measured("h_norm_box", "the state", *_gap("s_T", state(x, 0, T))),
    measured(
        "h_gap_box",
        "full against truncated state",
        *_gap("s_T-s_T^{(k)}", state(x, 0, T) - state(x, T - k, k)),
    ),
    measured(
        "forced_gap_box",
        "two runs from one state, under inputs x and x'",
        *_gap("s_T(x)-s_T(x')", gated_run(a, x, T) - gated_run(a, x_other, T)),
    ),
    measured(
        "response_gap_box",
        "two runs from two states, under inputs x and x'",
        *_gap("s_T(s,x)-s_T(s',x')", gated_run(a, x, T) - gated_run(b, x_other, T)),
    ),
    measured("response_start_box", "the states from which these start", *_gap("s_0-s'_0", a - b)),
    measured(
        "dphi_w_box",
        "one step's derivative in the weights, at a state of the box",
        *_gap(r"\partial_w\varphi(s,x)", d_weights(*_one)),
    ),
    measured(
        "dphi_w_gap_box",
        "one step's derivatives in the weights, at two states of the box",
        *_gap(
            r"\partial_w\varphi(s,x)-\partial_w\varphi(s',x)",
            d_weights(*_one) - d_weights(*_other),
        ),
    ),
    measured(
        "dphi_h_gap_box",
        "one step's derivatives in the state, at two states of the box",
        *_gap(
            r"\partial_s\varphi(s,x)-\partial_s\varphi(s',x)",
            d_state(*_one) - d_state(*_other),
        ),
    ),
)

CELLS: tuple[Quantity, ...] = (*_CERTIFIED, *_MEASURED)
