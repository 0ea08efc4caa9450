"""The certified constants of gated cells, by the names of the vocabulary, (B,) each.

All are the largest over the units of what `impl.cells.gated.lstm` and `impl.cells.gated.gru`
certify. What is chosen (θ, ω and the unit weights) is a number that stands for itself: statements
hold for any choice. Source: Miller & Hardt, Proposition 1.
"""

from __future__ import annotations

import torch

from impl.cells.gated.gate import tanh_up
from impl.cells.gated.gru import Open
from impl.cells.gated.lstm import Box
from impl.norms.weighted import perron_vector
from impl.numbers.outward import div_up, subtract_down, sum_up
from properties.systems.gated.cell import Gated

Tensor = torch.Tensor
# Above the least θ, so that the conditions hold beyond rounding.
ROOM = 1 + 2.0**-40


def gate_constants(gated: Gated) -> dict[str, Tensor]:
    """Every constant of the cells' kind."""
    found = gated.open
    own = of_lstm(gated, found) if isinstance(found, Box) else of_gru(gated, found)
    return own | {"lam_box": gated.comparison.factor(gated.v), "B_x": gated.B_x}


def row_sums(gated: Gated, gates: str) -> dict[str, Tensor]:
    """‖W‖_∞ of each gate."""
    sizes = zip(gates, gated.cell.sizes(), strict=True)
    return {f"W_{gate}_inf": sum_up(size).amax(1) for gate, size in sizes}


def of_lstm(gated: Gated, box: Box) -> dict[str, Tensor]:
    """ī, f̄, ḡ, ō, B_c, τ, the norms, θ with and without the square, and ω."""
    B_c = box.c.amax(1)
    found = {
        "i_bar": box.i.amax(1), "f_bar": box.f.amax(1), "g_bar": box.z.amax(1),
        "o_bar": box.o.amax(1), "B_c": B_c, "tau": tanh_up(B_c),
    }  # fmt: skip
    found |= row_sums(gated, "ifgo")
    thetas = {"theta": theta(found), "theta_plain": theta(found, square=False)}
    return found | thetas | {"omega": omega(found)}


def of_gru(gated: Gated, on: Open) -> dict[str, Tensor]:
    """r̄, z̄ and the least z, the norms and ‖b_hn‖_∞."""
    found = {
        "r_bar": on.r.amax(1), "z_bar": on.update.sigmoid().amax(1),
        "z_low": on.update.sigmoid_low().amin(1),
        "c_n_inf": gated.cell.b_hh.detach()[:, 2 * gated.cell.n :].abs().amax(1),
    }  # fmt: skip
    return found | row_sums(gated, "rzn")


def theta(of: dict[str, Tensor], square: bool = True) -> Tensor:
    """The least θ < 1 with ‖W_i‖, ‖W_o‖, 4‖W_g‖ ≤ θ(1 − f̄) and ‖W_f‖ ≤ θ(1 − f̄)², or without that
    square; infinite where there is none."""
    room = subtract_down(1.0, of["f_bar"])
    forget = div_up(of["W_f_inf"], room) if square else of["W_f_inf"]
    rows = torch.stack([of["W_i_inf"], of["W_o_inf"], 4 * of["W_g_inf"], forget])
    found = div_up(rows.amax(0), room) * ROOM
    return torch.where(found < 1, found, torch.inf)


def omega(of: dict[str, Tensor]) -> Tensor:
    """ω = v_h/v_c of Perron's vector of [f̄, a; ō f̄, q + ō a]."""
    f, o = of["f_bar"], of["o_bar"]
    a = of["W_i_inf"] * of["g_bar"] / 4 + of["i_bar"] * of["W_g_inf"]
    a = a + of["W_f_inf"] * of["B_c"].clamp(max=1e9) / 4
    rows = torch.stack([f, a, o * f, of["W_o_inf"] * of["tau"] / 4 + o * a], dim=1)
    v = perron_vector(rows.reshape(-1, 2, 2)).weights
    return (v[:, 1] / v[:, 0]).nan_to_num(1.0).clamp(2.0**-20, 2.0**20)
