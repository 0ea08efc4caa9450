"""Recurrent matrices of every regime: what is random of each member, and what becomes of that.

Draws are made member by member; all that follows is done for a batch at once, element by element,
so that a member is the same alone and among others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from rnnbounds.properties.systems.drawing.draws import (
    Array,
    ordered_norms,
    round_to_grid,
    truncate_bits,
)
from rnnbounds.properties.systems.spec import SystemSpec

Generator = np.random.Generator


def recurrent_matrices(spec: SystemSpec, rngs: Iterable[Generator]) -> Array:
    """W (B, n, n) of the spec's regime, one for each generator: spectral norm lam, but for
    ``shear_matrices`` and ``similar_matrices``."""
    return matrices_from_draws(spec, np.stack([DRAWS[spec.regime](spec, rng) for rng in rngs]))


def matrices_from_draws(spec: SystemSpec, draws: Array) -> Array:
    """W (B, n, n) of what is random of each member."""
    if spec.regime in SCALED_MATRICES:
        return scale_to_norm(SCALED_MATRICES[spec.regime](round_to_grid(draws)), spec.lam)
    if spec.regime in ISOMETRIES:
        return spec.lam * ISOMETRIES[spec.regime](draws)
    return OTHER_MATRICES[spec.regime](spec, draws)


def scale_to_norm(W: Array, norm: float) -> Array:
    """Each W (B, n, n) times a short factor that brings ‖W‖₂ to ``norm`` (to about nine digits)."""
    size = np.linalg.svd(W, compute_uv=False)[:, 0]
    with np.errstate(over="ignore"):
        factor = np.divide(norm, size, out=np.ones_like(size), where=size > 0)
    return W * truncate_bits(factor)[:, None, None]


def normal_matrix(spec: SystemSpec, rng: Generator) -> Array:
    """Normal draws, not yet on the grid."""
    return rng.standard_normal((spec.n, spec.n))


def diagonal_entries(spec: SystemSpec, rng: Generator) -> Array:
    """Uniform entries in [−1, 1], one of them 1."""
    values = 2 * rng.random(spec.n) - 1
    values[int(rng.integers(spec.n))] = 1.0
    return values


def reflection_vectors(spec: SystemSpec, rng: Generator) -> Array:
    """A normal vector for each Householder reflection; for n = 1 also a sign."""
    vectors = normal_matrix(spec, rng)
    if spec.n > 1:
        return vectors
    return np.array([[vectors.item(), -1.0 if rng.random() < 0.5 else 1.0]])


def random_signs(spec: SystemSpec, rng: Generator) -> Array:
    """1 or −1 for each unit."""
    return np.where(rng.random(spec.n) < 0.5, -1.0, 1.0)


def random_permutation(spec: SystemSpec, rng: Generator) -> Array:
    """A permutation of the unit vectors with signs."""
    unit_signs = random_signs(spec, rng)
    return np.eye(spec.n)[rng.permutation(spec.n)] * unit_signs


def rotation_blocks(spec: SystemSpec, rng: Generator) -> Array:
    """Diagonal blocks that are rotations by Pythagorean angles."""
    W = np.diag(random_signs(spec, rng))
    for i in range(0, spec.n - 1, 2):
        c, s = ((0.6, 0.8), (5 / 13, 12 / 13))[int(rng.integers(2))]
        W[i : i + 2, i : i + 2] = [[c, -s], [s, c]]
    return W


def scaled_normal_matrix(spec: SystemSpec, rng: Generator) -> Array:
    """A normal matrix, and below it a power of two for each unit."""
    A = normal_matrix(spec, rng)
    return np.vstack([A, np.ldexp(np.ones(spec.n), rng.integers(-3, 4, spec.n))])


def diagonal_matrices(a: Array) -> Array:
    """The diagonal matrices of rows of entries."""
    matrices, i = np.zeros((*a.shape, a.shape[1])), np.arange(a.shape[1])
    matrices[:, i, i] = a
    return matrices


def householder_products(draws: Array) -> Array:
    """Products of n Householder reflections of the vectors: orthogonal to rounding."""
    n = draws.shape[1]
    vectors, factors = round_to_grid(draws[:, :, :n]), draws[:, :, n:]
    Q, sizes = np.tile(np.eye(n), (len(draws), 1, 1)), ordered_norms(vectors)
    for j in range(n):
        v, squares = vectors[:, j], np.array([size**2 for size in sizes[:, j].tolist()])
        coefficients = np.divide(2.0, squares, out=np.zeros_like(squares), where=squares > 0)
        # Qᵀ v; an accumulation is summed in order.
        projections = np.add.accumulate(Q * v[:, :, None], axis=1)[:, -1] + 0.0
        Q = Q - (coefficients[:, None] * v)[:, :, None] * projections[:, None, :]
    return factors * Q if factors.size else Q


def shear_matrices(spec: SystemSpec, heights: Array) -> Array:
    """lam on the diagonal and a large superdiagonal: spectral radius lam, norm far above."""
    return spec.lam * np.eye(spec.n) + heights[:, None, None] * np.eye(spec.n, k=1)


def similar_matrices(spec: SystemSpec, draws: Array) -> Array:
    """D⁻¹ A D with ‖A‖₂ = lam and D a diagonal of powers of two: contractive in a diagonal norm."""
    D = draws[:, -1]
    return scale_to_norm(round_to_grid(draws[:, :-1]), spec.lam) * D[:, None, :] / D[:, :, None]


DRAWS: dict[str, Callable[[SystemSpec, Generator], Array]] = {
    "orthogonal": reflection_vectors,
    "gaussian": normal_matrix,
    "symmetric": normal_matrix,
    "diagonal": diagonal_entries,
    "permutation": random_permutation,
    "block": rotation_blocks,
    "rank-one": lambda spec, rng: rng.standard_normal((2, spec.n)),
    "nilpotent": normal_matrix,
    "shear": lambda spec, rng: np.array(2.0 ** int(rng.integers(-2, 8))),
    "similar": scaled_normal_matrix,
    "zero": lambda spec, rng: np.zeros((spec.n, spec.n)),
}
ISOMETRIES: dict[str, Callable[[Array], Array]] = {
    "orthogonal": householder_products,
    "permutation": lambda W: W,
    "block": lambda W: W,
    "zero": lambda W: W,
}
SCALED_MATRICES: dict[str, Callable[[Array], Array]] = {
    "gaussian": lambda A: A,
    "symmetric": lambda A: (A + A.swapaxes(1, 2)) / 2,
    "diagonal": diagonal_matrices,
    "rank-one": lambda uv: uv[:, 0, :, None] * uv[:, 1, None, :],
    "nilpotent": lambda A: np.triu(A, 1),
}
OTHER_MATRICES: dict[str, Callable[[SystemSpec, Array], Array]] = {
    "shear": shear_matrices,
    "similar": similar_matrices,
}
