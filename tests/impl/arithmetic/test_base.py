import pytest
import torch
from gated_draws import cho, corners, directions, draw, generator, gru, lstm

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.arithmetic.base import Floats, Rows
from rnnbounds.impl.arithmetic.derivatives.dual_numbers import Dual, Duals
from rnnbounds.impl.cells.programs import float_step
from rnnbounds.impl.errors import InputError

MAKES = pytest.mark.parametrize("make", [lstm, gru, cho])


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
