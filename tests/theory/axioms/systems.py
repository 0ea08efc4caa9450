"""One small system for each form, where it is not the one that most forms have."""

from __future__ import annotations

from typing import Any

from flint import fmpq
from meanings import EVERYWHERE, HALF, NUMBERS, ONE, ZERO, System, always, running

from rnnbounds.theory.language.terms import networks
from rnnbounds.theory.language.terms import vectors as terms
from rnnbounds.theory.models.gates import gru
from rnnbounds.theory.models.unitary import moves

# What is otherwise for a claim, or for one of its forms: functions, and numbers by name.
CONSTANT = running(lambda h, x: ZERO)
HALVES = running(lambda h, x: h / 2)
CLIPPED = {networks.boxed: lambda p: min(max(p, -ONE), ONE)}
LSTM = dict.fromkeys(("W_i_inf", "W_f_inf", "W_g_inf", "W_o_inf"), ZERO)
LSTM |= {"f_bar": HALF, "most_f": HALF, "output_box": ONE}
LSTM |= dict.fromkeys(("most_i", "most_o", "most_g"), ONE) | {"cell_box": fmpq(2), "B_c": fmpq(2)}
STABLE_GRU = dict.fromkeys(("W_r_inf", "W_z_inf", "W_n_inf"), ZERO)
STABLE_GRU |= dict.fromkeys(("theta_gru", "most_z", "z_bar"), HALF)
DEEP = {
    networks.layer: lambda h, x, j: h * HALF ** int(j),
    networks.layer_product: lambda j: HALF ** int(j),
}
LONG = {"k": fmpq(40), "T": fmpq(50)}
DILATED = {
    "W": fmpq(3, 5),
    "lam": fmpq(3, 5),
    "states": fmpq(2),
    "low": fmpq(3, 5),
    "W_norm": fmpq(3, 5),
    "cosine": fmpq(4, 5),
}
DILATED |= {"singular": fmpq(3, 5), "W_2": fmpq(4, 5), "W_3": fmpq(4, 5), "W_4": fmpq(-3, 5)}
DILATED |= dict.fromkeys(("left", "right", "kept"), ONE)
# No unit is added.
ISOMETRIC = dict.fromkeys(("J_2", "kept", "cosine", "low", "W_2", "W_3", "W_4"), ZERO)
ISOMETRIC |= dict.fromkeys(("W", "lam", "singular", "left", "right", "J", "V", "I_m"), ONE)
ORTHOGONAL = dict.fromkeys(("W", "E", "G", "W_norm"), ONE)


def nudging(w: fmpq) -> dict[Any, Any]:
    """h⁺ = w h + x and s⁺ = s + x, on inputs 0 of which one moves."""

    def entry(x: Any, t: Any) -> Any:
        return (x[1] if x[0] == t else ZERO) if isinstance(x, tuple) else x

    def run(keep: fmpq) -> Any:
        return lambda x, j: sum((keep ** int(j - t - 1) * entry(x, t) for t in range(int(j))), ZERO)

    moves_of = {moves.candidate: run(ONE), moves.network: run(w), terms.entry: entry}
    return moves_of | {moves.nudged: lambda m, v: (m, v), moves.small: always(1)}


OTHERWISE: dict[str, tuple[dict[Any, Any], dict[str, Any]]] = {
    "contraction-lstm": (CONSTANT | CLIPPED, LSTM),
    "contraction-gru": (
        HALVES | CLIPPED | {gru.reset: lambda h, x: h / 2},
        dict.fromkeys(("most_r", "most_z", "output_box"), ONE),
    ),
    "contraction-gru/sufficient": ({}, STABLE_GRU),
    **dict.fromkeys(("contraction-gru/per-unit", "cell-constants/box-contraction"), (CONSTANT, {})),
    "contraction-deep": (HALVES | DEEP, {"layer_matrix": HALF}),
    "deep-gradient": (HALVES | DEEP, {"layer_matrix": HALF, "W_product": HALF}),
    "instability/no-window": (
        running(lambda h, x: h + x, lambda x, t: fmpq(t == 1)),
        {"lam": ONE, "beta_rho": ZERO},
    ),
    "urnn-equivalence/similar": ({}, {"T_similar": ONE, "T_inverse": ONE}),
    "truncation/paper": ({}, {"phi_0": ZERO}),
    "receptive-field": ({}, {"R": fmpq(2)}),
    "cell-constants": ({networks.lift: always(1)}, {}),
    "loss-constants": ({networks.mixture: lambda c, v, j: -v if j > 0 else ZERO}, {}),
    "weight-gap/box": ({}, {"eps_k": fmpq(999)}),
    "end-to-end": ({}, LONG),
    "end-to-end/window-any": ({}, LONG | {"epsilon": fmpq(10)}),
    "urnn-defect": ({}, DILATED),
    "urnn-defect/dilation": ({}, ISOMETRIC),
    "urnn-defect/needed": ({}, ORTHOGONAL | {"states": ONE}),
    "urnn-tight/excluded": (
        nudging(fmpq(0)),
        {"W": ZERO, "W_rank": ZERO, "y_candidate": ONE, "E": ONE, "G": ONE},
    ),
    "urnn-gradient/bounded": (running(lambda h, x: h + x), ORTHOGONAL),
}


def system(form: str) -> System:
    """The system of a form, told by its claim and name."""
    functions, numbers = dict(EVERYWHERE), dict(NUMBERS)
    for key in (form.split("/")[0], form):
        more, named = OTHERWISE.get(key, ({}, {}))
        functions |= more
        numbers |= named
    return System(functions, numbers)
