"""The numbers of one member of a batch, drawn from streams of its own or read from a spec."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from properties.systems.causal.model import causal_draw
from properties.systems.cells.drawn import drawn as cell_draw
from properties.systems.drawing.regimes import (
    Array,
    generator,
    input_draws,
    loss_draws,
    normal,
    recurrent_matrix,
)
from properties.systems.gated.drawn import drawn as gated_draw
from properties.systems.kinds import CAUSAL, CELL_KINDS, GATED
from properties.systems.layered.stack import stack
from properties.systems.layered.transition import layers
from properties.systems.limits.near import candidate
from properties.systems.limits.planted import planted
from properties.systems.limits.vector_pairs import sigmoid_pair
from properties.systems.scans.jordan import jordan
from properties.systems.scans.modes import modes
from properties.systems.scans.scan import scan
from properties.systems.spec import PAIRED, SystemSpec, Values
from properties.systems.unitary.blocks import block
from properties.systems.unitary.exact import Exact
from properties.systems.unitary.networks import network
from properties.systems.unitary.orthogonal import recurrent

# The kinds with a loss and gradients.
LEARNING = ("gradient", "smooth", "training")
# The kinds whose members are built in rationals; what the tensors hold are their float images.
EXACT: dict[str, Callable[[SystemSpec, int], Exact]] = {
    "unitary": network,
    "urnn": recurrent,
    "block": block,
    "candidate": candidate,
    "sigmoid": sigmoid_pair,
    "planted": planted,
    "layered": layers,
    "cascade": stack,
    "modes": modes,
    "jordan": jordan,
    "scan": scan,
}


def draw(spec: SystemSpec, member: int) -> dict[str, Array]:
    """The numbers of one member: W, U, b, C, what is random in x, h and h_other (S, n); y, W2, U2,
    b2, b_hh where the kind has them."""
    if spec.kind in GATED:
        return gated_draw(spec, member)
    if spec.kind in CELL_KINDS:
        return cell_draw(spec, member)
    if spec.kind in CAUSAL:
        return causal_draw(spec, member)
    rng = generator(spec, member)
    n, d, S = spec.n, spec.d, spec.sequences
    W = recurrent_matrix(spec, rng)
    rng = generator(spec, member, stream=1)
    U, b, C = normal(rng, n, d) / 2, spec.bias * normal(rng, n), normal(rng, min(n, 2), n)
    if spec.kind == "unstable":
        U = np.eye(n, d)  # the witnesses of instability have input weight 1
    drawn = {"W": W, "U": U, "b": b, "C": C}
    if spec.kind in LEARNING:
        drawn |= loss_draws(spec, member, C)
    if spec.kind in PAIRED:
        drawn |= other_weights(spec, member, W, U, b)
    rng = generator(spec, member, stream=2)
    drawn["x"] = input_draws(spec, rng, len(drawn["C"]))
    shrink = np.ldexp(np.ones(S), -3 * (np.arange(S) // 2))[:, None]
    h, h_other = shrink * normal(rng, S, n), shrink * normal(rng, S, n)
    h_other[1::2] = -h[1::2]
    return drawn | {"h": h, "h_other": h_other}


def other_weights(spec: SystemSpec, member: int, W: Array, U: Array, b: Array) -> dict[str, Array]:
    """Second weights at about the spec's distance τ, equal in what is not trained.

    W' = (1 − τ)W + τV with V of the same regime, so that ‖W'‖₂ ≤ lam (−W for a scalar, which has
    only two); for ``projection`` W' = W + τV with a normal V, anywhere.
    """
    rng, tau = generator(spec, member, stream=5), spec.distance
    if spec.kind == "projection":
        return {"W2": W + tau * normal(rng, spec.n, spec.n), "U2": U, "b2": b}
    V = -W if spec.n == 1 else recurrent_matrix(spec, rng)
    moved = {
        "W": (1 - tau) * W + tau * V,
        "U": U + tau * normal(rng, *U.shape) / 2,
        "b": b + tau * normal(rng, *b.shape) / 4,
    }
    own = {"W": W, "U": U, "b": b}
    return {f"{name}2": (moved if name in spec.trained else own)[name] for name in own}


def written_out(values: Values) -> dict[str, Array]:
    """The numbers of an explicit spec, one sequence."""
    given = {name: getattr(values, name) for name in values.__struct_fields__}
    arrays = {
        name: np.array(value, dtype=np.float64)
        for name, value in given.items()
        if value is not None
    }
    return arrays | {name: arrays[name][None] for name in ("x", "h", "h_other")}
