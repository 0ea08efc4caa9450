"""What the control literature certifies, `certify` does too, and with no longer a memory.

The published conditions are written here in plain floats, as oracles: none of them is a norm of its
own, since the comparison of a cell on its box has no larger an entry than theirs. All of them are
about inputs with |u|_∞ ≤ 1, and follow from one step of two runs.

Terzi, Bonassi, Farina & Scattolini (2021), Learning model predictive control with long short-term
memory networks: with σ̄ = σ(‖[W U b]‖_∞) of the gates, φ̄_c = tanh(‖[W U b]‖_∞) of the candidate and
C̄ = σ̄_i φ̄_c/(1 − σ̄_f),

    ‖Δc⁺‖₂ ≤ σ̄_f ‖Δc‖₂ + α ‖Δh‖₂,    ‖Δh⁺‖₂ ≤ σ̄_o ‖Δc⁺‖₂ + ¼ tanh C̄ ‖U_o‖₂ ‖Δh‖₂,
    α = ¼‖U_f‖₂ C̄ + σ̄_i ‖U_c‖₂ + ¼‖U_i‖₂ φ̄_c,

so that the LSTM is δISS if the matrix of these is Schur; the same holds in ∞-norms.
Bonassi, Farina & Scattolini (2021), On the stability properties of gated recurrent units: with
κ = ‖U_r‖_∞ (¼‖U_f‖_∞ + σ̄_f), as |x| ≤ 1 and |x − ν| ≤ 1 + φ̄_r,

    ‖Δx⁺‖_∞ ≤ (z + (1 − z) κ + ¼ (1 + φ̄_r) ‖U_z‖_∞) ‖Δx‖_∞,    z ≤ σ̄_z,

below 1 if κ < 1 − ¼ (1 + φ̄_r) ‖U_z‖_∞/(1 − σ̄_z). D'Amico, La Bella & Farina (2022), of a network
x⁺ = f(Ax + Bu): a diagonal P with AᵀPA ≺ P for slopes at most 1, which is a diagonal norm.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

from impl.arithmetic.inputs.sets import input_box
from impl.certificate.certify import certify
from impl.numbers.window import least_window

EPSILON = 1e-3
Oracle = Callable[[dict[str, np.ndarray]], tuple[float, int | None]]


def sigmoid(z: float) -> float:
    """σ."""
    return 1 / (1 + math.exp(-z))


def rows(*parts: np.ndarray) -> float:
    """‖[W U b]‖_∞."""
    return float(np.abs(np.hstack(parts)).sum(1).max())


def gates(weights: dict[str, np.ndarray], count: int) -> list[tuple[np.ndarray, float]]:
    """U and ‖[W U b]‖_∞ of each gate."""
    U = np.split(weights["weight_hh"], count)
    W = np.split(weights["weight_ih"], count)
    b = np.split((weights["bias_ih"] + weights["bias_hh"])[:, None], count)
    return [(one, rows(*parts, one)) for one, *parts in zip(U, W, b, strict=True)]


def terzi(order: float) -> Oracle:
    """λ and k by the Schur matrix, in Euclidean or ∞-norms of c and h."""

    def oracle(weights: dict[str, np.ndarray]) -> tuple[float, int | None]:
        (U_i, i), (U_f, f), (U_c, c), (U_o, o) = gates(weights, 4)
        n = len(U_i)
        i, f, o, c = sigmoid(i), sigmoid(f), sigmoid(o), math.tanh(c)
        if f == 1:
            return math.inf, None
        C = i * c / (1 - f)
        size = [np.linalg.norm(U, order) for U in (U_i, U_f, U_c, U_o)]
        alpha = size[1] * C / 4 + i * size[2] + size[0] * c / 4
        A = np.array([[f, alpha], [o * f, o * alpha + math.tanh(C) * size[3] / 4]])
        lam, vectors = np.linalg.eig(A)
        best = int(lam.real.argmax())
        w, lam = np.abs(vectors[:, best].real), float(lam.real[best])
        root = math.sqrt(n) if order == 2 else 1.0
        scale = root * max(i * c / w[0], o * math.tanh(i * c) / w[1])
        radius = root * max(C / w[0], o * math.tanh(C) / w[1])
        way = w[1] * (1.0 if order == 2 else math.sqrt(n))
        return lam, least_window(way * scale, lam, EPSILON, way * radius)

    return oracle


def bonassi(weights: dict[str, np.ndarray]) -> tuple[float, int | None]:
    """λ and k of a GRU in Cho's convention; r, z, n are f, z, r of the paper."""
    (U_f, f), (U_z, z), (U_r, r) = gates(weights, 3)
    n, f, z, phi = len(U_f), sigmoid(f), sigmoid(z), math.tanh(r)
    F, Z, R = (np.linalg.norm(U, math.inf) for U in (U_f, U_z, U_r))
    kappa = R * (F / 4 + f)
    lam = max(a + (1 - a) * kappa for a in (1 - z, z)) + (1 + phi) * Z / 4
    return lam, least_window(math.sqrt(n) * z * phi, lam, EPSILON, math.sqrt(n))


def drawn(seed: int, gates: int, oracle: Oracle, target: float) -> dict[str, torch.Tensor]:
    """Random weights, as large as the oracle certifies with that λ; a few gates lean one way."""
    rng = np.random.default_rng([seed, gates])
    n, d = int(rng.integers(1, 9)), int(rng.integers(1, 4))
    shapes = {"weight_hh": (n, n), "weight_ih": (n, d), "bias_ih": (n,), "bias_hh": (n,)}
    each = 4.0 ** rng.uniform(-2, 1, (gates, len(shapes)))
    weights = {
        name: np.concatenate([each[g, j] * rng.standard_normal(shape) for g in range(gates)])
        for j, (name, shape) in enumerate(shapes.items())
    }
    low, high = 0.0, 64.0
    for _ in range(50):
        middle = (low + high) / 2
        told = oracle({name: middle * part for name, part in weights.items()})[0]
        low, high = (middle, high) if told < target else (low, middle)
    return {name: torch.from_numpy(low * part) for name, part in weights.items()}


CONDITIONS = {
    "Terzi": ("lstm", 4, terzi(2)),
    "Terzi in the infinity norm": ("lstm", 4, terzi(math.inf)),
    "Bonassi": ("gru-cho", 3, bonassi),
}


def no_worse(name: str, seed: int) -> None:
    """One cell that the condition certifies, barely or well."""
    cell, count, oracle = CONDITIONS[name]
    weights = drawn(seed, count, oracle, (0.999, 0.99, 0.9, 0.7)[seed % 4])
    lam, k = oracle({role: part.numpy() for role, part in weights.items()})
    told = certify(
        weights, input_box(-1.0, 1.0, weights["weight_ih"].shape[1]), (EPSILON,), cell=cell
    )
    assert k is not None
    assert told.verdict == "certified", (name, seed, lam)
    found = told.window(EPSILON)
    assert found is not None
    assert found <= k, (name, seed, lam)


@pytest.mark.slow
@pytest.mark.parametrize("name", CONDITIONS)
@pytest.mark.parametrize("seed", range(16))
def test_certified_like_the_published_condition(name: str, seed: int):
    """LSTMs and GRUs of 1 to 8 units, near the edge of the condition and within."""
    no_worse(name, seed)
