"""Inputs and pairs of states drawn on a device: the numbers of `draws`, bit for bit.

Sums run in the order of `draws`, one kernel a product and one a sum, so that none is fused.
"""

from __future__ import annotations

from itertools import accumulate
from math import prod

import torch

from rnnbounds.properties.systems.drawing.device_normals import grid_normals
from rnnbounds.properties.systems.drawing.draws import input_draw_shapes
from rnnbounds.properties.systems.spec import SystemSpec

Tensor = torch.Tensor


def draw_signals(spec: SystemSpec, p: int, stream: int, device: str) -> list[Tensor]:
    """Normal draws of the inputs, and two states (B, S, n), of all members, on the device."""
    states = (spec.sequences, spec.n)
    shapes = [*input_draw_shapes(spec, p), states, states]
    sizes = [prod(shape) for shape in shapes]
    draws = grid_normals(spec.seed, list(spec.members), stream, sum(sizes), device)
    ends = accumulate(sizes)
    return [
        draws[:, end - size : end].reshape(len(draws), *shape)
        for end, size, shape in zip(ends, sizes, shapes, strict=True)
    ][-3:]


def ordered_product(A: Tensor, v: Tensor) -> Tensor:
    """As `draws.ordered_product`: A v for (…, m, n) matrices and (…, n, S) columns."""
    total = v.new_zeros(*A.shape[:-1], v.shape[-1])
    for j in range(A.shape[-1]):
        total += A[..., :, j, None] * v[..., j, None, :]
    return total


def ordered_norms(x: Tensor) -> Tensor:
    """As `draws.ordered_norms`: ‖x‖₂ along the last axis."""
    total = x.new_zeros(x.shape[:-1])
    for j in range(x.shape[-1]):
        total += x[..., j] * x[..., j]
    return rounded_sqrt(total)


def rounded_sqrt(x: Tensor) -> Tensor:
    """√x rounded to nearest, of 0 and of x in 2^±900: torch's own is off by a last digit at times.

    s within one ulp ω of √x leaves r = x − s², a float64, of which Dekker's product has both parts.
    √x lies beyond s + ω/2 if r > s ω + ω²/4, where all but ω²/4 are multiples of ω²; likewise
    below, where ω is half as large if s is a power of two.
    """
    s = x.sqrt()
    split = s * (2.0**27 + 1)
    high = split - (split - s)
    low, square = s - high, s * s
    rest = ((high * high - square) + 2 * high * low) + low * low
    r = (x - square) - rest
    above, below = (torch.nextafter(s, s.new_tensor(end)) for end in (torch.inf, 0.0))
    moved = torch.where(r > s * (above - s), above, torch.where(r <= -s * (s - below), below, s))
    return torch.where(x > 0, moved, s)


def make_inputs(spec: SystemSpec, draws: Tensor, W: Tensor, U: Tensor, C: Tensor) -> Tensor:
    """As `draws.make_inputs`: inputs x (B, S, T, d) of the spec's regime."""
    directions = resonant_inputs(draws, W, U, C, spec.T) if spec.inputs == "resonant" else draws
    if spec.inputs in ("constant", "alternating", "impulse"):
        directions = directions[:, :, :1].repeat(1, 1, spec.T, 1)
    if spec.inputs == "alternating":
        directions[:, :, 1::2] *= -1
    elif spec.inputs == "impulse":
        directions[:, :, 1:] = 0
    elif spec.inputs == "zero":
        directions = torch.zeros_like(directions)
    size = ordered_norms(directions)[..., None]
    unit = torch.where(size > 0, directions / size, 0.0)
    return unit * (spec.scale * (64.0 if spec.inputs == "saturating" else 1.0))


def resonant_inputs(weights: Tensor, W: Tensor, U: Tensor, C: Tensor, T: int) -> Tensor:
    """As `draws.resonant_inputs`: x_t along Uᵀ (Wᵀ)^{T−t} c."""
    v, inputs = ordered_product(C.mT, weights), list[Tensor]()
    for _ in range(T):
        inputs.append(ordered_product(U.mT, v).mT)
        v = ordered_product(W.mT, v)
        v = v / v.abs().amax(dim=1, keepdim=True).clamp(min=2.0**-500)
    return torch.stack(inputs[::-1], dim=2)
