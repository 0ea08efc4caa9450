"""What the control literature certifies, `certify` does too, and with no longer a memory.

The published conditions are those of the experiment on norms, in plain floats: none of them is a
norm of its own, since the comparison of a cell on its box has no larger an entry than theirs.
"""

import math

import numpy as np
import pytest
import torch

from rnnbounds.experiments.stable.gated_cells import GATES
from rnnbounds.experiments.stable.published import (
    CONDITIONS,
    Condition,
    damico_condition,
    largest_preactivation,
    sigmoid,
    split_gates,
    state_bound_factor,
)
from rnnbounds.impl.arithmetic.inputs.sets import input_box
from rnnbounds.impl.certificate.certify import certify

EPSILON = 1e-3
EACH = [(cell, one) for cell, some in CONDITIONS.items() for one in some]


def drawn(seed: int, cell: str, condition: Condition, target: float) -> dict[str, torch.Tensor]:
    """Random weights, as large as the condition certifies with that λ; a few gates lean one way."""
    rng = np.random.default_rng([seed, GATES[cell]])
    n, d, count = int(rng.integers(1, 9)), int(rng.integers(1, 4)), GATES[cell]
    shapes = {"weight_hh": (n, n), "weight_ih": (n, d), "bias_ih": (n,), "bias_hh": (n,)}
    each = 4.0 ** rng.uniform(-2, 1, (count, len(shapes)))
    weights = {
        name: np.concatenate([each[g, j] * rng.standard_normal(shape) for g in range(count)])
        for j, (name, shape) in enumerate(shapes.items())
    }
    low, high = 0.0, 64.0
    for _ in range(50):
        middle = (low + high) / 2
        told = condition.evaluate({name: middle * part for name, part in weights.items()}, EPSILON)
        low, high = (middle, high) if told.lam < target else (low, middle)
    return {name: torch.from_numpy(low * part) for name, part in weights.items()}


@pytest.mark.slow
@pytest.mark.parametrize(("cell", "condition"), EACH, ids=[one.name for _, one in EACH])
@pytest.mark.parametrize("seed", range(8))
def test_certified_like_the_published_condition(cell, condition, seed):
    """LSTMs and GRUs of 1 to 8 units, near the edge of the condition and within."""
    weights = drawn(seed, cell, condition, (0.999, 0.99, 0.9, 0.7)[seed % 4])
    told = condition.evaluate({role: part.numpy() for role, part in weights.items()}, EPSILON)
    inputs = input_box(-1.0, 1.0, weights["weight_ih"].shape[1])
    found = certify(weights, inputs, (EPSILON,), cell=cell)
    assert told.k is not None
    assert found.verdict == "certified"
    assert found.window(EPSILON) <= told.k


def scalar(*rows: tuple[float, float, float]) -> dict[str, np.ndarray]:
    """One unit with one input: U, W and b of each gate."""
    U, W, b = (np.array(column)[:, None] for column in zip(*rows, strict=True))
    return {"weight_hh": U, "weight_ih": W, "bias_ih": b[:, 0], "bias_hh": 0 * b[:, 0]}


@pytest.mark.parametrize("seed", range(8))
def test_schur_is_the_published_inequality(seed):
    """λ < 1 of the matrix is −1 + σ̄_f + ασ̄_o + u < σ̄_f u < 1, u = ¼ tanh C̄ ‖U_o‖₂."""
    rng = np.random.default_rng(seed)
    weights = {
        "weight_hh": rng.normal(0, 0.4, (12, 3)), "weight_ih": rng.normal(0, 0.3, (12, 2)),
        "bias_ih": rng.normal(0, 0.3, 12), "bias_hh": np.zeros(12),
    }  # fmt: skip
    parts = split_gates(weights, 4)
    i, f, o = (sigmoid(largest_preactivation(parts[j])) for j in (0, 1, 3))
    c = math.tanh(largest_preactivation(parts[2]))
    U_i, U_f, U_c, U_o = (np.linalg.norm(gate[0], 2) for gate in parts)
    C = i * c / (1 - f)
    alpha, u = U_f * C / 4 + i * U_c + U_i * c / 4, math.tanh(C) * U_o / 4
    published = -1 + f + alpha * o + u < f * u < 1
    terzi = CONDITIONS["lstm"][0]
    assert (terzi.evaluate(weights, EPSILON).lam < 1) == published


