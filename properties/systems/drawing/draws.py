"""How a spec becomes numbers: draws, and inputs of every regime, the same bits on any machine.

Randomness is counter-based (Philox, keyed by seed and member), so one member is drawn without the
others. Normal draws are cut to multiples of 2⁻²⁰ and products run in a fixed order, element by
element, so that no library's last digit reaches a system.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from math import prod
from threading import local

import numpy as np
import numpy.typing as npt

from rnnbounds.properties.systems.spec import SystemSpec

Array = npt.NDArray[np.float64]
GRID = 2.0**20
LOSS_STREAM = 4  # the stream of losses
_KEPT = local()


def member_generator(spec: SystemSpec, member: int, stream: int = 0) -> np.random.Generator:
    """The random generator of one member; streams are independent of one another."""
    return np.random.Generator(np.random.Philox(key=[spec.seed, member], counter=[0, 0, 0, stream]))


def cached_generator(spec: SystemSpec, member: int, number: int = 0) -> np.random.Generator:
    """Reset a cached random generator to the start of `member_generator`'s stream, as making one
    costs more than a member's draws. It is valid until the next call."""
    return next(_streams(spec, (member,), number))


def cached_generators(spec: SystemSpec, number: int = 0) -> Iterator[np.random.Generator]:
    """The random generator of each member in turn, each valid until the next."""
    return _streams(spec, spec.members, number)


def _streams(
    spec: SystemSpec, members: Iterable[int], number: int
) -> Iterator[np.random.Generator]:
    if not hasattr(_KEPT, "rng"):
        _KEPT.rng = member_generator(spec, 0)
        _KEPT.fresh = _KEPT.rng.bit_generator.state
    key, counter = (np.array(words, dtype=np.uint64) for words in
                    ((spec.seed, 0), (0, 0, 0, number)))  # fmt: skip
    start = _KEPT.fresh | {"state": {"counter": counter, "key": key}}
    for member in members:
        key[1] = member
        _KEPT.rng.bit_generator.state = start
        yield _KEPT.rng


def grid_normals(rng: np.random.Generator, *shape: int) -> Array:
    """Standard normal draws on the grid of multiples of 2⁻²⁰."""
    return round_to_grid(rng.standard_normal(shape))


def grid_normals_of_shapes(rng: np.random.Generator, *shapes: tuple[int, ...]) -> list[Array]:
    """The draws of several calls of `grid_normals`, one after another, in one."""
    return split_draws(round_to_grid(rng.standard_normal(sum(map(prod, shapes)))), shapes)


def batch_normals(spec: SystemSpec, number: int, *shapes: tuple[int, ...]) -> list[Array]:
    """The `grid_normals_of_shapes` of all members, (B, …) each, from that stream of theirs."""
    draws = np.empty((len(spec.members), sum(map(prod, shapes))))
    for row, rng in zip(draws, cached_generators(spec, number), strict=True):
        rng.standard_normal(out=row)
    return split_draws(round_to_grid(draws), shapes)


def split_draws(draws: Array, shapes: Sequence[tuple[int, ...]]) -> list[Array]:
    """The last axis cut into arrays of these shapes."""
    ends = [0, *accumulate(map(prod, shapes))]
    slices = zip(pairwise(ends), shapes, strict=True)
    return [draws[..., a:b].reshape(*draws.shape[:-1], *shape) for (a, b), shape in slices]


def round_to_grid(draws: Array) -> Array:
    """Fresh draws cut to multiples of 2⁻²⁰, in place."""
    draws *= GRID
    np.rint(draws, draws)
    draws *= 1 / GRID  # a power of two: as exact as the quotient, and quicker
    return draws


def ordered_product(A: Array, v: Array) -> Array:
    """A v for (…, m, n) matrices and (…, n, S) columns, in a fixed order of summation."""
    total = np.zeros((*A.shape[:-1], v.shape[-1]))
    term = np.empty_like(total)
    for j in range(A.shape[-1]):
        total += np.multiply(A[..., :, j, None], v[..., j, None, :], out=term)
    return total


