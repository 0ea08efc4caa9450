"""The dense norm certifies what another statement of its matrix inequality finds in floats."""

import numpy as np
import pytest
import torch

from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.norms.solver import is_installed
from rnnbounds.impl.reading.adapters import load_model

pytestmark = pytest.mark.skipif(not is_installed(), reason="the extra sdp is not installed")
RATE, MARGIN = 0.999, 1e-6  # of a step, and of the matrix: what floats take for certified


def network(seed, n=8):
    """A random tanh network."""
    W = 0.8 * np.random.default_rng(seed).standard_normal((n, n)) / n**0.5
    return W * (0.5 + seed % 8 / 7)


def basis(n):
    """Symmetric unit matrices (n(n + 1)/2, n, n)."""
    found = []
    for i in range(n):
        for j in range(i + 1):
            E = np.zeros((n, n))
            E[i, j] = E[j, i] = 1.0
            found.append(E)
    return np.stack(found)


def svec(matrices):
    """The triangles (m, N(N + 1)/2) of symmetric matrices, so that ⟨a, b⟩ = tr AB."""
    N = matrices.shape[1]
    at = [(i, j) for j in range(N) for i in range(j + 1)]
    scale = np.array([1.0 if i == j else 2**0.5 for i, j in at])
    return np.stack([matrices[:, i, j] for i, j in at], axis=1) * scale


def margin(W, rate):
    """The largest t with [[rate² P, −WᵀΛ], [−ΛW, 2Λ − P]] ⪰ tI, Λ ≥ 0 diagonal, tr P = n: by one
    semidefinite program over P, Λ and t, in the coordinates of the network."""
    import clarabel
    from scipy import sparse

    n = len(W)
    parts = []
    for E in basis(n):
        parts.append(np.block([[rate**2 * E, np.zeros((n, n))], [np.zeros((n, n)), -E]]))
    for i in range(n):
        row = np.zeros((n, n))
        row[i] = W[i]
        unit = np.diag(np.eye(n)[i])
        parts.append(np.block([[np.zeros((n, n)), -row.T], [-row, 2 * unit]]))
    parts.append(-np.eye(2 * n))
    rows = svec(np.stack(parts)).T
    count = rows.shape[1]
    trace = np.concatenate([[np.trace(E) for E in basis(n)], np.zeros(n + 1)])[None]
    positive = np.zeros((n, count))
    positive[:, -n - 1 : -1] = np.eye(n)
    A = sparse.csc_matrix(np.concatenate([trace, -positive, -rows]))
    b = np.concatenate([[n], np.zeros(n + len(rows))])
    cost = np.zeros(count)
    cost[-1] = -1.0
    cones = [
        clarabel.ZeroConeT(1),
        clarabel.NonnegativeConeT(n),
        clarabel.PSDTriangleConeT(2 * n),
    ]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    nothing = sparse.csc_matrix((count, count))
    solution = clarabel.DefaultSolver(nothing, cost, A, b, cones, settings).solve()
    return solution.x[-1] if str(solution.status) == "Solved" else -np.inf


def certified(W):
    """λ in the norm that ships."""
    tensors = {"weight_hh": torch.from_numpy(W), "weight_ih": torch.ones(len(W), 1).double()}
    analysis = kind_of("rnn-tanh").analyse(load_model(tensors, "rnn-tanh"), 1.0)
    return analysis.norm("quadratic-sdp").lam


@pytest.mark.slow
def test_all_that_floats_find_is_certified():
    """No network for which the program has room at that rate is left out, and some have none."""
    found = [(margin(W, RATE) > MARGIN, certified(W)) for W in map(network, range(12))]
    assert all(lam < 1 for floats, lam in found if floats)
    assert 0 < sum(floats for floats, _ in found) < len(found)
