import pytest
import torch
from draws import doubles
from flint import arb, ctx
from gated_draws import cho, corners, directions, draw, generator, gru, lstm

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.arithmetic.base import Arithmetic, V
from rnnbounds.impl.arithmetic.entries.balls import Balls, Columns
from rnnbounds.impl.arithmetic.intervals import Interval, PoleError, bounded
from rnnbounds.impl.arithmetic.slopes import compare, stepped
from rnnbounds.impl.arithmetic.spans import SpanArithmetic, invariant
from rnnbounds.impl.cells.programs import jacobian

MAKES = pytest.mark.parametrize("make", [lstm, gru, cho])


def test_near_one_is_reached():
    """One unit with large reach: the state that the bound is made for is found."""

    def step(m: Arithmetic[V], s: V, x: V) -> V:
        return m.mix(m.affine("U", "b", x).sigmoid(), s, m.activate("tanh", m.affine("W", None, s)))

    parameters = {
        "U": torch.full((1, 1, 1), 2.0).double(),
        "b": torch.zeros(1, 1).double(),
        "W": torch.full((1, 1, 1), 0.5).double(),
    }
    found = compare(step, parameters, torch.ones(1, 1).double(), 1.0, 1)
    s, x = torch.zeros(1, 1, 1).double(), torch.ones(1, 1, 1).double()
    slope = float(jacobian(step, parameters, s, x)[0])
    assert slope <= float(found.factor(found.infinity())) <= slope * (1 + 1e-12)


@pytest.mark.parametrize(
    "name", [*ACTIVATIONS, "exp", "softplus", "sin", "cos", "reciprocal", "gelu", "silu"]
)
def test_functions_on_intervals(name):
    """Values and slopes at points of an interval lie within what is said of it."""
    by = generator(11)
    ends = 3 * torch.randn(50, 2, generator=by, dtype=torch.float64)
    if name == "reciprocal":
        ends = ends.abs() + 0.1
    a = Interval(ends.amin(1, keepdim=True), ends.amax(1, keepdim=True))
    f = bounded(name)
    z = a.low + (a.high - a.low) * torch.linspace(0, 1, 101).double()
    z.requires_grad_()
    own = {"exp": torch.exp, "cos": torch.cos, "reciprocal": torch.reciprocal}
    y = own[name](z) if name in own else ACTIVATIONS[name](z)
    (slope,) = torch.autograd.grad(y.sum(), z, create_graph=True)
    told = f.image(a)
    assert bool(((told.low <= y + 1e-12) & (y - 1e-12 <= told.high)).all())
    assert bool((slope.abs() <= f.slope(a) * (1 + 1e-10) + 1e-12).all())
    if slope.requires_grad:
        (curvature,) = torch.autograd.grad(slope.sum(), z, allow_unused=True)
        if curvature is not None:
            assert bool((curvature.abs() <= f.curvature(a) * (1 + 1e-9) + 1e-9).all())


def test_intervals_are_exact_on_dyadic_numbers():
    """Products and mixtures of dyadic intervals come out as they are."""
    one = lambda low, high: Interval(*torch.tensor([[low], [high]]).double()[:, :, None])  # noqa: E731
    told = one(-2.0, 3.0) * one(-1.0, 4.0)
    assert (float(told.low), float(told.high)) == (-8.0, 12.0)
    told = one(0.25, 0.5).mixed(one(-1.0, 1.0), one(-8.0, 2.0))
    assert (float(told.low), float(told.high)) == (-6.25, 1.75)


def test_reciprocal_through_zero_fails_closed():
    """An interval that meets 0 has no reciprocal: what would bound it after cannot hide that."""
    a = Interval(torch.tensor([[-1.0]]).double(), torch.tensor([[1.0]]).double())
    f = bounded("reciprocal")
    assert float(f.slope(a)) == torch.inf
    with pytest.raises(PoleError, match=r"may divide by 0 .*; keep"):
        f.image(a)


def test_iterated_boxes_are_invariant():
    """From a box in which tanh leaves all states, each iterate is invariant and no larger."""

    def step(m: Arithmetic[V], s: V, x: V) -> V:
        return (m.affine("W", "b", s) + m.affine("U", None, x)).tanh()

    by = generator(2)
    W, U, b = (torch.randn(30, 3, size, generator=by).double() / 4 for size in (3, 2, 1))
    parameters = {"W": W, "U": U, "b": b[:, :, 0]}
    box = invariant(step, SpanArithmetic(parameters), torch.ones(30, 3).double(), 1.0, 2, 6)
    assert bool((box < 1).all())
    s = corners(box, 40, by)
    x = torch.randn(30, 2, 40, generator=by).double()
    x = x / x.norm(dim=1, keepdim=True)
    moved = torch.tanh(W @ s + b + U @ x)
    assert bool((moved.abs() <= box[:, :, None] * (1 + 1e-12)).all())


@MAKES
def test_differences_in_balls(make):
    """|φ(s, x) − φ(s′, x′)| ≤ max_r M_r (|s − s′|, |x − x′|), row by row and without rounding."""
    cell = draw(make, 2, seed=12)
    box = cell.held(1.0).box
    d = cell.d
    found = stepped(cell.program, cell.parameters, box, 1.0, d).slopes[0]
    s, x = corners(box, 30, generator(1))[0].mT, directions(cell, 30, generator(2))[0].mT
    m = Balls({name: part[0] for name, part in cell.parameters.items()})
    closest = 0.0
    with ctx.workprec(160):
        for i in range(29):
            ends = [
                [Columns([[arb(a)] for a in p[j].tolist()]) for p in (s, x)] for j in (i, i + 1)
            ]
            gaps = [abs(a[0]) for p in (0, 1) for a in (ends[0][p] - ends[1][p]).units]
            moved = cell.program(m, *ends[0]) - cell.program(m, *ends[1])
            for row, gap in enumerate(moved.units):
                bounds = [
                    sum((arb(a) * b for a, b in zip(M[row].tolist(), gaps, strict=True)), arb(0))
                    for M in found
                ]
                reach = max(bounds, key=lambda b: float(b.mid()))
                assert any(abs(gap[0]) <= bound for bound in bounds)
                closest = max(closest, float(abs(gap[0]).mid()) / float(reach.mid()))
    assert 0.1 < closest <= 1


def test_a_mix_of_negative_numbers_is_enclosed():
    """1 − g is rounded towards the side on which a negative number is the larger one."""
    gate, zero, one = doubles([[1e-20]]), doubles([[0.0]]), doubles([[1.0]])
    found = Interval(gate, gate).mixed(Interval(zero, zero), Interval(-one, -one))
    assert found.high > -1
    assert found.low <= -1
    found = Interval(gate, gate).mixed(Interval(zero, zero), Interval(one, one))
    assert found.low < 1 <= found.high
