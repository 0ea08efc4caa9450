"""Steps against the formulas of their papers, written out in NumPy; those of torch's own layers are
compared with torch in `stacks/test_stack.py`.

Sources: Cho et al. (2014); Jaeger (2001); Pascanu et al. (2014); Orvieto et al. (2023); Gu, Goel
and Ré (2022); Feng et al. (2024); Gu and Dao (2023).
"""

import numpy as np
import pytest
from cell_systems import weights_of
from program_draws import KIND, SAMPLES, inputs, weights

from rnnbounds.impl.cells.table import kind_of

RHO = {
    "tanh": np.tanh,
    "relu": lambda a: np.maximum(a, 0),
    "softplus": lambda a: np.logaddexp(0, a),
}


def sigmoid(a):
    """1/(1 + e^{−a})."""
    return 1 / (1 + np.exp(-a))


def affine(w, gate, x):
    """W x + b of a gate."""
    return w[f"weight_{gate}"] @ x + w.get(f"bias_{gate}", 0.0)


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


def diagonal(w, h, x, rho):
    """s⁺ = Λ s + B̄ x + b, its real parts and then, where Λ is complex, the imaginary ones."""
    fed = w["B_re"] + 1j * w.get("B_im", 0.0)
    if "nu_log" in w:
        lam = np.exp(-np.exp(w["nu_log"]) + 1j * np.exp(w["theta_log"]))
        fed = np.exp(w["gamma_log"])[:, None] * fed
    elif "log_dt" in w:
        A, dt = -np.exp(w["log_A_real"]) + 1j * w["A_imag"], np.exp(w["log_dt"])
        lam, fed = np.exp(dt * A), ((np.exp(dt * A) - 1) / A)[:, None] * fed
    elif "log_step" in w:
        A, dt = w["Lambda_re"] + 1j * w["Lambda_im"], np.exp(w["log_step"])
        lam, fed = np.exp(dt * A), ((np.exp(dt * A) - 1) / A)[:, None] * fed
    elif "time_decay" in w:
        lam = np.exp(-np.exp(w["time_decay"])) + 0j
    else:
        lam = w["lambda_re"] + 1j * w.get("lambda_im", 0.0)
    n = len(lam)
    found = lam * (h[:n] + 1j * (h[n:] if len(h) > n else 0)) + fed @ x
    return np.concatenate([found.real, found.imag])[: len(h)] + w.get("b", 0.0)


def min_gru(w, h, x, rho):
    """h⁺ = (1 − z) h + z (W_h x + b_h)."""
    z = sigmoid(affine(w, "z", x))
    return (1 - z) * h + z * affine(w, "h", x)


def min_lstm(w, h, x, rho):
    """h⁺ = (f h + i (W_h x + b_h))/(f + i)."""
    f, i = sigmoid(affine(w, "f", x)), sigmoid(affine(w, "i", x))
    return (f * h + i * affine(w, "h", x)) / (f + i)


def selective(w, h, x, rho):
    """h⁺ = e^{−Δ e^A} h + Δ (W_B x + b_B), Δ = softplus(W_Δ x + b_Δ)."""
    delta = np.logaddexp(0, affine(w, "delta", x))
    return np.exp(-delta * np.exp(w["A_log"])) * h + delta * affine(w, "B", x)


def gated_scan(w, h, x, rho):
    """h⁺ = σ(c tanh(z/c)) h + V x, z = W_f x + b_f, or σ(z) h + V x."""
    z = affine(w, "f", x)
    f = sigmoid(w["cap"] * np.tanh(z / w["cap"]) if "cap" in w else z)
    return f * h + w["weight_v"] @ x


def rg_lru(w, h, x, rho):
    """h⁺ = a h + √(1 − a²) i (W_x x), a = e^{−8 r softplus(p)}."""
    r, i = sigmoid(affine(w, "a", x)), sigmoid(affine(w, "i", x))
    a = np.exp(-8 * r * np.logaddexp(0, w["recurrent_param"]))
    return a * h + np.sqrt(1 - a * a) * i * (w["weight_x"] @ x)


FORMULAS = {"leaky": leaky, "deep": deep, "diagonal": diagonal, "min-gru": min_gru,
            "min-lstm": min_lstm, "selective": selective, "gated-scan": gated_scan,
            "rg-lru": rg_lru}  # fmt: skip


@pytest.mark.parametrize("name", [*SAMPLES, "gru-cho"])
def test_steps_are_the_published_ones(name):
    """Along a run from zero, to rounding."""
    kind = kind_of(KIND.get(name, name))
    held = weights(name, seed=3) if name in SAMPLES else weights_of(name, n=4, d=2)
    held = {role.removesuffix(kind.suffix): part.double() for role, part in held.items()}
    family, _, rho = kind.name.partition("-") if kind.name not in FORMULAS else (kind.name, "", "")
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
