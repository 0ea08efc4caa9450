"""Steps against the formulas of their papers, written out in NumPy; those of torch's own layers are
compared with torch in `stacks/test_stack.py`.

Sources: Cho et al. (2014); Jaeger (2001); Pascanu et al. (2014).
"""

import numpy as np
import pytest
from cell_systems import weights_of
from program_draws import SAMPLES, inputs, weights

from rnnbounds.impl.cells.table import kind_of

RHO = {
    "tanh": np.tanh,
    "relu": lambda a: np.maximum(a, 0),
    "softplus": lambda a: np.logaddexp(0, a),
}


def sigmoid(a):
    """1/(1 + e^{−a})."""
    return 1 / (1 + np.exp(-a))


def cho(w, h, x, rho):
    """h⁺ = (1 − z) tanh(U_n x + b_n + W_n(r∘h)) + z h."""
    W_r, W_z, W_n = np.split(w["weight_hh"], 3)
    r, z, n = np.split(w["weight_ih"] @ x + w["bias_ih"] + w["bias_hh"], 3)
    r, z = sigmoid(r + W_r @ h), sigmoid(z + W_z @ h)
    return (1 - z) * np.tanh(n + W_n @ (r * h)) + z * h


def leaky(w, h, x, rho):
    """h⁺ = (1 − a) h + a ρ(W h + U x + b)."""
    return (1 - w["leak"]) * h + w["leak"] * rho(w["W"] @ h + w["W_in"] @ x + w["b"])


def deep(w, h, x, rho):
    """h⁺ = ρ(W_2 ρ(W_1 h + U x) + b_2)."""
    first = rho(w["transition_1_weight"] @ h + w["input_weight"] @ x)
    return rho(w["transition_2_weight"] @ first + w["transition_2_bias"])


FORMULAS = {"leaky": leaky, "deep": deep}


@pytest.mark.parametrize("name", [*SAMPLES, "gru-cho"])
def test_steps_are_the_published_ones(name):
    """Along a run from zero, to rounding."""
    kind = kind_of(name)
    held = weights(name, seed=3) if name in SAMPLES else weights_of(name, n=4, d=2)
    held = {role.removesuffix(kind.suffix): part.double() for role, part in held.items()}
    family, _, rho = name.partition("-")
    formula = cho if name == "gru-cho" else FORMULAS[family]
    plain = {role: part.numpy() for role, part in held.items()}
    x = inputs(1, 12, 2, 1.0)[0]
    s = x.new_zeros(1, kind.layout(held).sizes(held).state)
    h = s[0].numpy()
    for row in x:
        s = kind.step(held, kind.drive(held, row[None]), s)
        h = formula(plain, h, row.numpy(), RHO.get(rho))
        assert np.allclose(s[0].numpy(), h, rtol=0, atol=1e-13)
    assert np.abs(h).max() > 1e-2
