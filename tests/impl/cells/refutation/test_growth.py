import numpy as np
import pytest
from flint import arb_mat

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.cells.refutation.growth import growth
from rnnbounds.impl.numbers.spectra.krawczyk import column

RELU, LEAKY = ACTIVATIONS["relu"], ACTIVATIONS["leaky-relu"]
NILPOTENT = [[2.0, 4.0], [-1.0, -2.0]]
POSITIVE = np.random.default_rng(0).random((6, 6)).tolist()


def grown(W, b=None, rho=RELU):
    """`growth` of plain lists."""
    matrix = np.array(W)
    return growth(matrix, column(np.zeros(len(W)) if b is None else np.array(b)), rho)


GROWING = {
    "scalar": ([[2.0]], None, RELU, 2.0),
    "scalar with bias": ([[2.0]], [1.0], RELU, 2.0),
    "identity": ([[1.0, 0.0], [0.0, 1.0]], None, RELU, 1.0),
    "swap": ([[0.0, 1.0], [1.0, 0.0]], None, RELU, 1.0),
    "nilpotent": (NILPOTENT, None, RELU, 2.0),
    "nilpotent, biased": (NILPOTENT, [0.3, -0.7], RELU, 2.0),
    "nilpotent, leaky": (NILPOTENT, None, LEAKY, 1.98),
    "beside a contraction": ([[2.0, 0.0], [0.0, 0.5]], [1.0, 1.0], RELU, 2.0),
    "beside a dead unit": ([[2.0, 0.0], [0.0, 0.5]], [1.0, -1.0], RELU, 2.0),
    "positive": (POSITIVE, None, RELU, float(np.abs(np.linalg.eigvals(POSITIVE)).max())),
    "positive, biased": (POSITIVE, [0.1] * 6, LEAKY, None),
}


@pytest.mark.parametrize("name", GROWING)
def test_grows(name):
    """Each witness is replayed in floats: the two orbits part by its factor, step by step."""
    W, b, rho, factor = GROWING[name]
    found = grown(W, b, rho)
    assert found is not None
    if factor is not None:
        assert abs(found.factor - factor) < 1e-9
    h, other = np.array(found.first), np.array(found.second)
    slope = {"relu": 0.0, "leaky-relu": 0.01}[rho.name]
    for _ in range(12):
        before = np.linalg.norm(h - other)
        for_both = np.stack([h, other]) @ np.array(W).T + (0 if b is None else np.array(b))
        h, other = np.where(for_both > 0, for_both, slope * for_both)
        assert np.linalg.norm(h - other) >= before * (found.factor - 1e-6)


STABLE = {
    "contraction": [[0.5]],
    "just below 1": [[np.nextafter(1, 0)]],
    "negative": [[-3.0]],
    "shift": [[0.0, 5.0], [0.0, 0.0]],
    "zero": [[0.0]],
}


@pytest.mark.parametrize("name", STABLE)
def test_no_growth(name):
    """No witness where the orbits of zero input meet."""
    assert grown(STABLE[name]) is None


def test_no_fixed_point():
    """W = 1 with a bias drifts: the affine map has no fixed point, and nothing is claimed."""
    assert grown([[1.0]], [1.0]) is None


def test_wrong_side():
    """If the fixed point of the piece has a unit on the wrong side, nothing is claimed."""
    assert grown([[2.0, 0.0], [0.0, 3.0]], [1.0, 1.0]) is None
    assert grown([[2.0, 0.0], [-1.0, 0.0]], [-3.0, -1.0]) is not None


def test_overflow():
    """Weights and states that overflow are not judged."""
    assert grown([[1e308, 1e308], [1e308, 1e308]]) is None
    assert grown([[0.5, 0.0], [0.0, 2.0]], [1.0, 1e308]) is None


def test_ball_constants():
    """A constant that is only known as a ball serves as well."""
    wide = arb_mat([[2]]) / 3
    assert growth(np.array([[2.0]]), wide, RELU) is not None
