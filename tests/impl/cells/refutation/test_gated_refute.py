from fractions import Fraction

import numpy as np
import pytest
import torch
from flint import arb_mat, ctx
from gated_draws import cho, draw, generator, gru, lstm

from rnnbounds.impl.arithmetic.inputs.sets import input_box, input_rows
from rnnbounds.impl.cells.refutation import refute
from rnnbounds.impl.cells.refutation.periodic import Frozen
from rnnbounds.impl.cells.refutation.refute import refute_gated
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.reading.adapters import load_model

MAKES = pytest.mark.parametrize("make", [lstm, gru, cho])


@MAKES
def test_jacobians_in_balls(make):
    """The ball Jacobian of a step is autograd's, to rounding."""
    cell = draw(make, 3)
    size = 6 if make is lstm else 3
    x = torch.randn(2, generator=generator(0), dtype=torch.float64)
    for seed in range(5):
        s = torch.rand(size, generator=generator(seed), dtype=torch.float64) - 0.5
        found = Frozen(cell.program, cell.parameters, x.numpy(), size)
        moved, slopes = found.orbit(s.numpy()[None], 2)
        with ctx.workprec(128):
            exact, turned, smooth = found.enclose(arb_mat([[a] for a in s.tolist()]), 2)
        assert smooth
        assert np.allclose(moved[0], [float(a.mid()) for a in exact.entries()], rtol=0, atol=1e-14)
        balls = [[float(a.mid()) for a in row] for row in turned.tolist()]
        assert np.allclose(slopes[0], balls, rtol=0, atol=1e-13)


@pytest.mark.parametrize("B", [0.0, 5e-324, 1e-323, 3e-323, 1e-320, 1e-308, 1.0, 1e300])
def test_constant_inputs_at_any_scale(B):
    """No constant input that is tried is larger than B, even where B is subnormal."""
    drawn = draw(gru, 3, d=4).U[0].tolist()
    for U in (drawn, [[0.6, 0.8], [0.6, 0.8001]], [[1.0, 2.0, 3.0]], [[1e308, 1e308]]):
        for x, _ in refute.constant_inputs(np.array(U), B, 2 * np.ones((3, 4))[:, : len(U[0])]):
            assert sum(Fraction(float(a)) ** 2 for a in x) <= Fraction(B) ** 2
    assert B > 0 or len(list(refute.constant_inputs(np.array(U), B))) == 1


def leaky(W, U, b, name="tanh"):
    """An echo-state network without leak, and the box that is proved."""
    held = {"W": W, "W_in": U, "leak": np.ones(len(W)), "b": b}
    model = load_model(
        {key: torch.tensor(part).double() for key, part in held.items()}, f"leaky-{name}"
    )
    return model.cell, model.cell.proved_box(1.0).box[0]


@pytest.mark.parametrize(("size", "where"), [(8.0, 0.5), (40 / 3, 0.3)])
def test_inputs_inside_of_the_ball(size, where):
    """tanh(3h + ux − 4) rests at one point for x = 0 and ±1, at two for x = 4/u: half of the
    largest input, or one of those that are given."""
    cell, box = leaky([[3.0]], [[size]], [-4.0])
    found = refute_gated(cell, box, 1.0)
    given = np.array([[where], [2.0]])
    assert (found is None) == (where != 0.5)
    found = refute_gated(cell, box, 1.0, given)
    assert found is not None
    assert abs(found.input[0]) == pytest.approx(where)
    assert refute_gated(cell, box, 0.1, given) is None


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 40])
def test_repellers_lie_in_the_box(n):
    """A rotation blown up by 1.5, under tanh: no two points of a small period, but 0 repels; of the
    box that is proved, and nothing where it leaves no room about 0."""
    c, s = np.cos(1.0), np.sin(1.0)
    turn = torch.block_diag(*[1.5 * torch.tensor([[c, -s], [s, c]])] * (n // 2))
    cell, box = leaky(turn.tolist(), np.zeros((n, 1)).tolist(), np.zeros(n).tolist())
    found = refute_gated(cell, box, 1.0)
    assert (found.kind, found.period) == ("unstable-orbit", 1)
    assert 1.5 - 1e-6 < found.modulus <= 1.5 + 1e-6
    assert refute_gated(cell, 0 * box, 1.0) is None


@pytest.mark.parametrize("cell", ["leaky-tanh", "rnn-tanh", "linear"])
def test_inputs_of_a_set(cell):
    """What is refuted of a set is refuted by inputs of it: not by zero, which it lacks."""
    names = ("W", "W_in", "b") if cell == "leaky-tanh" else ("weight_hh", "weight_ih", "bias_ih")
    tensors = (torch.tensor(part).double() for part in ([[3.0]], [[40 / 3]], [-4.0]))
    held = dict(zip(names, tensors, strict=True))
    held |= {"leak": torch.ones(1).double()} if cell == "leaky-tanh" else {}
    rows = input_rows(torch.tensor([[0.3], [1.0], [-1.0]]).double())
    for given, refuted in (
        (rows, True),
        (input_box(0.25, 0.35, 1), True),
        (input_box(0.6, 1, 1), False),
    ):
        told = certify(held, inputs=given, cell=cell, norm="infinity")
        assert (told.verdict == "refuted") == (refuted or cell == "linear")
        if told.witness is not None and cell != "linear":
            assert given.holds(told.witness.input)
