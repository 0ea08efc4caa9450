from fractions import Fraction

import numpy as np
import pytest
import torch
from flint import arb_mat, ctx
from gated_draws import cho, draw, generator, gru, lstm
from torch import Tensor

from impl.cells.refutation import gated_refute
from impl.cells.refutation.gated_refute import FrozenGated, refute_gated
from impl.cells.refutation.refute import SIZE
from impl.certificate.certify import certify
from impl.reading.adapters import load_model

MAKES = pytest.mark.parametrize("make", [lstm, gru, cho])


def bistable(cell: str) -> dict[str, Tensor]:
    """One unit that remembers its sign for ever: h = tanh-like of a steep multiple of itself."""
    weights = {
        "lstm": ([[0.0], [0.0], [6.0], [0.0]], [9.0, -9.0, 0.0, 9.0]),
        "gru": ([[0.0], [0.0], [3.0]], [9.0, -3.0, 0.0]),
        "gru-cho": ([[0.0], [0.0], [3.0]], [9.0, -3.0, 0.0]),
    }[cell]
    W, b = (torch.tensor(part, dtype=torch.float64) for part in weights)
    return {"weight_hh": W, "weight_ih": torch.ones(len(W), 1).double() / 8, "bias_ih": b}


def alternating() -> dict[str, Tensor]:
    """One unit of a GRU that changes its sign at each step: no second fixed point, but period 2."""
    weights = bistable("gru")
    weights["weight_hh"] = -2 * weights["weight_hh"]
    weights["bias_ih"][1] = -9.0
    return weights


@MAKES
def test_jacobians_in_balls(make):
    """The ball Jacobian of a step is autograd's, to rounding."""
    cell = draw(make, 3)
    size = 6 if make is lstm else 3
    x = torch.randn(2, generator=generator(0), dtype=torch.float64)
    for seed in range(5):
        s = torch.rand(size, generator=generator(seed), dtype=torch.float64) - 0.5
        found = FrozenGated(cell, x.numpy(), size)
        moved, slopes = found.orbit(s.numpy()[None], 2)
        with ctx.workprec(128):
            exact, turned, smooth = found.enclose(arb_mat([[a] for a in s.tolist()]), 2)
        assert smooth
        assert np.allclose(moved[0], [float(a.mid()) for a in exact.entries()], rtol=0, atol=1e-14)
        balls = [[float(a.mid()) for a in row] for row in turned.tolist()]
        assert np.allclose(slopes[0], balls, rtol=0, atol=1e-13)


@pytest.mark.parametrize("cell", ["lstm", "gru", "gru-cho"])
def test_two_fixed_points(cell):
    """A unit that keeps its sign is refuted, and the two points do stay where they are."""
    certificate = certify(bistable(cell), 1.0, cell=cell)
    assert (certificate.verdict, certificate.stable) == ("refuted", False)
    witness = certificate.witness
    assert (witness.kind, witness.period) == ("two-orbits", 1)
    assert "two fixed points" in witness.text
    model = load_model(bistable(cell), cell)
    points = torch.tensor(witness.points, dtype=torch.float64).T[None]
    x = torch.tensor(witness.input, dtype=torch.float64)[None, :, None].expand(1, 1, 2)
    assert float((model.cell.step(points, x) - points).abs().max()) < 1e-14
    assert float((points[..., 0] - points[..., 1]).abs().max()) > 0.1


def test_period_two():
    """A unit that alternates is refuted by its points of period 2."""
    witness = certify(alternating(), 0.0).witness
    assert (witness.kind, witness.period) == ("two-orbits", 2)


def test_points_lie_in_the_box():
    """The witness refutes contraction of the very box that certificates speak of."""
    model = load_model(bistable("lstm"))
    witness = certify(model, 1.0).witness
    box = model.cell.held(1.0).box[0]
    for point in witness.points:
        inside = torch.tensor(point, dtype=torch.float64).abs() <= box + witness.radius
        assert bool(inside.all())


@pytest.mark.slow
@MAKES
def test_certified_cells_have_no_witness(make):
    """What contracts has one fixed point: the search finds no second one."""
    for seed in range(3):
        cell = draw(make, 2, scale=0.1, seed=seed)
        assert refute_gated(cell, cell.held(1.0).box[0], 1.0) is None


def test_large_cells_are_left_alone(monkeypatch):
    """Beyond the size nothing is sought; a search that fails claims nothing."""
    cell = draw(gru, 2)
    assert refute_gated(cell, torch.ones(SIZE + 1), 1.0) is None

    def lost(*_):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(gated_refute, "candidates", lost)
    assert refute_gated(cell, torch.ones(2), 1.0) is None


@pytest.mark.parametrize("B", [0.0, 5e-324, 1e-323, 3e-323, 1e-320, 1e-308, 1.0, 1e300])
def test_constant_inputs_at_any_scale(B):
    """No constant input that is tried is larger than B, even where B is subnormal."""
    drawn = draw(gru, 3, d=4).U[0].tolist()
    for U in (drawn, [[0.6, 0.8], [0.6, 0.8001]], [[1.0, 2.0, 3.0]], [[1e308, 1e308]]):
        for x in gated_refute._inputs(np.array(U), B):
            assert sum(Fraction(float(a)) ** 2 for a in x) <= Fraction(B) ** 2
    assert B > 0 or len(list(gated_refute._inputs(np.array(U), B))) == 1
