"""How a spec becomes numbers: matrices and inputs of every regime, the same bits on any machine.

Randomness is counter-based (Philox, keyed by seed and member), so one member is drawn without the
others. Normal draws are cut to multiples of 2⁻²⁰ and products run in a fixed order, element by
element, so that no library's last digit reaches a system.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate, pairwise
from math import prod
from threading import local

import numpy as np
import numpy.typing as npt

from properties.systems.spec import SystemSpec

Array = npt.NDArray[np.float64]
GRID = 2.0**20
_KEPT = local()


def generator(spec: SystemSpec, member: int, stream: int = 0) -> np.random.Generator:
    """The random generator of one member; streams are independent of one another."""
    return np.random.Generator(np.random.Philox(key=[spec.seed, member], counter=[0, 0, 0, stream]))


def stream(spec: SystemSpec, member: int, number: int = 0) -> np.random.Generator:
    """The same draws as `generator`'s, from one that is kept and set back: making one costs more
    than a member's draws. It is good until the next call."""
    if not hasattr(_KEPT, "rng"):
        _KEPT.rng = generator(spec, member)
        _KEPT.fresh = _KEPT.rng.bit_generator.state
    key, counter = (np.array(words, dtype=np.uint64) for words in
                    ((spec.seed, member), (0, 0, 0, number)))  # fmt: skip
    start = {"counter": counter, "key": key}
    _KEPT.rng.bit_generator.state = _KEPT.fresh | {"state": start}
    found: np.random.Generator = _KEPT.rng
    return found


def normal(rng: np.random.Generator, *shape: int) -> Array:
    """Standard normal draws on the grid of multiples of 2⁻²⁰."""
    return gridded(rng.standard_normal(shape))


def normals(rng: np.random.Generator, *shapes: tuple[int, ...]) -> list[Array]:
    """The draws of several calls of `normal`, one after another, in one."""
    sizes = [prod(shape) for shape in shapes]
    drawn, ends = gridded(rng.standard_normal(sum(sizes))), [0, *accumulate(sizes)]
    return [drawn[a:b].reshape(shape) for (a, b), shape in zip(pairwise(ends), shapes, strict=True)]


def gridded(draws: Array) -> Array:
    """Fresh draws cut to multiples of 2⁻²⁰, in place."""
    draws *= GRID
    np.rint(draws, draws)
    draws *= 1 / GRID  # a power of two: as exact as the quotient, and quicker
    return draws


def product(A: Array, v: Array) -> Array:
    """A v for (…, m, n) matrices and (…, n, S) columns, in a fixed order of summation."""
    total = np.zeros((*A.shape[:-1], v.shape[-1]))
    for j in range(A.shape[-1]):
        total = total + A[..., :, j, None] * v[..., j, None, :]
    return total


def lengths(x: Array) -> Array:
    """‖x‖₂ along the last axis, summed in a fixed order."""
    total = np.zeros(x.shape[:-1])
    for j in range(x.shape[-1]):
        total = total + x[..., j] * x[..., j]
    return np.asarray(np.sqrt(total))


def shortened(value: float, bits: int = 30) -> float:
    """Value cut to ``bits`` significant bits: a library's last digits are dropped."""
    mantissa, exponent = np.frexp(value)
    return float(np.ldexp(np.floor(mantissa * 2.0**bits) / 2.0**bits, exponent))


def scaled_to(W: Array, norm: float) -> Array:
    """W times a short factor that brings ‖W‖₂ to ``norm`` (to about nine digits)."""
    size = float(np.linalg.svd(W, compute_uv=False)[0]) if W.size else 0.0
    return W * shortened(norm / size) if size > 0 else W


def orthogonal_matrix(rng: np.random.Generator, n: int) -> Array:
    """A product of n Householder reflections of normal vectors: orthogonal to rounding."""
    Q, vectors = np.eye(n), normal(rng, n, n)
    for v, size in zip(vectors, lengths(vectors).tolist(), strict=True):
        square = size**2
        if square > 0:
            # Qᵀ v; an accumulation is summed in order.
            along = np.add.accumulate(Q * v[:, None], axis=0)[-1] + 0.0
            Q = Q - (2.0 / square) * v[:, None] * along[None, :]
    return Q if n > 1 else np.where(rng.random() < 0.5, -1.0, 1.0) * Q


def permutation_matrix(rng: np.random.Generator, n: int) -> Array:
    """A permutation of the unit vectors with signs, (n, n)."""
    signs = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    return np.eye(n)[rng.permutation(n)] * signs


def rotations(rng: np.random.Generator, n: int) -> Array:
    """Diagonal blocks that are rotations by Pythagorean angles."""
    W = np.diag(np.where(rng.random(n) < 0.5, -1.0, 1.0))
    for i in range(0, n - 1, 2):
        c, s = ((0.6, 0.8), (5 / 13, 12 / 13))[int(rng.integers(2))]
        W[i : i + 2, i : i + 2] = [[c, -s], [s, c]]
    return W


def diagonal_matrix(rng: np.random.Generator, n: int) -> Array:
    """Uniform entries in [−1, 1] on the grid, one of them 1."""
    entries = np.round((2 * rng.random(n) - 1) * GRID) / GRID
    entries[int(rng.integers(n))] = 1.0
    return np.diag(entries)