def ordered_norms(x: Array) -> Array:
    """‖x‖₂ along the last axis, summed in a fixed order."""
    total = np.zeros(x.shape[:-1])
    square = np.empty_like(total)
    for j in range(x.shape[-1]):
        total += np.multiply(x[..., j], x[..., j], out=square)
    return np.asarray(np.sqrt(total, out=total))


def truncate_bits(values: Array | float, bits: int = 30) -> Array:
    """Values cut to ``bits`` significant bits: a library's last digits are dropped."""
    mantissa, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.floor(mantissa * 2.0**bits) / 2.0**bits, exponent))


def draw_inputs(spec: SystemSpec, rng: np.random.Generator, p: int) -> Array:
    """Draw the random part of one member's inputs: directions (S, T, d), or, for ``resonant``
    inputs, the weights (p, S) of the p outputs that they drive."""
    return grid_normals_of_shapes(rng, *input_draw_shapes(spec, p))[-1]


def input_draw_shapes(spec: SystemSpec, p: int) -> list[tuple[int, ...]]:
    """Shapes of the draws for inputs; the last is the one that they are made of."""
    directions = (spec.sequences, spec.T, spec.d)
    return [directions, (p, spec.sequences)] if spec.inputs == "resonant" else [directions]


def draw_loss(spec: SystemSpec, member: int, C: Array) -> dict[str, Array]:
    """The readout C and the target y of the loss; three logits for cross-entropy."""
    return loss_from_draws(
        spec,
        C,
        grid_normals_of_shapes(
            cached_generator(spec, member, LOSS_STREAM), *loss_draw_shapes(spec, C)
        ),
    )


def loss_draw_shapes(spec: SystemSpec, C: Array) -> list[tuple[int, ...]]:
    """Shapes of the draws for a loss with the readout C (…, p, n)."""
    p, n = C.shape[-2:]
    return [(3, n), (3,)] if spec.loss == "cross-entropy" else [(p,)]


def loss_from_draws(spec: SystemSpec, C: Array, draws: Sequence[Array]) -> dict[str, Array]:
    """C and y of these draws."""
    return {"C": draws[0] if len(draws) > 1 else C, "y": spec.target * draws[-1]}


def make_inputs(spec: SystemSpec, draws: Array, W: Array, U: Array, C: Array) -> Array:
    """Inputs x (B, S, T, d) of the spec's regime; every ‖x_t‖₂ is 0 or ``scale`` to rounding.

    ``draws`` (B, …), which may be written over, and the systems W (B, n, n), U (B, n, d),
    C (B, p, n).
    """
    directions = resonant_inputs(draws, W, U, C, spec.T) if spec.inputs == "resonant" else draws
    if spec.inputs in ("constant", "alternating", "impulse"):
        directions = np.repeat(directions[:, :, :1], spec.T, axis=2)
    if spec.inputs == "alternating":
        directions[:, :, 1::2] *= -1
    elif spec.inputs == "impulse":
        directions[:, :, 1:] = 0
    elif spec.inputs == "zero":
        directions = np.zeros_like(directions)
    size = ordered_norms(directions)[..., None]
    is_nonzero = size > 0
    if is_nonzero.all():  # a quotient that asks nothing takes a third of the time
        unit = np.divide(directions, size, out=directions)
    else:
        unit = np.divide(directions, size, out=np.zeros_like(directions), where=is_nonzero)
    unit *= spec.scale * (64.0 if spec.inputs == "saturating" else 1.0)
    return unit


def resonant_inputs(weights: Array, W: Array, U: Array, C: Array, T: int) -> Array:
    """The inputs that drive a linear readout furthest: x_t along Uᵀ (Wᵀ)^{T−t} c."""

    def transposed(A: Array) -> Array:
        return A.swapaxes(1, 2)

    v = ordered_product(transposed(C), weights)
    out = np.empty((len(W), weights.shape[2], T, U.shape[2]))
    for t in range(T - 1, -1, -1):
        out[:, :, t] = transposed(ordered_product(transposed(U), v))
        v = ordered_product(transposed(W), v)
        v = v / np.maximum(np.max(np.abs(v), axis=1, keepdims=True), 2.0**-500)
    return out
