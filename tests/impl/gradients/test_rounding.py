import pytest
import torch
from flint import arb, arb_mat, ctx

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS, activation
from rnnbounds.impl.gradients.rounding import local_error
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.outward import UNIT, gamma


def exact_step(cell: RNN, h: list[float], x: list[float]) -> list[arb]:
    """One step of the first system in balls."""
    W, U = (arb_mat(M[0].tolist()) for M in (cell.W, cell.U))
    column = arb_mat([[b] for b in cell.b[0].tolist()])
    z = W * arb_mat([[v] for v in h]) + U * arb_mat([[v] for v in x]) + column
    return [cell.activation.ball(z[i, 0]) for i in range(cell.n)]


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e3])
def test_one_step(name: str, scale: float) -> None:
    """The error of a float64 step, found in balls, is below the bound, at every scale."""
    draw = torch.Generator().manual_seed(0)
    n, d, M = 6, 2, 8
    W, U, b, h, x = (
        scale * torch.randn(1, *shape, dtype=torch.float64, generator=draw)
        for shape in ((n, n), (n, d), (n,), (n, M), (d, M))
    )
    cell = RNN(W / scale, U / scale, b, activation(name))
    computed = cell.step(h, x)[0]
    bounds = local_error(
        cell, torch.linalg.vector_norm(h, dim=1), torch.linalg.vector_norm(x, dim=1)
    )
    with ctx.workprec(200):
        for m in range(M):
            true = exact_step(cell, h[0, :, m].tolist(), x[0, :, m].tolist())
            gaps = [arb(v) - t for v, t in zip(computed[:, m].tolist(), true, strict=True)]
            error = sum((gap * gap for gap in gaps), arb(0)).upper().sqrt()
            assert error <= bounds[0, m].item()


def test_underflow_is_allowed_for() -> None:
    """A subnormal step has a bound above zero, in float64."""
    W = torch.full((1, 1, 1), 2.0**-600, dtype=torch.float64)
    cell = RNN(W, W, W[:, 0], activation("identity"))
    bound = local_error(cell, W[:, 0, 0], W[:, 0, 0])
    assert bound.dtype == torch.float64
    assert bound.item() > 0


def test_gamma() -> None:
    """γ_m is rounded up."""
    for m in (1, 10, 10**6):
        assert arb(gamma(m)) >= arb(m) * UNIT / (1 - arb(m) * UNIT)
