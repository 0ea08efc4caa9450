"""Regimes: what each promises about W and about the inputs."""

import numpy as np
import pytest

from rnnbounds.properties.systems.draws import (
    cached_generator,
    cached_generators,
    draw_inputs,
    grid_normals,
    make_inputs,
    member_generator,
    recurrent_matrices,
)
from rnnbounds.properties.systems.spec import INPUTS, REGIMES, SystemSpec
from rnnbounds.properties.systems.table import make_spec


def inputs_of(
    spec: SystemSpec, rng: np.random.Generator, W: np.ndarray, U: np.ndarray, C: np.ndarray
) -> np.ndarray:
    """The inputs (S, T, d) of one system."""
    draws = draw_inputs(spec, rng, len(C))
    return make_inputs(spec, draws[None], W[None], U[None], C[None])[0]


LAMS = (0.0, 2.0**-538, 0.5, 0.999, 1.0, 2.0**500)


def matrices(regime: str, n: int, lam: float, count: int = 5) -> np.ndarray:
    """The recurrent matrices of a few members."""
    spec = make_spec(regime=regime, n=n, lam=lam, seed=7, batch=count)
    return recurrent_matrices(spec, cached_generators(spec))


@pytest.mark.parametrize("n", [1, 2, 3, 8])
@pytest.mark.parametrize("regime", [r for r in REGIMES if r not in ("shear", "similar", "zero")])
def test_spectral_norm(regime: str, n: int) -> None:
    """‖W‖₂ = lam to eight digits, but where W = 0 (a nilpotent scalar)."""
    for lam, W in [(size, W) for size in LAMS for W in matrices(regime, n, size)]:
        assert W.shape == (n, n)
        expected = 0.0 if regime == "nilpotent" and n == 1 else lam
        size = float(np.linalg.norm(W / lam, 2)) * lam if lam else float(np.abs(W).max())
        assert size == pytest.approx(expected, rel=1e-8, abs=0)


def test_structure() -> None:
    """Each regime has the structure of its name."""
    for W in matrices("symmetric", 4, 0.7):
        assert (W == W.T).all()
    for W in matrices("diagonal", 4, 0.7):
        assert (np.diag(np.diag(W)) == W).all()
        assert np.abs(W).max() == pytest.approx(0.7)
    for W in matrices("permutation", 5, 0.5):
        assert (np.count_nonzero(W, axis=0) == 1).all()
        assert (np.count_nonzero(W, axis=1) == 1).all()
    for W in matrices("rank-one", 4, 0.7):
        assert np.linalg.matrix_rank(W) == 1
    for W in matrices("nilpotent", 4, 0.7):
        assert not np.linalg.matrix_power(W, 4).any()
        assert W.any()
    for W in matrices("shear", 4, 0.7):
        assert (np.diag(W) == 0.7).all()
        assert np.linalg.norm(W, 2) >= 0.7
        assert (np.tril(W, -1) == 0).all()
    assert not any(W.any() for W in matrices("zero", 4, 0.7))


def test_similar_is_contractive_in_a_diagonal_norm() -> None:
    """D W D⁻¹ has norm lam for a diagonal of powers of two, though ‖W‖₂ may exceed it."""
    norms = []
    scales = [2.0 ** np.array([0, i, j]) for i in range(-6, 7) for j in range(-6, 7)]
    for W in matrices("similar", 3, 0.5, count=12):
        norms.append(np.linalg.norm(W, 2))
        assert np.abs(np.linalg.eigvals(W)).max() <= 0.5 + 1e-9
        best = min(np.linalg.norm(W * D[:, None] / D[None, :], 2) for D in scales)
        assert best <= 0.5 + 1e-8
    assert max(norms) > 1


@pytest.mark.parametrize("inputs", INPUTS)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_inputs_are_bounded(inputs: str, d: int) -> None:
    """Every ‖x_t‖₂ is 0 or the scale (64 times it, saturating) to rounding."""
    spec = make_spec(inputs=inputs, n=3, d=d, T=6, sequences=4, scale=0.75, seed=3)
    rng = member_generator(spec, 0)
    W, U, C = grid_normals(rng, 3, 3), grid_normals(rng, 3, d), grid_normals(rng, 2, 3)
    x = inputs_of(spec, rng, W, U, C)
    assert x.shape == (4, 6, d)
    size = np.linalg.norm(x, axis=2)
    bound = 48.0 if inputs == "saturating" else 0.75
    assert np.all((size == 0) | (np.abs(size - bound) <= 1e-14 * bound))
    if inputs == "zero":
        assert not x.any()
    if inputs == "impulse":
        assert size[:, 0].all()
        assert not x[:, 1:].any()
    if inputs == "constant":
        assert (x == x[:, :1]).all()
    if inputs == "alternating":
        assert (x[:, 1:] == -x[:, :-1]).all()
    if inputs in ("gaussian", "resonant", "saturating"):
        assert size.all()


def test_resonant_inputs_drive_the_readout_furthest() -> None:
    """No other inputs of the same lengths give a linear system a larger c h_T."""
    spec = make_spec(regime="gaussian", inputs="resonant", n=3, d=2, T=5, lam=0.9, seed=4)
    rng = member_generator(spec, 0)
    (W,), U, c = recurrent_matrices(spec, [rng]), grid_normals(rng, 3, 2), grid_normals(rng, 1, 3)

    def reached(x: np.ndarray) -> float:
        h = np.zeros(3)
        for row in x:
            h = W @ h + U @ row
        return float((c @ h)[0])

    best = reached(inputs_of(spec, rng, W, U, c)[0])
    others = np.random.default_rng(0).standard_normal((200, 5, 2))
    others /= np.linalg.norm(others, axis=2, keepdims=True)
    assert all(abs(reached(x)) <= abs(best) * (1 + 1e-12) for x in others)


def test_members_and_streams_are_independent() -> None:
    """Another member, stream or seed gives other numbers; the same give the same."""
    spec = make_spec(seed=1)
    first = grid_normals(member_generator(spec, 0), 8)
    assert (first == grid_normals(member_generator(spec, 0), 8)).all()
    assert (first != grid_normals(member_generator(spec, 1), 8)).any()
    assert (first != grid_normals(member_generator(spec, 0, stream=1), 8)).any()
    assert (first != grid_normals(member_generator(make_spec(seed=2), 0), 8)).any()


def test_a_generator_that_is_set_back_draws_what_a_new_one_draws() -> None:
    """Cached generators restart fully, whatever was drawn before."""
    spec = make_spec(kind="rnn", seed=2**47 + 5)
    for member, number in ((0, 0), (3, 2), (0, 0), (2**20, 6)):
        rngs = cached_generator(spec, member, number), member_generator(spec, member, number)
        one, other = ([*grid_normals(r, 7), *r.integers(2, size=3), r.random()] for r in rngs)
        assert one == other


def test_normal_draws_lie_on_the_grid() -> None:
    """Normal draws are multiples of 2⁻²⁰, so that a library's last digit is lost."""
    draws = grid_normals(member_generator(make_spec(), 0), 1000) * 2**20
    assert (draws == np.round(draws)).all()
