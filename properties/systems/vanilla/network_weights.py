"""The numbers of vanilla networks, of all members of a batch, from a spec's own streams."""

from __future__ import annotations

import numpy as np

from rnnbounds.properties.systems.draws import (
    DRAWS,
    LOSS_STREAM,
    Array,
    batch_normals,
    cached_generators,
    input_draw_shapes,
    loss_draw_shapes,
    loss_from_draws,
    matrices_from_draws,
    recurrent_matrices,
    round_to_grid,
)
from rnnbounds.properties.systems.spec import SystemSpec

SIGNAL_STREAM = 2  # the stream of inputs and states


def draw_weights(spec: SystemSpec) -> dict[str, Array]:
    """W, U, b, C; y of a loss, and W2, U2, b2 where the kind has second weights."""
    n, d = spec.n, spec.d
    W = recurrent_matrices(spec, cached_generators(spec))
    U, b, C = batch_normals(spec, 1, (n, d), (n,), (min(n, 2), n))
    U, b = U / 2, spec.bias * b
    found = {"W": W, "U": U, "b": b, "C": C}
    if spec.has("loss"):
        found |= loss_from_draws(
            spec, C, batch_normals(spec, LOSS_STREAM, *loss_draw_shapes(spec, C))
        )
    if spec.paired:
        found |= second_weights(spec, W, U, b)
    return found


def with_signals(spec: SystemSpec, weights: dict[str, Array]) -> dict[str, Array]:
    """The weights, what is random in x, and pairs of states h, h_other (B, S, n), which shrink
    along the sequences."""
    if "x" in weights:
        return weights
    states, S = (spec.sequences, spec.n), spec.sequences
    shapes = *input_draw_shapes(spec, weights["C"].shape[1]), states, states
    x, h, h_other = batch_normals(spec, SIGNAL_STREAM, *shapes)[-3:]
    scales = np.ldexp(np.ones(S), -3 * (np.arange(S) // 2))[:, None]
    h, h_other = scales * h, scales * h_other
    h_other[:, 1::2] = -h[:, 1::2]
    return weights | {"x": x, "h": h, "h_other": h_other}


def second_weights(spec: SystemSpec, W: Array, U: Array, b: Array) -> dict[str, Array]:
    """Second weights at about the spec's distance τ, equal in what is not trained.

    W' = (1 − τ)W + τV with V of the same regime, so that ‖W'‖₂ ≤ lam (−W for a scalar, which has
    only two); for matrices alone W' = W + τV with a normal V, anywhere.
    """
    tau = spec.distance
    if not spec.has("loss"):
        (V,) = batch_normals(spec, 5, W.shape[1:])
        return {"W2": W + tau * V, "U2": U.copy(), "b2": b.copy()}
    V, u, v = -W, np.empty_like(U), np.empty_like(b)
    random = []
    for i, rng in enumerate(cached_generators(spec, 5)):
        if spec.n > 1:
            random.append(DRAWS[spec.regime](spec, rng))
        rng.standard_normal(out=u[i])
        rng.standard_normal(out=v[i])
    if random:
        V = matrices_from_draws(spec, np.stack(random))
    moved = {
        "W": (1 - tau) * W + tau * V,
        "U": U + tau * round_to_grid(u) / 2,
        "b": b + tau * round_to_grid(v) / 4,
    }
    own = {"W": W, "U": U, "b": b}
    return {f"{name}2": moved[name] if name in spec.trained else own[name].copy() for name in own}


def draw_unit_input_weights(spec: SystemSpec) -> dict[str, Array]:
    """Draw a spec's weights, but U = I (n, d), which the witnesses of instability need."""
    found = draw_weights(spec)
    return found | {"U": np.tile(np.eye(spec.n, spec.d), (len(found["U"]), 1, 1))}
