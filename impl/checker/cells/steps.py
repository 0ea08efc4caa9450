"""One step of each cell with gates or layers of its own, over units in balls.

Written anew from the formulas: LSTM and GRU as torch documents them (gates i, f, g, o and r, z, n),
Cho et al. (2014), Jaeger et al. (2007), Pascanu et al. (2014).
"""

from collections.abc import Mapping

from rnnbounds.impl.checker.cells.activations import BALL_ACTIVATIONS
from rnnbounds.impl.checker.cells.layouts import activation
from rnnbounds.impl.checker.cells.units import Step, Units, Weights, joined, mixed

_SIGMOID, _TANH = BALL_ACTIVATIONS["rnn-sigmoid"], BALL_ACTIVATIONS["rnn-tanh"]


def step_of(cell: str) -> Step:
    """(weights, state, input) ↦ next state, of a cell that is not vanilla, by its name."""
    if cell in _STEPS:
        return _STEPS[cell]
    if cell.startswith("leaky-"):
        return _leaky(cell)
    return _deep(cell)


def _lstm(m: Weights, s: Units, x: Units) -> Units:
    """c⁺ = σ(f)∘c + σ(i)∘tanh(g), h⁺ = σ(o)∘tanh(c⁺), or R h⁺."""
    n = len(m.stored["weight_ih"]) // 4
    c, h = s.part(0, n), s.part(n, len(s))
    fed = m.affine("weight_ih", "bias_ih", x) + m.affine("weight_hh", "bias_hh", h)
    i, f, g, o = fed.chunk(4)
    c = f.through(_SIGMOID) * c + i.through(_SIGMOID) * g.through(_TANH)
    h = o.through(_SIGMOID) * c.through(_TANH)
    return joined(c, m.affine("weight_hr", None, h) if "weight_hr" in m else h)


def _gru(m: Weights, h: Units, x: Units) -> Units:
    """h⁺ = (1 − z)∘tanh(U_n x + b + r∘(W_n h + c)) + z∘h."""
    u_r, u_z, u_n = m.affine("weight_ih", "bias_ih", x).chunk(3)
    w_r, w_z, w_n = m.affine("weight_hh", "bias_hh", h).chunk(3)
    reset = (u_r + w_r).through(_SIGMOID)
    return mixed((u_z + w_z).through(_SIGMOID), h, (u_n + reset * w_n).through(_TANH))


def _gru_cho(m: Weights, h: Units, x: Units) -> Units:
    """h⁺ = (1 − z)∘tanh(U_n x + b + W_n (r∘h) + c) + z∘h."""
    n = len(h)
    u_r, u_z, u_n = m.affine("weight_ih", "bias_ih", x).chunk(3)
    w_r, w_z = m.affine("weight_hh", "bias_hh", h, slice(0, 2 * n)).chunk(2)
    reset = (u_r + w_r).through(_SIGMOID)
    w_n = m.affine("weight_hh", "bias_hh", reset * h, slice(2 * n, 3 * n))
    return mixed((u_z + w_z).through(_SIGMOID), h, (u_n + w_n).through(_TANH))


def _leaky(cell: str) -> Step:
    """h⁺ = (1 − a)∘h + a∘ρ(W h + W_in x + b)."""
    rho = BALL_ACTIVATIONS[activation(cell)]

    def step(m: Weights, h: Units, x: Units) -> Units:
        fed = m.affine("W_in", "b", x) + m.affine("W", None, h)
        return mixed(m.constant("leak"), fed.through(rho), h)

    return step


def _deep(cell: str) -> Step:
    """h⁺ = g_L ∘ … ∘ g_1(h), g_l(u) = ρ(W_l u + [l = 1] U x + b_l)."""
    rho = BALL_ACTIVATIONS[activation(cell)]

    def step(m: Weights, h: Units, x: Units) -> Units:
        layer = 1
        while f"transition_{layer}_weight" in m:
            h = m.affine(f"transition_{layer}_weight", f"transition_{layer}_bias", h)
            h = (h + m.affine("input_weight", None, x) if layer == 1 else h).through(rho)
            layer += 1
        return h

    return step


_STEPS: Mapping[str, Step] = {
    "lstm": _lstm,
    "lstm-projected": _lstm,
    "gru": _gru,
    "gru-cho": _gru_cho,
}
