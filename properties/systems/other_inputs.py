"""A second input sequence beside each one.

It follows from the system, the inputs and the seed alone. Of the sequences of a system in turn one
is moved along the directions that move the last state furthest, one is negated, and one is moved
along directions that are drawn; a lone sequence is moved furthest. Moves are ``distance`` times the
bound, and shrink along the sequences. What is certified of cells holds for inputs up to B_x: there
both sequences are within it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from rnnbounds.impl.numbers.outward import add_up, norm_up
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.caching import cached_reading
from rnnbounds.properties.systems.draws import (
    Array,
    cached_generator,
    grid_normals,
    ordered_norms,
)

Tensor = torch.Tensor
Places = npt.NDArray[np.signedinteger[Any]]
FURTHEST, NEGATED, DRAWN = range(3)
# Brings what is moved below the bound that rounding may take it above.
INWARD = 1 - 2.0**-40


@cached_reading
def other_inputs(batch: Batch) -> Tensor:
    """x′ (B, T, d, S)."""
    if batch.whole is not None and other_inputs in batch.whole[0].readings:
        parent, i, s = batch.whole
        return other_inputs(parent)[i : i + 1, :, :, s : s + 1]
    return batch.x + input_moves(batch)


def x_gap(batch: Batch) -> Array:
    """δ ≥ ‖x_t − x′_t‖₂ for every t, (B, S, 1); infinite of cells where x′ may exceed B_x."""
    x, other = (inputs.detach().transpose(2, 3) for inputs in (batch.x, other_inputs(batch)))
    apart = norm_up(torch.maximum(add_up(x, -other), add_up(other, -x))).amax(1)
    apart = torch.where(batch.systems.is_allowed(other_inputs(batch)), apart, torch.inf)
    return np.asarray(apart.cpu().numpy()[:, :, None])


def input_moves(batch: Batch) -> Tensor:
    """x′ − x before it is rounded, no part of any gradient."""
    spec = batch.spec
    x = batch.x.detach().cpu().numpy().transpose(0, 3, 1, 2)  # (B, S, T, d)
    places = np.arange(x.shape[1]) if spec.sequence is None else np.array([spec.sequence])
    choices = (places + spec.seed) % 3 if spec.sequences > 1 else np.array([FURTHEST])
    choices, shrink = (a[:, None, None] for a in (choices, np.ldexp(1.0, -3 * (places // 3))))
    direction = normalize(batch.systems.furthest_inputs(batch.C, spec.T, len(places)))
    if (choices == DRAWN).any():
        direction = np.where(
            choices == DRAWN, normalize(drawn_directions(batch, places)), direction
        )
    bound = np.maximum(batch.B_x.detach().cpu().numpy(), spec.scale)[:, None, None, None]
    move = spec.distance * bound * shrink * direction
    if batch.systems.has_input_bound:
        move = shorten_to_bound(x + move * inward_signs(direction, x), bound) - x
    is_negated = (choices == NEGATED) & (x != 0).any(axis=(2, 3), keepdims=True)
    offsets = np.where(is_negated, -2 * x, move)
    return torch.from_numpy(np.ascontiguousarray(offsets.transpose(0, 2, 3, 1))).to(batch.x)


def shorten_to_bound(x: Array, bound: Array) -> Array:
    """Shorten the vectors longer than the bound to just within it."""
    size, limit = ordered_norms(x)[..., None], bound * INWARD
    return np.asarray(x * np.divide(limit, size, out=np.ones_like(size), where=size > limit))


def inward_signs(direction: Array, x: Array) -> Array:
    """The sign against the first input, (B, S, 1, 1), so that the bound cuts off little."""
    along = np.zeros(x.shape[:2])
    for j in range(x.shape[3]):
        along = along + x[:, :, 0, j] * direction[:, :, 0, j]
    return np.where(along > 0, -1.0, 1.0)[:, :, None, None]


def drawn_directions(batch: Batch, places: Places) -> Array:
    """Directions of their own, (B, S, T, d)."""
    spec, (_, T, d, _) = batch.spec, batch.x.shape
    shape = spec.sequences, T, d
    draws = [grid_normals(cached_generator(spec, member, 6), *shape) for member in spec.members]
    return np.stack(draws)[:, places]


def normalize(directions: Array) -> Array:
    """Directions scaled to length 1, or 0 where there is none."""
    size = ordered_norms(directions)[..., None]
    known = (size > 0) & np.isfinite(size)
    return np.divide(directions, size, out=np.zeros_like(directions), where=known)
