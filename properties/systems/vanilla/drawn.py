"""The numbers of vanilla networks, from a spec's own streams."""

from __future__ import annotations

import numpy as np

from properties.systems.drawing.regimes import (
    Array,
    inputs_and,
    loss_draws,
    normal,
    normals,
    recurrent_matrix,
    stream,
)
from properties.systems.spec import SystemSpec


def drawn(spec: SystemSpec, member: int) -> dict[str, Array]:
    """W, U, b, C, what is random in x, h and h_other (S, n); y of a loss, and W2, U2, b2 where the
    kind has second weights."""
    rng = stream(spec, member)
    n, d, S = spec.n, spec.d, spec.sequences
    W = recurrent_matrix(spec, rng)
    rng = stream(spec, member, 1)
    U, b, C = normals(rng, (n, d), (n,), (min(n, 2), n))
    U, b = U / 2, spec.bias * b
    found = {"W": W, "U": U, "b": b, "C": C}
    if spec.has("loss"):
        found |= loss_draws(spec, member, C)
    if spec.paired:
        found |= other_weights(spec, member, W, U, b)
    rng = stream(spec, member, 2)
    found["x"], h, h_other = inputs_and(spec, rng, len(found["C"]), (S, n), (S, n))
    shrink = np.ldexp(np.ones(S), -3 * (np.arange(S) // 2))[:, None]
    h, h_other = shrink * h, shrink * h_other
    h_other[1::2] = -h[1::2]
    return found | {"h": h, "h_other": h_other}


def other_weights(spec: SystemSpec, member: int, W: Array, U: Array, b: Array) -> dict[str, Array]:
    """Second weights at about the spec's distance τ, equal in what is not trained.

    W' = (1 − τ)W + τV with V of the same regime, so that ‖W'‖₂ ≤ lam (−W for a scalar, which has
    only two); for matrices alone W' = W + τV with a normal V, anywhere.
    """
    rng, tau = stream(spec, member, 5), spec.distance
    if not spec.has("loss"):
        return {"W2": W + tau * normal(rng, spec.n, spec.n), "U2": U, "b2": b}
    V = -W if spec.n == 1 else recurrent_matrix(spec, rng)
    moved = {
        "W": (1 - tau) * W + tau * V,
        "U": U + tau * normal(rng, *U.shape) / 2,
        "b": b + tau * normal(rng, *b.shape) / 4,
    }
    own = {"W": W, "U": U, "b": b}
    return {f"{name}2": (moved if name in spec.trained else own)[name] for name in own}


def unit_inputs(spec: SystemSpec, member: int) -> dict[str, Array]:
    """The same with input weight 1, as the witnesses of instability have it."""
    return drawn(spec, member) | {"U": np.eye(spec.n, spec.d)}