def symmetric_matrix(rng: np.random.Generator, n: int) -> Array:
    """(A + Aᵀ)/2 of a normal A, (n, n)."""
    A = normal(rng, n, n)
    return (A + A.T) / 2


def shear(spec: SystemSpec, rng: np.random.Generator) -> Array:
    """lam on the diagonal and a large superdiagonal: spectral radius lam, norm far above."""
    height = 2.0 ** int(rng.integers(-2, 8))
    return spec.lam * np.eye(spec.n) + height * np.eye(spec.n, k=1)


def similar(spec: SystemSpec, rng: np.random.Generator) -> Array:
    """D⁻¹ A D with ‖A‖₂ = lam and D a diagonal of powers of two: contractive in a diagonal norm."""
    A = scaled_to(normal(rng, spec.n, spec.n), spec.lam)
    D = np.ldexp(np.ones(spec.n), rng.integers(-3, 4, spec.n))
    return A * D[None, :] / D[:, None]


UNIT: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "orthogonal": orthogonal_matrix,
    "permutation": permutation_matrix,
    "block": rotations,
    "zero": lambda rng, n: np.zeros((n, n)),
}
SCALED: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "gaussian": lambda rng, n: normal(rng, n, n),
    "symmetric": symmetric_matrix,
    "diagonal": diagonal_matrix,
    "rank-one": lambda rng, n: normal(rng, n)[:, None] * normal(rng, n)[None, :],
    "nilpotent": lambda rng, n: np.triu(normal(rng, n, n), 1),
}
WHOLE: dict[str, Callable[[SystemSpec, np.random.Generator], Array]] = {
    "shear": shear,
    "similar": similar,
}


def recurrent_matrix(spec: SystemSpec, rng: np.random.Generator) -> Array:
    """W (n, n) of the spec's regime: spectral norm lam, but for ``shear`` and ``similar``."""
    if spec.regime in WHOLE:
        return WHOLE[spec.regime](spec, rng)
    if spec.regime in UNIT:
        return spec.lam * UNIT[spec.regime](rng, spec.n)
    return scaled_to(SCALED[spec.regime](rng, spec.n), spec.lam)


def input_draws(spec: SystemSpec, rng: np.random.Generator, p: int) -> Array:
    """What is random in one member's inputs: directions (S, T, d), or, for ``resonant`` ones, the
    weights (p, S) of the p outputs that they drive."""
    return inputs_and(spec, rng, p)[0]


def inputs_and(
    spec: SystemSpec, rng: np.random.Generator, p: int, *more: tuple[int, ...]
) -> list[Array]:
    """Those, and what is drawn next of more shapes."""
    shapes: list[tuple[int, ...]] = [(spec.sequences, spec.T, spec.d)]
    if spec.inputs == "resonant":
        shapes.append((p, spec.sequences))
    found = normals(rng, *shapes, *more)
    return found[len(shapes) - 1 :]


def loss_draws(spec: SystemSpec, member: int, C: Array) -> dict[str, Array]:
    """The readout C and the target y of the loss; three logits for cross-entropy."""
    rng = stream(spec, member, 4)
    if spec.loss == "cross-entropy":
        C = normal(rng, 3, C.shape[1])
    return {"C": C, "y": spec.target * normal(rng, len(C))}


def input_sequences(spec: SystemSpec, draws: Array, W: Array, U: Array, C: Array) -> Array:
    """Inputs x (B, S, T, d) of the spec's regime; every ‖x_t‖₂ is 0 or ``scale`` to rounding.

    ``draws`` (B, …) and the systems W (B, n, n), U (B, n, d), C (B, p, n).
    """
    directions = resonant(draws, W, U, C, spec.T) if spec.inputs == "resonant" else draws
    if spec.inputs in ("constant", "alternating", "impulse"):
        directions = np.repeat(directions[:, :, :1], spec.T, axis=2)
    if spec.inputs == "alternating":
        directions[:, :, 1::2] *= -1
    elif spec.inputs == "impulse":
        directions[:, :, 1:] = 0
    elif spec.inputs == "zero":
        directions = np.zeros_like(directions)
    size = lengths(directions)[..., None]
    known = size > 0
    if known.all():  # a quotient that asks nothing takes a third of the time
        unit = directions / size
    else:
        unit = np.divide(directions, size, out=np.zeros_like(directions), where=known)
    unit *= spec.scale * (64.0 if spec.inputs == "saturating" else 1.0)
    return unit


def resonant(weights: Array, W: Array, U: Array, C: Array, T: int) -> Array:
    """The inputs that drive a linear readout furthest: x_t along Uᵀ (Wᵀ)^{T−t} c."""

    def transposed(A: Array) -> Array:
        return A.swapaxes(1, 2)

    v = product(transposed(C), weights)
    out = np.empty((len(W), weights.shape[2], T, U.shape[2]))
    for t in range(T - 1, -1, -1):
        out[:, :, t] = transposed(product(transposed(U), v))
        v = product(transposed(W), v)
        v = v / np.maximum(np.max(np.abs(v), axis=1, keepdims=True), 2.0**-500)
    return out
