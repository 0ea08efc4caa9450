"""Whole runs in a dtype against exact ones, and against runs of the worst arithmetic."""

import math

import pytest
import torch
from draws import normal, small
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from rnnbounds.impl.arithmetic.entries import Balls, Columns
from rnnbounds.impl.cells.rounding import StepBounds
from rnnbounds.impl.cells.table import kind_of
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.norms.comparison import Comparison
from rnnbounds.impl.norms.differences import certified_point
from rnnbounds.impl.reading.adapters import load_model


def module_of(name, dtype, layers=1, n=6, size=0.3, seed=3):
    """A module of torch's with small weights."""
    make = getattr(torch.nn, name)
    return small(make, 2, n, layers, scale=size, seed=seed, batch_first=True).to(dtype)


@pytest.mark.slow
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize(
    ("name", "dtype"),
    [("LSTM", torch.float32), ("GRU", torch.float16), ("RNN", torch.bfloat16),
     ("LSTM", torch.bfloat16)],
)  # fmt: skip
def test_runs_are_within(name, dtype, layers):
    """Torch's kernels, whichever way round they add up."""
    module = module_of(name, dtype, layers, size=0.2)
    told = certify(module, inputs=1.0)
    assert told.verdict == "certified"
    if math.isinf(told.rounding.state):
        assert (dtype, layers) == (torch.bfloat16, 2)
        assert told.rounding.reason.startswith("layer ")
        return
    x = normal(16, 30, 2, seed=1)
    x = (0.98 * x / x.norm(dim=2, keepdim=True)).to(dtype)
    ran = module(x)[0].detach().double()
    model = load_model(module)
    N = layers * (12 if name == "LSTM" else 6)
    s, worst = torch.zeros(1, N, 16, dtype=torch.float64), 0.0
    for t in range(30):
        s = model.cell.step(s, x[:, t].double().mT[None])
        gap = ran[:, t] - s[0, -6:].mT
        worst = max(worst, float(gap.norm(dim=1).max()))
    assert 0 < worst <= told.rounding.state


@settings(max_examples=10)
@given(
    st.sampled_from(["LSTM", "GRU", "RNN"]), st.integers(1, 3), st.integers(0, 2**32),
    st.sampled_from([torch.float64, torch.float32, torch.bfloat16, torch.float16]),
)  # fmt: skip
def test_a_run_in_a_dtype_against_one_in_balls(name, n, seed, dtype):
    """Ten steps of the cell's own rows from zero are within the bound of the exact ones."""
    model = load_model(module_of(name, dtype, n=n, seed=seed))
    told, kind = certify(model, inputs=1.0, norm="infinity"), kind_of(model.name)
    x = torch.randn(1, 10, 2)
    x = (0.9 * x / x.norm(dim=2, keepdim=True)).to(dtype)
    s = torch.zeros(1, n * (2 if name == "LSTM" else 1), dtype=dtype)
    with ctx.workprec(200):
        m = Balls({role: part.double() for role, part in model.weights.items()})
        exact = Columns([[arb(0)]] * s.shape[1])
        for driven, row in zip(kind.drive(model.weights, x).unbind(1), x[0].tolist(), strict=True):
            s = kind.step(model.weights, driven, s)
            exact = model.cell.program(m, exact, Columns([[arb(a)] for a in row]))
            pairs = zip(s[0, -n:].tolist(), exact.units[-n:], strict=True)
            square = sum(((arb(a) - b) ** 2 for a, (b,) in pairs), arb(0))
            assert square <= arb(told.rounding.state) ** 2


def test_unknown():
    """Why nothing is known: no contraction, or one that rounding leads out of."""
    told = certify(module_of("GRU", torch.float32, n=2, size=3.0), inputs=1.0)
    assert math.isinf(told.rounding.state)
    assert told.rounding.reason == "no norm certifies the model"
    told = certify(module_of("LSTM", torch.bfloat16, n=8, size=0.5), inputs=1.0)
    assert math.isinf(told.rounding.state)
    assert "the states that rounding may reach" in told.rounding.reason


def test_norms_by_diagonal_weights():
    """These contract everywhere; of a box that is infinite nothing is known."""
    draw = torch.Generator().manual_seed(0)
    weights = {
        "W": 0.1 * torch.randn(3, 3, generator=draw),
        "W_in": torch.randn(3, 2, generator=draw),
        "leak": torch.full((3,), 0.5),
    }
    told = certify(weights, inputs=1.0, cell="leaky-identity", norm="diagonal")
    assert told.verdict == "certified"
    assert 0 < told.rounding.state < 1e-3


BLOCKS = pytest.mark.parametrize("blocks", [1, 2, 3])


def contracting(seed: int, blocks: int, size: float) -> tuple[Tensor, Tensor]:
    """Jacobians (2, N, N) of a step, some entries 0, and errors (N,)."""
    draw = torch.Generator().manual_seed(seed)
    J = torch.randn(2, 6, 6, generator=draw, dtype=torch.float64)
    J *= size * (torch.rand(6, 6, generator=draw) < 0.7)
    return J, 1e-6 * torch.rand(6, generator=draw, dtype=torch.float64) ** 2


