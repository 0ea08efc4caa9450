"""One step of gated cells beside torch's LSTM and GRU, over units in balls.

Written anew from the formulas: peepholes of Gers & Schmidhuber (2000), ONNX's LSTM and GRU with
activations that the cell's name says, Zhou et al. (2016) and flax's MGUCell for the unit with one
gate, Ravanelli et al. (2018) for the light GRU. Numbers in a name are the nearest float32.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from flint import arb

from rnnbounds.impl.checker.cells.activations import BALL_ACTIVATIONS
from rnnbounds.impl.checker.cells.layouts import RHO, LayoutError
from rnnbounds.impl.checker.cells.units import Step, Units, Weights, joined, mixed, still

Rho = Callable[[Units], Units]
_NUMBER = r"-(-?\d{1,40}(?:\.\d{1,50})?)"
_NAMED = re.compile(rf"([a-z]+(?:-[a-z]+)*)((?:{_NUMBER})*)", re.ASCII)
_EPSILON = 1e-5  # of torch's BatchNorm1d


def activation_named(name: str) -> Rho:
    """The activation of that name; raises LayoutError."""
    if name in RHO:
        return lambda u: u.through(BALL_ACTIVATIONS[RHO[name]])
    match = _NAMED.fullmatch(name)
    numbers = re.findall(_NUMBER, match[2]) if match else []
    form = _FORMS.get((match[1], len(numbers))) if match else None
    values = [float(np.float32(a)) for a in numbers]
    if form is None or not np.isfinite(values).all():
        raise LayoutError("no activation that is known here")
    return form(*map(arb, values))


def _line(a: arb, u: Units, b: arb) -> Units:
    """a u + b."""
    return still([a] * len(u)) * u + still([b] * len(u))


def _relu(u: Units) -> Units:
    return u.through(BALL_ACTIVATIONS["rnn-relu"])


def _clipped(u: Units) -> Units:
    """min(1, max(0, u)) = 1 − max(0, 1 − max(0, u))."""
    one = still([arb(1)] * len(u))
    return one - _relu(one - _relu(u))


def _scaled_tanh(a: arb, b: arb) -> Rho:
    tanh, zero = BALL_ACTIVATIONS["rnn-tanh"], arb(0)
    return lambda u: _line(a, _line(b, u, zero).through(tanh), zero)


_FORMS: Mapping[tuple[str, int], Callable[..., Rho]] = {
    ("hard-sigmoid", 0): lambda: lambda u: _clipped(_line(arb(1) / 6, u, arb(1) / 2)),
    ("hard-sigmoid", 2): lambda a, b: lambda u: _clipped(_line(a, u, b)),
    ("affine", 2): lambda a, b: lambda u: _line(a, u, b),
    ("scaled-tanh", 2): _scaled_tanh,
    ("leaky-relu", 1): lambda a: lambda u: _line(a, u, arb(0)) + _line(1 - a, _relu(u), arb(0)),
}


def lstm(gate: str = "sigmoid", candidate: str = "tanh", output: str = "tanh") -> Step:
    """c⁺ = γ(f + P_f∘c)∘c + γ(i + P_i∘c)∘ρ(g), h⁺ = γ(o + P_o∘c⁺)∘χ(c⁺)."""
    gamma, rho, chi = map(activation_named, (gate, candidate, output))

    def step(m: Weights, s: Units, x: Units) -> Units:
        def peeping(u: Units, name: str, c: Units) -> Units:
            return u + m.constant(f"weight_c{name}") * c if f"weight_c{name}" in m else u

        n = len(m.stored["weight_ih"]) // 4
        c, h = s.part(0, n), s.part(n, 2 * n)
        i, f, g, o = (m.affine("weight_ih", "bias_ih", x)
                      + m.affine("weight_hh", "bias_hh", h)).chunk(4)  # fmt: skip
        c = gamma(peeping(f, "f", c)) * c + gamma(peeping(i, "i", c)) * rho(g)
        return joined(c, gamma(peeping(o, "o", c)) * chi(c))

    return step


def gru(
    gate: str = "sigmoid", candidate: str = "tanh", *, before: bool = False, one: bool = False
) -> Step:
    """h⁺ = (1 − z)∘ν + z∘h, ν = ρ(U_n x + b + r∘(W_n h + c)), or with W_n (r∘h) + c if the reset
    gate acts before the product; of one gate, it is r and z, and 1 − z if it acts before."""
    gamma, rho = activation_named(gate), activation_named(candidate)
    gates = 1 if one else 2

    def step(m: Weights, h: Units, x: Units) -> Units:
        n = len(h)
        parts, new = slice(0, gates * n), slice(gates * n, (gates + 1) * n)
        u = m.affine("weight_ih", "bias_ih", x)
        w = m.affine("weight_hh", "bias_hh", h, parts)
        opened = gamma(u.part(0, gates * n) + w)
        r, z = opened.part(0, n), opened.part((gates - 1) * n, gates * n)
        w_n = (m.affine("weight_hh", "bias_hh", r * h, new) if before
               else r * m.affine("weight_hh", "bias_hh", h, new))  # fmt: skip
        nu = rho(u.part(gates * n, (gates + 1) * n) + w_n)
        return mixed(z, nu, h) if one and before else mixed(z, h, nu)

    return step


def li_gru(candidate: str) -> Step:
    """h⁺ = z∘h + (1 − z)∘ρ(a), (a, z) from γ∘(w x − μ)/√(σ² + ε) + β + u h."""
    rho = activation_named(candidate)

    def step(m: Weights, h: Units, x: Units) -> Units:
        scale = [a / (arb(_EPSILON) + v).sqrt()
                 for a, v in zip(m.vector("norm_weight"), m.vector("norm_running_var"),
                                 strict=True)]  # fmt: skip
        fed = still(scale) * (m.affine("w_weight", None, x) - m.constant("norm_running_mean"))
        nu, z = (fed + m.constant("norm_bias") + m.affine("u_weight", None, h)).chunk(2)
        return mixed(z.through(BALL_ACTIVATIONS["rnn-sigmoid"]), h, rho(nu))

    return step


_STEPS: Mapping[str, Any] = {
    "lstm": lstm,
    "lstm-peephole": lstm,
    "gru": gru,
    "gru-cho": lambda *names: gru(*names, before=True),
    "mgu": lambda: gru(one=True),
    "mgu-zhou": lambda: gru(one=True, before=True),
}


def gated_step(cell: str) -> Step:
    """The step of a cell whose layout is known, by its name; raises LayoutError."""
    if cell.startswith("li-gru-"):
        return li_gru(cell.removeprefix("li-gru-"))
    base, *names = cell.split("+")
    step: Step = _STEPS[base](*names)
    return step
