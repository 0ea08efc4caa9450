"""One step in a dtype against the exact one, at every scale and at its ends."""

import math

import pytest
import torch
from flint import arb, arb_mat, ctx

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS, activation
from rnnbounds.impl.arithmetic.base import Arithmetic, Floats, Rows, V
from rnnbounds.impl.arithmetic.interval_arithmetic import step_bound
from rnnbounds.impl.arithmetic.roundings import DtypeRun
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.convert.truncate import unrolled
from rnnbounds.impl.gradients.rounding import local_error
from rnnbounds.impl.gradients.step_errors import step_error
from rnnbounds.impl.models.rnn import RNN
from rnnbounds.impl.numbers.outward import UNIT, gamma
from rnnbounds.impl.reading.adapters import load_model


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


UNITS = 32  # as many units as torch's vectorised kernels take


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("rho", ACTIVATIONS)
@pytest.mark.parametrize("share", [0.2, 0.6])
def test_a_bound_holds_where_there_is_one(rho, dtype, share):
    """GELU doubles its argument on the way: biases above half the largest number give infinity."""
    bias = torch.zeros(UNITS, dtype=dtype)
    bias[0] = share * torch.finfo(dtype).max
    zero = torch.zeros(UNITS, UNITS, dtype=dtype)
    cell = "linear" if rho == "identity" else f"rnn-{rho}"
    weights = {"weight_hh_l0": zero, "weight_ih_l0": zero[:, :1], "bias_ih_l0": bias}
    model = load_model(weights, cell)
    found = certify(model, inputs=0.0, norm="spectral")
    assert found.verdict == "certified"
    with torch.no_grad():
        net, x = unrolled(model, 1), torch.zeros(1, 1, 1, dtype=dtype)
        run, exact = net(x).double(), net.double()(x.double())
    gap = float((run - exact).norm())
    assert gap <= found.rounding.state or not math.isfinite(float(exact.norm()))


def zero(m: Arithmetic[V], s: V, x: V) -> V:
    """tanh(Ws + Ux) of weights that are 0."""
    return m.activate("tanh", m.affine("W", None, s) + m.affine("U", None, x))


def test_ends():
    """Nothing is lost where all is 0, and what underflows is allowed for, flushed or not; nothing
    is known of what overflows, of long sums of coarse numbers, of slopes, and of infinite boxes."""
    box = torch.ones(1, 2, dtype=torch.float64)
    still = {"W": torch.zeros(1, 2, 2).double(), "U": torch.zeros(1, 2, 1).double()}
    assert step_error(zero, still, box, 1.0, 1, torch.float16).tolist() == [[0.0, 0.0]]
    small = {**still, "W": torch.full((1, 2, 2), 2.0**-12).double()}
    least = 2 * torch.finfo(torch.float16).tiny
    assert step_error(zero, small, box * 2.0**-12, 0.0, 1, torch.float16).amin() >= least
    large = {**still, "W": torch.full((1, 2, 2), 2e4).double()}
    assert step_error(zero, large, box, 1.0, 1, torch.float16).tolist() == [[math.inf] * 2]
    assert step_error(zero, large, box, 1.0, 1, torch.float32).amax() < 1e-2 * 2e4
    wide = {"W": torch.full((1, 130, 130), 0.01).double(), "U": torch.ones(1, 130, 1).double()}
    many = torch.ones(1, 130, dtype=torch.float64)
    assert step_error(zero, wide, many, 1.0, 1, torch.bfloat16).amin() == math.inf
    assert step_error(zero, wide, many, 1.0, 1, torch.float16).amax() < math.inf
    assert step_error(zero, wide, many * math.inf, 1.0, 1, torch.float32).amin() == math.inf
    steep = step_error(lambda m, s, x: m.slope("tanh", s), still, box, 1.0, 1, torch.float32)
    assert steep.amin() == math.inf


@pytest.mark.parametrize("halves", [0.9, 1.1])
def test_sums_of_several_products(halves):
    """One after another, as a kernel may add them up: half units are lost beside what is there, or
    more than that is gained."""
    n, small = 64, float(torch.tensor(halves * 2.0**-11).half())
    weights = {"W": torch.full((1, n, n), small).double(), "U": torch.ones(1, n, 1).double()}

    def driven(m: Arithmetic[V], s: V, x: V) -> V:
        return m.affine("U", None, x) + m.affine("W", None, s)

    box = torch.ones(1, n, dtype=torch.float64)
    bound = step_error(driven, weights, box, 1.0, 1, torch.float16)
    most = step_bound(driven, weights, box, 1.0, 1, DtypeRun(torch.float16, fused=True))
    ran = torch.ones(n, dtype=torch.float16)
    for _ in range(n):
        ran += torch.tensor(small, dtype=torch.float16)
    off = (ran.double() - (1 + n * small)).abs()
    assert float(off.amax()) > 0.02
    assert bool((off <= bound[0]).all())
    assert bool((ran.double() <= most[0]).all())


def test_infinity_times_zero():
    """What overflows is no number after a product by 0, which nothing bounds."""
    weights = {"U": torch.full((1, 2, 1), 6e4).double(), "W": torch.zeros(1, 2, 2).double()}

    def silenced(m: Arithmetic[V], s: V, x: V) -> V:
        return m.activate("tanh", m.affine("W", None, m.affine("U", None, x)))

    box = torch.ones(1, 2, dtype=torch.float64)
    ran = silenced(Floats({k: p.half() for k, p in weights.items()}), Rows(box.half()),
                   Rows(torch.full((1, 1), 2.0, dtype=torch.float16)))  # fmt: skip
    assert bool(ran.value.isnan().all())
    assert step_error(silenced, weights, box, 2.0, 1, torch.float16).tolist() == [[math.inf] * 2]
    assert step_error(silenced, weights, box, 2.0, 1, torch.float32).tolist() != [[math.inf] * 2]
