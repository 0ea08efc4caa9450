"""How a spec becomes numbers: draws, recurrent matrices and inputs of every regime.

Randomness is counter-based (Philox, keyed by seed and member), so one member is drawn without the
others. Normal draws are cut to multiples of 2⁻²⁰ and products run in a fixed order, element by
element, so that no library's last digit reaches a system: the same bits on any machine, and of a
member alone and among others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from math import prod
from threading import local

import numpy as np
import numpy.typing as npt

from rnnbounds.properties.systems.spec import SystemSpec

Array = npt.NDArray[np.float64]
Generator = np.random.Generator
Numbers = Callable[[SystemSpec], dict[str, Array]]
GRID = 2.0**20
LOSS_STREAM = 4  # the stream of losses
_KEPT = local()


def member_generator(spec: SystemSpec, member: int, stream: int = 0) -> Generator:
    """The random generator of one member; streams are independent of one another."""
    return Generator(np.random.Philox(key=[spec.seed, member], counter=[0, 0, 0, stream]))


def cached_generator(spec: SystemSpec, member: int, number: int = 0) -> Generator:
    """Reset a cached random generator to the start of `member_generator`'s stream, as making one
    costs more than a member's draws. It is valid until the next call."""
    return next(_streams(spec, (member,), number))


def cached_generators(spec: SystemSpec, number: int = 0) -> Iterator[Generator]:
    """The random generator of each member in turn, each valid until the next."""
    return _streams(spec, spec.members, number)


def _streams(spec: SystemSpec, members: Iterable[int], number: int) -> Iterator[Generator]:
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


def grid_normals(rng: Generator, *shape: int) -> Array:
    """Standard normal draws on the grid of multiples of 2⁻²⁰."""
    return round_to_grid(rng.standard_normal(shape))


def grid_normals_of_shapes(rng: Generator, *shapes: tuple[int, ...]) -> list[Array]:
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


def draw_inputs(spec: SystemSpec, rng: Generator, p: int) -> Array:
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


def stack_numbers(members: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    """The numbers of a batch, from those of each member."""
    return {name: np.stack([member[name] for member in members]) for name in members[0]}


def draw_each_member(draw: Callable[[SystemSpec, int], dict[str, Array]]) -> Numbers:
    """The numbers of a batch whose members are drawn one by one."""
    return lambda spec: stack_numbers([draw(spec, member) for member in spec.members])


def batch_numbers(
    spec: SystemSpec,
    draw: Numbers,
    driving_matrices: Callable[[Mapping[str, Array]], tuple[Array, Array]],
) -> dict[str, Array]:
    """The numbers of a batch by name, those that a spec writes out or those that are drawn, with
    inputs x (B, S, T, d) of its regime and the chosen sequences alone.

    driving_matrices: the W and U that resonant inputs are made for.
    """
    if spec.values is not None:
        given = {name: getattr(spec.values, name) for name in spec.values.__struct_fields__}
        arrays = {name: np.array([v], dtype=float) for name, v in given.items() if v is not None}
        return arrays | {name: arrays[name][None] for name in ("x", "h", "h_other")}
    numbers = draw(spec)
    numbers["x"] = make_inputs(spec, numbers["x"], *driving_matrices(numbers), numbers["C"])
    chosen = slice(spec.sequence_range.start, spec.sequence_range.stop)
    return numbers | {name: numbers[name][:, chosen] for name in ("x", "h", "h_other")}


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
