"""The certified constants of gated cells, by the names of the vocabulary, (B,) each.

They are those that a certificate prints of each cell, on the box of the batch. What is chosen (θ, ω
and the unit weights) is a number that stands for itself: statements hold for any choice.
Source: Miller & Hardt, Proposition 1.
"""

from __future__ import annotations

import torch

from impl.norms.weighted import perron_vector
from impl.numbers.outward import div_up, subtract_down
from properties.systems.gated.cell import Gated

Tensor = torch.Tensor
# Above the least θ, so that the conditions hold beyond rounding.
ROOM = 1 + 2.0**-40
# What certificates call the candidate of an LSTM z, the vocabulary calls g.
OF_LSTM = {
    "i_bar": "i_bar", "f_bar": "f_bar", "z_bar": "g_bar", "o_bar": "o_bar", "B_c": "B_c",
    "tau": "tau", "theta": "theta", "W_i_norm": "W_i_inf", "W_f_norm": "W_f_inf",
    "W_z_norm": "W_g_inf", "W_o_norm": "W_o_inf",
}  # fmt: skip
OF_GRU = {
    "r_bar": "r_bar", "z_bar": "z_bar", "z_low": "z_low", "W_r_norm": "W_r_inf",
    "W_z_norm": "W_z_inf", "W_n_norm": "W_n_inf",
}  # fmt: skip


def gate_constants(gated: Gated) -> dict[str, Tensor]:
    """Every constant of the cells' kind."""
    names = OF_LSTM if gated.is_lstm else OF_GRU
    told = [
        gated.member(i).cell.constants(gated.box[i : i + 1], float(gated.B_x[i]))
        for i in range(len(gated.B_x))
    ]
    found = {
        own: torch.tensor([one[name] for one in told], dtype=torch.float64)
        for name, own in names.items()
    }
    found |= chosen(found) if gated.is_lstm else {"c_n_inf": largest_offset(gated)}
    return found | {"B_x": gated.B_x}


def largest_offset(gated: Gated) -> Tensor:
    """‖b_hn‖_∞ of a GRU."""
    return gated.cell.b_hh.detach()[:, 2 * gated.cell.n :].abs().amax(1)


def chosen(of: dict[str, Tensor]) -> dict[str, Tensor]:
    """θ < 1, infinite where there is none; the same without its square; and ω."""
    room = subtract_down(1.0, of["f_bar"])
    rows = torch.stack([of["W_i_inf"], of["W_o_inf"], 4 * of["W_g_inf"], of["W_f_inf"]])
    thetas = {"theta": of["theta"], "theta_plain": div_up(rows.amax(0), room)}
    found = {name: torch.where(v * ROOM < 1, v * ROOM, torch.inf) for name, v in thetas.items()}
    return found | {"omega": omega(of)}


def omega(of: dict[str, Tensor]) -> Tensor:
    """ω = v_h/v_c of Perron's vector of [f̄, a; ō f̄, q + ō a]."""
    f, o = of["f_bar"], of["o_bar"]
    a = of["W_i_inf"] * of["g_bar"] / 4 + of["i_bar"] * of["W_g_inf"]
    a = a + of["W_f_inf"] * of["B_c"].clamp(max=1e9) / 4
    rows = torch.stack([f, a, o * f, of["W_o_inf"] * of["tau"] / 4 + o * a], dim=1)
    v = perron_vector(rows.reshape(-1, 2, 2)).weights
    return (v[:, 1] / v[:, 0]).nan_to_num(1.0).clamp(2.0**-20, 2.0**20)
