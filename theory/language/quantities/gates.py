"""Gated cells: how far their gates open on an invariant box, and what they make of two states.

Gates have torch's names: i, f, g (the candidate), o of an LSTM and r, z, n of a GRU.  ‖W‖_∞ is the
largest row sum.  The joint state of an LSTM is (c, h), that of a GRU h.
"""

from rnnbounds.theory.language.quantities.norms import EUCLIDEAN, MAXIMUM, Norm, T
from rnnbounds.theory.language.quantity import Quantity, certified, tag
from rnnbounds.theory.language.terms.networks import (
    boxed,
    gated_run,
    to_cell,
    to_output,
    unit_weights,
)
from rnnbounds.theory.language.terms.variables import a, b, x
from rnnbounds.theory.language.terms.vectors import entry, max_norm, phi

_first, _other = boxed(a), boxed(b)

_OPEN, _ROWS, _MAXIMUM = "σ or |tanh| on the box", "largest row sum", "maximum"
_UNITS = "max |·|_j/v_j"
_PAIR = "two states of the box"
_moved = phi(_first, entry(x, 1)) - phi(_other, entry(x, 1))
_NORMS = {
    "": MAXIMUM,
    "_box": Norm(_UNITS, lambda gap: max_norm(unit_weights * gap), "_{box}"),
}


def _recurrent(gate: str) -> Quantity:
    notation = rf"\lVert W_{gate}\rVert_\infty"
    return certified(
        f"W_{gate}_inf", f"‖W‖_∞ of the recurrent matrix of gate {gate}", _ROWS, notation
    )


_CERTIFIED = (
    *tag(
        "lstm",
        certified("i_bar", "largest value of the input gate", _OPEN, r"\bar{i}"),
        certified("f_bar", "largest value of the forget gate", _OPEN, r"\bar{f}"),
        certified("g_bar", "largest |g| of the candidate", _OPEN, r"\bar{g}"),
        certified("o_bar", "largest value of the output gate", _OPEN, r"\bar{o}"),
        certified("B_c", "bound on the cells, sup |c_j|", _MAXIMUM, "B_c"),
        certified("tau", "tanh B_c", "absolute value", r"\tau"),
        *map(_recurrent, "ifgo"),
        certified(
            "theta",
            "Miller and Hardt's θ: ‖W_i‖, ‖W_o‖, 4‖W_g‖ ≤ θ(1 − f̄) and ‖W_f‖ ≤ θ(1 − f̄)²", _ROWS,
            r"\theta",
        ),
    ),
    certified(
        "lam_box", "contraction factor on the box of the comparison matrix, unit by unit", _UNITS,
        r"\lambda_{box}",
    ),
    *tag(
        "gru gru-cho",
        certified("r_bar", "largest value of the reset gate", _OPEN, r"\bar{r}"),
        certified("z_bar", "largest value of the update gate", _OPEN, r"\bar{z}"),
        certified("z_low", "smallest value of the update gate, rounded down", _OPEN, "z_{low}"),
        *map(_recurrent, "rzn"),
        certified(
            "c_n_inf", "‖b_hn‖_∞ of the candidate's hidden bias", _MAXIMUM, r"\lVert c_n\rVert",
        ),
    ),
    *tag(
        "gru",
        certified(
            "theta_gru",
            "the θ of the stable set: 2‖W_n‖, (3/2)‖W_r‖ ≤ θ, 2‖W_z‖ ≤ θ(1 − z̄), for ‖c_n‖ ≤ 1",
            _ROWS, r"\theta_G",
        ),
    ),
)  # fmt: skip


_MEASURED = (
    *tag(
        "lstm gru gru-cho",
        *(
            quantity
            for suffix, size in _NORMS.items()
            for quantity in size.pair(
                f"gate_gap{suffix}", f"gate_state_gap{suffix}", _PAIR, "s", _moved, _first - _other
            )
        ),
    ),
    *tag(
        "lstm",
        MAXIMUM.of("c_size", "the cells of a run from zero", "c_T", to_cell * gated_run(0, x, T)),
    ),
    *tag(
        "lstm gru gru-cho",
        MAXIMUM.of(
            "h_size", "the output of a run from zero", "h_T", to_output * gated_run(0, x, T),
        ),
        EUCLIDEAN.of(
            "run_gap", "two runs of T steps from states of the box", "s_T-s'_T",
            gated_run(_first, x, T) - gated_run(_other, x, T),
        ),
        EUCLIDEAN.of(
            "start_gap", "the states from which two runs start", "s_0-s'_0", _first - _other,
        ),
    ),
)  # fmt: skip

GATES: tuple[Quantity, ...] = (*_CERTIFIED, *_MEASURED)
