"""Checks of certificates in plain NumPy floats: a judge that shares nothing with a checker.

All that it allows is a part in 10⁹, for its own rounding.
"""

import math

import numpy as np

SLOPE = {"rnn-sigmoid": 0.25}
BOUND = {"rnn-tanh": 1.0, "rnn-sin": 1.0, "rnn-sigmoid": 1.0}
FUNCTION = {
    "rnn-tanh": np.tanh,
    "rnn-relu": lambda z: np.maximum(z, 0),
    "linear": lambda z: z,
    "rnn-sin": np.sin,
    "rnn-sigmoid": lambda z: 1 / (1 + np.exp(-z)),
}
UNIT = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}
MORE = 1 + 1e-9


def true_of_truncated(told, weights):
    """True if the truncated certificate is true of the weights by role."""
    cell, named = told["cell"], told["constants"]
    W, U = weights["weight_hh"], weights["weight_ih"]
    n, B, lam = len(W), told["input_bound"], told["lambda"]
    b = weights.get("bias_ih", np.zeros(n)) + weights.get("bias_hh", np.zeros(n))
    L, M = SLOPE.get(cell, 1.0), BOUND.get(cell, math.inf)
    offset = np.abs(FUNCTION[cell](b))
    size = {name: math.inf if value is None else value for name, value in named.items()}
    factor, drive, C, c = one_step(told["norm"], told["weights"], W, U, offset, L, B)
    _, fed, _, _ = one_step(told["norm"], told["weights"], W, U, 0 * offset, L, 1.0)
    g, fed_units = np.array(told.get("unit_gains", [math.nan] * n)), np.linalg.norm(U, axis=1)
    driven = g.shape == (n,) and (L * (np.abs(W) @ g + fed_units) <= g * MORE).all()
    by_units = np.linalg.norm(g) if driven else math.inf
    contracts, corner = factor <= lam * MORE, largest(told["norm"], told["weights"], n)
    plain = euclidean(np.eye(n), U, offset, L, B)
    reached = [
        (size["drive"], drive), (size["equivalence"], C), (size["reach"], c),
        (size["L_rho"], L), (size["M_rho"], M), (size["W_norm"], np.linalg.norm(W, 2)),
        (size["U_norm"], np.linalg.norm(U, 2)), (size["L_x"], L * np.linalg.norm(U, 2)),
        (size["S_0"], plain), (size["radius"], M * corner),
        (size["gain"], min(C * fed / (1 - lam) if lam < 1 else math.inf, by_units)),
        (size["B_h"], min(C * drive / (1 - lam), M * n**0.5) if lam < 1 else math.inf),
    ]  # fmt: skip
    start = min(size["drive"] / (1 - lam) if lam < 1 else math.inf, size["radius"])
    windows = [
        (entry["eps"], size["equivalence"] * start * lam ** entry["k"])
        for entry in told["truncation"]
    ]
    state, unit = told["rounding"]["state"], UNIT[told["dtype"]]
    rounds = state is None or state >= 0.1 * unit * C * c * np.linalg.norm(offset)
    return bool(
        lam < 1
        and contracts
        and rounds
        and size["B_x"] == B
        and (told["shape"]["n"], told["shape"]["d"]) == U.shape
        and all(least <= claimed * MORE for claimed, least in reached + windows)
    )


def euclidean(Q, U, offset, L, B):
    """sup ‖Qφ(0, x)‖₂, from above."""
    return L * np.linalg.norm(Q @ U, 2) * B + np.linalg.norm(np.abs(Q) @ offset)


def multiplied(Q, multipliers, W, U, offset, L, B):
    """The factor, the drive, C and c of ‖Q·‖₂ with multipliers for slopes in [0, L]."""
    P, drive = Q.T @ Q, euclidean(np.eye(len(Q)), U, offset, L, B)
    units = L * np.linalg.norm(U, axis=1) * B + offset
    least = min(np.linalg.norm(Q, 2) * drive, np.linalg.norm(np.abs(Q) @ units))
    ends = np.linalg.norm(np.linalg.inv(Q), 2), np.linalg.norm(Q, 2)
    rest = 2 * np.diag(multipliers) - P
    if (multipliers < 0).any() or np.linalg.eigvalsh(rest).min() <= 0:
        return np.inf, least, *ends
    half = np.linalg.solve(np.linalg.cholesky(rest), L * multipliers[:, None] * W)
    return np.linalg.norm(half @ np.linalg.inv(Q), 2), least, *ends


def one_step(norm, weights, W, U, offset, L, B):
    """The factor, the drive, C and c of a norm."""
    n = len(W)
    units = L * np.linalg.norm(U, axis=1) * B + offset
    if norm == "one":
        return L * np.abs(W).sum(0).max(), units.sum(), 1.0, n**0.5
    if norm in ("infinity", "perron"):
        v = np.array(weights if norm == "perron" else np.ones(n))
        factor = (L * np.abs(W) @ v / v).max()
        return factor, (units / v).max(), np.linalg.norm(v), 1 / v.min()
    if norm == "quadratic-sdp":
        return multiplied(np.array(weights[:-1]), np.array(weights[-1]), W, U, offset, L, B)
    Q = np.eye(n) if norm == "spectral" else np.array(weights)
    Q = Q if Q.ndim == 2 else np.diag(Q)
    inverse = np.linalg.inv(Q)
    factor = L * np.linalg.norm(Q @ W @ inverse, 2)
    return factor, euclidean(Q, U, offset, L, B), np.linalg.norm(inverse, 2), np.linalg.norm(Q, 2)


def largest(norm, weights, n):
    """The norm of a state of n units that are all 1 at most."""
    v = np.array(np.ones(n) if weights is None else weights)
    v = v[:-1] if norm == "quadratic-sdp" else v
    if norm == "one":
        return n
    if norm in ("infinity", "perron"):
        return (1 / v).max()
    return np.linalg.norm(np.abs(v) if v.ndim == 1 else np.abs(v).sum(1))


def true_of_unitary(told, V, U, b_ih, b_hh):
    """True if the unitary certificate is true of a file's float64 weights."""
    n, d = told["shape"]["n"], told["shape"]["d"]
    if (len(V), U.shape[1]) != (told["states"], d) or not 0 < 2 * n == told["states"]:
        return False
    W, inputs, start = V[:n, :n], U[:n], np.array(told["initial_state"])
    offset = np.maximum(b_ih[:n] + b_hh[:n], 0)
    named, B, defect = told["constants"], told["input_bound"], V.T @ V - np.eye(len(V))
    lam = named["W_norm"]
    if not lam < 1:
        return False
    drive = named["U_norm"] * B + np.linalg.norm(offset)
    states = max(np.linalg.norm(start), drive / (1 - lam))
    computed, rows = named["B_h_computed"], np.linalg.norm(V[n:, :n], axis=1)
    claims = [
        (lam, np.linalg.norm(W, 2)), (named["U_norm"], np.linalg.norm(inputs, 2)),
        (named["B_h"], states), (math.inf if computed is None else computed, states),
        (told["orthogonality_defect"] + 1e-14, np.linalg.norm(defect)),
        *((-b, row * named["B_h"]) for b, row in zip(b_ih[n:], rows, strict=True)),
    ]  # fmt: skip
    exact = told["difference"]["exact"] == 0 and not U[n:].any() and not b_hh[n:].any()
    return bool(exact and all(least <= claimed * MORE for claimed, least in claims))