def compared(J: Tensor, blocks: int) -> Comparison:
    """The comparison of steps whose rows are those of either Jacobian."""
    n = 6 // blocks
    worst = J.abs().amax(0).reshape(blocks, n, blocks, n).transpose(1, 2)
    norms = torch.linalg.matrix_norm(worst, 2)
    if bool((J[0] == J[1]).all()):
        norms = torch.linalg.matrix_norm(J[0].reshape(blocks, n, blocks, n).transpose(1, 2), 2)
    E, ones = norms[None] * (1 + 1e-12), torch.ones(1, 6).double()
    slopes = torch.cat([J.abs()[None], ones.expand(2, -1)[None, ..., None]], 3)
    return Comparison(slopes[:, : len(J)], ones, ones, blocks, norms=lambda: E)


@BLOCKS
@pytest.mark.parametrize("size", [0.05, 0.2, 0.4])
@pytest.mark.parametrize("seed", range(6))
def test_no_run_is_further_off(seed: int, size: float, blocks: int) -> None:
    """Of one Jacobian the largest error of a unit is Σ |Jᵏ|ρ; of two, rows and errors are drawn,
    or as they are worst next."""
    J, error = contracting(seed, blocks, size)
    draw = torch.Generator().manual_seed(seed)
    one = StepBounds(compared(J[:1].expand(2, -1, -1), blocks), error).gap
    both = StepBounds(compared(J, blocks), error).gap
    most, power = torch.zeros(6).double(), torch.eye(6).double()
    e, worst = torch.zeros(64, 6).double(), torch.zeros(6).double()
    for _ in range(60):
        most, power = most + power.abs() @ error, power @ J[0]
        rows = torch.einsum("rij,bj->rbi", J, e)
        drawn = torch.where(torch.rand(64, 6, generator=draw) < 0.5, rows[0], rows[1])
        drawn[:32] = torch.where(rows[0].abs() > rows[1].abs(), rows[0], rows[1])[:32]
        e = drawn + error * torch.where(drawn < 0, -1.0, 1.0)
        worst = torch.maximum(worst, e.abs().amax(0))
        for gap, runs in ((both, e), (one, most[None])):
            assert bool((runs.abs() <= gap.units * (1 + 1e-12)).all())
        assert bool((e.reshape(64, blocks, -1).norm(dim=2) <= both.blocks * (1 + 1e-12)).all())
    if size < 0.1:
        assert bool(torch.isfinite(both.units).all())
        assert float((worst / both.units).amin()) > 0.3


def test_where_nothing_is_known() -> None:
    """A comparison that does not contract bounds nothing, whatever a solver makes of it."""
    grows = torch.tensor([[[0.5, 0.6], [0.6, 0.5]]]).double()
    ones = torch.ones(1, 2).double()
    slopes = torch.cat([grows, ones[..., None]], 2)[None]
    comparison = Comparison(slopes, ones, ones, 1, lambda: 1.1 * ones[:, :1, None])
    assert bool(torch.isinf(StepBounds(comparison, ones[0]).gap.units).all())
    assert certified_point(grows, ones[0]).tolist() == [math.inf] * 2
    assert all(10 <= v < 10.001 for v in certified_point(grows * 0 + 0.45, ones[0]).tolist())
    assert certified_point(grows * 0, ones[0] * 0).tolist() == [0.0] * 2


def worst_sum(terms: Tensor, unit: float) -> Tensor:
    """What a sum of terms (…, K) may lose: first those of the sign that is more, the largest first,
    each addition off by u 2ᵉ of its result."""
    sign = torch.where(terms.sum(-1, keepdim=True) < 0, -1.0, 1.0)
    partial = (sign * terms).sort(-1, descending=True).values.cumsum(-1)[..., 1:]
    mantissa, exponent = torch.frexp(partial)
    return unit * torch.where(mantissa == 0, 0.0, 2.0 ** (exponent - 1).double()).sum(-1)


@pytest.mark.parametrize("n", [1, 4, 12])
@pytest.mark.parametrize("style", ["orthogonal", "random", "nilpotent"])
def test_runs_of_the_worst_arithmetic(style: str, n: int) -> None:
    """A tanh network with every sum, and every function by 8 units, off in the direction that the
    states already are: within the bound, of which it uses a share."""
    draw = torch.Generator().manual_seed(n)
    W = torch.randn(n, n, generator=draw).double()
    W = torch.linalg.qr(W)[0] * 0.9 if style == "orthogonal" else 0.5 * W / n**0.5
    W = (W.triu(1) if style == "nilpotent" else W).float()
    weights = {"weight_hh": W, "weight_ih": torch.randn(n, 2, generator=draw) / 2}
    bound = certify(weights, inputs=1.0, eps=1e-2, cell="rnn-tanh").rounding.state
    assert bound is not None
    W, U, unit = W.double(), weights["weight_ih"].double(), 2.0**-24
    h, used = torch.zeros(2, 256, n).double(), 0.0
    size = torch.logspace(-3, 0, 256).double()[:, None]
    for t in range(60):
        x = torch.randn(256, 2, generator=draw).double()
        x = size * x / x.norm(dim=1, keepdim=True)
        z = h @ W.T + x @ U.T
        terms = torch.cat([W * h[0][:, None, :], (U * x[:, None, :])], 2)
        way = torch.where(z[0] < z[1], -1.0, 1.0)
        pre = z[0] + way * worst_sum(terms, unit)
        library = 8 * unit * pre.abs().clamp(max=1.0)
        h = torch.stack([pre.tanh() + way * library, z[1].tanh()])
        gap = float((h[0] - h[1]).norm(dim=1).amax())
        assert gap <= bound, t
        used = max(used, gap / bound)
    assert used > 0.05
