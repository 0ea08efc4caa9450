"""The numbers of vanilla networks, of all members of a batch, from a spec's own streams."""

from __future__ import annotations

import numpy as np

from rnnbounds.properties.systems.drawing.matrices import DRAWS, made_of, recurrent_matrices
from rnnbounds.properties.systems.drawing.regimes import (
    LOSS,
    Array,
    all_normals,
    gridded,
    input_shapes,
    loss_shapes,
    losses,
    streams,
)
from rnnbounds.properties.systems.spec import SystemSpec


def drawn(spec: SystemSpec) -> dict[str, Array]:
    """W, U, b, C, what is random in x, h and h_other (B, S, n); y of a loss, and W2, U2, b2 where
    the kind has second weights."""
    n, d, S = spec.n, spec.d, spec.sequences
    W = recurrent_matrices(spec, streams(spec))
    U, b, C = all_normals(spec, 1, (n, d), (n,), (min(n, 2), n))
    U, b = U / 2, spec.bias * b
    found = {"W": W, "U": U, "b": b, "C": C}
    if spec.has("loss"):
        found |= losses(spec, C, all_normals(spec, LOSS, *loss_shapes(spec, C)))
    if spec.paired:
        found |= other_weights(spec, W, U, b)
    shapes = input_shapes(spec, found["C"].shape[1])
    *_, found["x"], h, h_other = all_normals(spec, 2, *shapes, (S, n), (S, n))
    shrink = np.ldexp(np.ones(S), -3 * (np.arange(S) // 2))[:, None]
    h, h_other = shrink * h, shrink * h_other
    h_other[:, 1::2] = -h[:, 1::2]
    return found | {"h": h, "h_other": h_other}


def other_weights(spec: SystemSpec, W: Array, U: Array, b: Array) -> dict[str, Array]:
    """Second weights at about the spec's distance τ, equal in what is not trained.

    W' = (1 − τ)W + τV with V of the same regime, so that ‖W'‖₂ ≤ lam (−W for a scalar, which has
    only two); for matrices alone W' = W + τV with a normal V, anywhere.
    """
    tau = spec.distance
    if not spec.has("loss"):
        (V,) = all_normals(spec, 5, W.shape[1:])
        return {"W2": W + tau * V, "U2": U.copy(), "b2": b.copy()}
    V, u, v = -W, np.empty_like(U), np.empty_like(b)
    random = []
    for i, rng in enumerate(streams(spec, 5)):
        if spec.n > 1:
            random.append(DRAWS[spec.regime](spec, rng))
        rng.standard_normal(out=u[i])
        rng.standard_normal(out=v[i])
    if random:
        V = made_of(spec, np.stack(random))
    moved = {
        "W": (1 - tau) * W + tau * V,
        "U": U + tau * gridded(u) / 2,
        "b": b + tau * gridded(v) / 4,
    }
    own = {"W": W, "U": U, "b": b}
    return {f"{name}2": moved[name] if name in spec.trained else own[name].copy() for name in own}


def unit_inputs(spec: SystemSpec) -> dict[str, Array]:
    """Draw a spec's weights, but U = I (n, d), which the witnesses of instability need."""
    found = drawn(spec)
    return found | {"U": np.tile(np.eye(spec.n, spec.d), (len(found["U"]), 1, 1))}
