"""Cells of any kind in the norm of their comparison matrix, ‖s‖_box = max_j |s_j|/v_j.

s is the state of a cell, (c, h) of an LSTM, and h what it shows, a linear part of s; φ is a step on
s.  A norm without a name is the Euclidean one of h.  The constants hold on the invariant box.
"""

from rnnbounds.theory.language.quantities.gradients import in_norm
from rnnbounds.theory.language.quantities.norms import BOX, T, k
from rnnbounds.theory.language.quantity import Quantity, certified, tag
from rnnbounds.theory.language.terms.networks import boxed, d_state, d_weights, gated_run
from rnnbounds.theory.language.terms.variables import a, b, x, x_other
from rnnbounds.theory.language.terms.vectors import entry, state

_one, _other = ((boxed(h), entry(x, 1)) for h in (a, b))

_ON_OMEGA = f"{BOX.unit}, for all weights of Ω"
_CERTIFIED = (
    *in_norm("box", BOX.unit),
    *in_norm("omega", _ON_OMEGA),
    certified("beta_ww_omega", "smoothness: ∂φ/∂w in w", _ON_OMEGA, r"\beta_{ww}^{(omega)}"),
    certified("lam_omega", "the contraction factor", _ON_OMEGA, r"\lambda^{(omega)}"),
    certified(
        "C_box", "the output against the state: ‖h‖₂ ≤ C‖s‖_box", "max |·|_j/v_j to Euclidean",
        "C^{(box)}",
    ),
    certified(
        "L_x_box", "Lipschitz constant of φ in the input", "Euclidean to max |·|_j/v_j",
        "L_x^{(box)}",
    ),
)  # fmt: skip
_MEASURED = tag(
    "cell",
    BOX.of("h_norm_box", "the state", "s_T", state(x, 0, T)),
    BOX.of(
        "h_gap_box", "full against truncated state", "s_T-s_T^{(k)}",
        state(x, 0, T) - state(x, T - k, k),
    ),
    BOX.of(
        "forced_gap_box", "two runs from one state, under inputs x and x'", "s_T(x)-s_T(x')",
        gated_run(a, x, T) - gated_run(a, x_other, T),
    ),
    BOX.of(
        "response_gap_box", "two runs from two states, under inputs x and x'",
        "s_T(s,x)-s_T(s',x')", gated_run(a, x, T) - gated_run(b, x_other, T),
    ),
    BOX.of("response_start_box", "the states from which these start", "s_0-s'_0", a - b),
    BOX.of(
        "dphi_w_box", "one step's derivative in the weights, at a state of the box",
        r"\partial_w\varphi(s,x)", d_weights(*_one),
    ),
    BOX.of(
        "dphi_w_gap_box", "one step's derivatives in the weights, at two states of the box",
        r"\partial_w\varphi(s,x)-\partial_w\varphi(s',x)", d_weights(*_one) - d_weights(*_other),
    ),
    BOX.of(
        "dphi_h_gap_box", "one step's derivatives in the state, at two states of the box",
        r"\partial_s\varphi(s,x)-\partial_s\varphi(s',x)", d_state(*_one) - d_state(*_other),
    ),
)  # fmt: skip

CELLS: tuple[Quantity, ...] = (*_CERTIFIED, *_MEASURED)
