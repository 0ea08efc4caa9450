import pytest
import torch
from flint import arb, arb_mat, ctx
from gated_draws import cho, corners, directions, draw, generator, gru, lstm

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.arithmetic.base import Arithmetic, Floats, Rows, V
from rnnbounds.impl.arithmetic.derivatives.dual_numbers import Dual, Duals
from rnnbounds.impl.arithmetic.entries.balls import Balls, Columns
from rnnbounds.impl.cells.programs import ball_step, float_step, jacobian
from rnnbounds.impl.errors import InputError

MAKES = pytest.mark.parametrize("make", [lstm, gru, cho])


def every(m: Arithmetic[V], s: V, x: V) -> V:
    """A step in which every operation occurs."""
    a, b = m.join(s, m.affine("U", "b", x)).chunk(2)
    gate = (a - b).sigmoid()
    wave = a.sin() * b.cos() + (a.softplus() + (-b).exp()).reciprocal()
    turned = m.affine("W", None, s * m.vector("w", slice(2)), slice(1, 3))
    return m.mix(gate, wave, m.activate("silu", turned.tanh())) + m.slope("tanh", a).part(0, 2)


def weights(systems: int = 3):
    """Parameters of `every`, for states and inputs of two units."""
    by = generator(4)
    shapes = {"U": (2, 2), "b": (2,), "W": (3, 2), "w": (3,)}
    return {
        name: torch.randn(systems, *shape, generator=by, dtype=torch.float64)
        for name, shape in shapes.items()
    }


def points(systems: int = 3, columns: int = 4):
    """States and inputs of two units."""
    by = generator(5)
    return [torch.randn(systems, 2, columns, generator=by, dtype=torch.float64) for _ in range(2)]


def test_floats_and_balls_agree():
    """Every operation in floats lies in the ball, to rounding."""
    parameters, (s, x) = weights(1), points(1, 1)
    told = float_step(every, parameters, s, x)[0, :, 0]
    with ctx.workprec(120):
        alone = Balls({name: part[0] for name, part in parameters.items()})
        found = every(alone, Columns.of(arb_mat(s[0].tolist())), Columns.of(arb_mat(x[0].tolist())))
        for ball, value in zip(found.matrix.entries(), told.tolist(), strict=True):
            assert ball.rad() < 1e-30
            assert abs(ball - arb(value)) < 1e-14


@pytest.mark.slow
def test_jacobians_of_every_operation():
    """Tangents over floats are torch's own derivatives, and lie in those over balls."""
    parameters, (s, x) = weights(), points()
    by_state, by_input = jacobian(every, parameters, s, x)
    for i in range(3):
        one = {name: part[i : i + 1] for name, part in parameters.items()}
        for j in range(4):
            run = lambda a, b, one=one: float_step(  # noqa: E731
                every, one, a[None, :, None], b[None, :, None]
            )[0, :, 0]
            for which, found in ((0, by_state), (1, by_input)):
                told = torch.func.jacrev(run, argnums=which)(s[i, :, j], x[i, :, j])
                assert torch.allclose(found[i, j], told, rtol=1e-12, atol=1e-13)
    with ctx.workprec(120):
        one = {name: part[:1] for name, part in parameters.items()}
        _, enclosed = ball_step(
            every, one, *(arb_mat([[a] for a in part[0, :, 0].tolist()]) for part in (s, x))
        )
        flat = by_state[0, 0].flatten().tolist()
        for ball, value in zip(enclosed.entries(), flat, strict=True):
            assert abs(ball - arb(value)) < 1e-13


@MAKES
def test_tangents_in_the_parameters(make):
    """Parameters that move along a direction move the step as torch says."""
    cell = draw(make, 3, systems=2, seed=8)
    s, x = corners(torch.ones(2, 6 if make is lstm else 3).double(), 5, generator(1)), None
    x = directions(cell, 5, generator(2))
    by = generator(3)
    along = {
        name: torch.randn(part.shape, generator=by, dtype=torch.float64)
        for name, part in cell.parameters.items()
    }
    still = [Dual(Rows(part.mT), Rows(torch.zeros_like(part.mT))) for part in (s, x)]
    found = cell.program(Duals(Floats(cell.parameters), Floats(along)), *still)
    told, moved = torch.func.jvp(
        lambda p: float_step(cell.program, p, s, x), (cell.parameters,), (along,)
    )
    assert torch.allclose(found.value.value.mT, told, rtol=0, atol=0)
    assert torch.allclose(found.tangent.value.mT, moved, rtol=1e-12, atol=1e-13)


@MAKES
def test_second_derivatives(make):
    """Duals over duals give the second derivative along a state direction."""
    cell = draw(make, 3, seed=9)
    s = corners(torch.ones(1, 6 if make is lstm else 3).double(), 1, generator(1))
    x = directions(cell, 1, generator(2))
    way = torch.randn(s.shape, generator=generator(3), dtype=torch.float64)
    zero, row = Rows(torch.zeros_like(s.mT)), Rows(way.mT)
    state = Dual(Dual(Rows(s.mT), row), Dual(row, zero))
    drive = Dual(
        Dual(Rows(x.mT), Rows(torch.zeros_like(x.mT))),
        Dual(Rows(torch.zeros_like(x.mT)), Rows(torch.zeros_like(x.mT))),
    )
    found = cell.program(Duals(Duals(Floats(cell.parameters))), state, drive).tangent.tangent

    def first(at):
        return torch.func.jvp(
            lambda a: float_step(cell.program, cell.parameters, a, x), (at,), (way,)
        )[1]

    told = torch.func.jvp(first, (s,), (way,))[1]
    assert torch.allclose(found.value.mT, told, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    "name", ["identity", "tanh", "sigmoid", "softplus", "silu", "sin", "arctan"]
)
def test_slopes_of_activations_twice(name):
    """The slopes that are made of elementary functions are torch's."""
    z = torch.linspace(-3, 3, 13, dtype=torch.float64)[None]
    once = Dual(Rows(z), Rows(torch.ones_like(z)))
    found = Duals(Floats({})).slope(name, once)
    rho = ACTIVATIONS[name]
    told, second = torch.func.jvp(rho.derivative, (z,), (torch.ones_like(z),))
    assert torch.allclose(found.value.value, told, rtol=1e-12, atol=1e-14)
    assert torch.allclose(found.tangent.value, second, rtol=1e-11, atol=1e-13)


def test_kinks_have_no_second_derivative():
    """The slope of a kinked activation is refused in one line."""
    z = Rows(torch.zeros(1, 1).double())
    with pytest.raises(InputError, match="relu is differentiated once only"):
        Duals(Floats({})).slope("relu", Dual(z, z))