def test_attained_by_linear_units():
    """A factor of each condition is that of its cell where all are attained: a GRU whose gates do
    not see the state, an LSTM that only keeps."""
    gru = scalar((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.5, 0.0, 0.0))
    z = sigmoid(1.0)
    for cell in ("gru", "gru-cho"):
        (condition,) = CONDITIONS[cell]
        assert condition.evaluate(gru, EPSILON).lam == pytest.approx(z + (1 - z) * 0.25)
    lstm = scalar((0.0, 0.0, 0.0), (0.0, 0.0, 2.0), (0.0, 0.5, 0.0), (0.0, 0.0, 0.0))
    for condition in CONDITIONS["lstm"]:
        assert condition.evaluate(lstm, EPSILON).lam == pytest.approx(sigmoid(2.0))


def test_bias_within_the_reset_gate():
    """Of torch's GRU c_n counts, as in no condition on Cho's: with it the cell moves faster."""
    weights = scalar((2.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.5, 0.0, 0.0))
    weights["bias_hh"] = np.array([0.0, 0.0, 3.0])
    torchs, chos = (
        CONDITIONS[cell][0].evaluate(weights, EPSILON).lam for cell in ("gru", "gru-cho")
    )
    assert torchs > chos
    z = sigmoid(1.0)
    kappa = 0.5 * (0.5 + sigmoid(2.0)) + 0.5 * 3.0
    assert torchs == pytest.approx(max(a + (1 - a) * kappa for a in (1 - z, z)))


def test_bounded_states_may_be_remembered():
    """The ∞-norm condition of De Carli et al. holds of an LSTM with two stable states under the
    input 0: it is none on memory, and `certify` refutes this one."""
    weights = scalar((10.0, 0.0, -5.0), (0.0, 0.0, 0.0), (0.0, 0.0, 5.0), (0.0, 0.0, 10.0))
    assert state_bound_factor(weights) == sigmoid(0.0) < 1
    told = certify(
        {role: torch.from_numpy(part) for role, part in weights.items()},
        input_box(0.0, 0.0, 1),
        cell="lstm",
    )
    assert told.verdict == "refuted"
    ends = []
    for c in (0.0, 2.0):
        for _ in range(100):
            h = sigmoid(10.0) * math.tanh(c)
            c = sigmoid(0.0) * c + sigmoid(10.0 * h - 5.0) * math.tanh(5.0)
        ends.append(c)
    assert ends[0] < 0.1 < 1.9 < ends[1]


@pytest.mark.parametrize("seed", range(4))
def test_diagonal_lyapunov_matrix(seed):
    """AᵀPA ≺ P, P = D², if and only if the factor of D is below 1, and the diagonal norm that
    `certify` finds is then no larger, but for what a solver leaves."""
    rng = np.random.default_rng(seed)
    A, d = rng.normal(0, 0.45, (4, 4)), np.exp(rng.normal(0, 0.5, 4))
    told = damico_condition(A, np.ones((4, 1)), d, 1.0, EPSILON)
    P = np.diag(d**2)
    assert (told.lam < 1) == (np.linalg.eigvalsh(A.T @ P @ A - P).max() < 0)
    weights = {"weight_hh": torch.from_numpy(A), "weight_ih": torch.ones(4, 1).double()}
    if told.lam < 0.99:
        assert certify(weights, 1.0, (EPSILON,), cell="rnn-tanh").verdict == "certified"
