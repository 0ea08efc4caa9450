"""Activations: values, slopes and constants against balls, in float64 and in each dtype."""

import math
import random
from itertools import pairwise

import numpy as np
import pytest
import torch
from flint import arb, ctx

from rnnbounds.impl.arithmetic.activation import (
    ACTIVATIONS,
    LIBRARY_ACTIVATIONS,
    Activation,
    activation,
)
from rnnbounds.impl.arithmetic.interval_arithmetic import IntervalArithmetic, IntervalVector
from rnnbounds.impl.arithmetic.intervals import Interval
from rnnbounds.impl.arithmetic.roundings import DtypeRun
from rnnbounds.impl.checker.cells import rounding as checker
from rnnbounds.impl.checker.cells.activations import BALL_ACTIVATIONS
from rnnbounds.impl.models.torch_machine import keeps_to_its_model, worst_error

U = 2.0**-24
ALL = [*ACTIVATIONS.values(), *LIBRARY_ACTIVATIONS.values()]
SMOOTH = [rho for rho in ALL if rho.curvature < math.inf]
NAMES = {"argvalues": ALL, "ids": lambda rho: rho.name}


def grid() -> list[float]:
    """Floats of every scale on both sides: subnormal, overflowing, and where functions switch."""
    draw = random.Random(1)
    scales = [*range(-1074, -60, 40), *range(-60, 12), *range(12, 1024, 40)]
    points = [2.0**e * (1 + draw.random()) for e in scales]
    points += [i / 8 + draw.random() / 8 for i in range(8 * 45)]
    ends = (8.3, 20.0, 20.000000000000004, 20.5, 26.6, 38.6, 40.0, 40.01, 700.0, 746.0)
    points += [0.0, 5e-324, *ends]
    return points + [-p for p in points]


GRID = grid()


def ball_ratio(error: arb, allowed: float) -> float:
    """How much of what is allowed an error uses."""
    if error == 0:
        return 0.0
    return float((error / allowed).upper()) if allowed > 0 else math.inf


@pytest.fixture(autouse=True)
def _precise() -> object:
    with ctx.workprec(256):
        yield


@pytest.mark.parametrize("rho", **NAMES)
def test_error_model(rho: Activation) -> None:
    """The float64 function stays within its own absolute error model of the ball's value."""
    z = torch.tensor(GRID, dtype=torch.float64)
    computed, allowed = rho(z).tolist(), rho.error(1, z.abs()).tolist()
    ratios = [
        ball_ratio(abs(arb(value) - rho.ball(arb(x))), bound)
        for x, value, bound in zip(GRID, computed, allowed, strict=True)
    ]
    assert all(ratio <= 1 for ratio in ratios)


@pytest.mark.parametrize("rho", **NAMES)
def test_derivative(rho: Activation) -> None:
    """The float64 derivative is within its error of the ball's, and close to autograd's."""
    z = torch.tensor(GRID, dtype=torch.float64, requires_grad=True)
    computed = rho.derivative(z.detach()).tolist()
    for x, value in zip(GRID, computed, strict=True):
        assert ball_ratio(abs(arb(value) - rho.ball_derivative(arb(x))), rho.derivative_error) <= 1
    if rho in SMOOTH and rho.name != "softplus-torch":
        small = z.abs() < 1e100  # torch's own derivatives overflow beyond
        (slope,) = torch.autograd.grad(rho(z).sum(), z)
        gap = (slope - rho.derivative(z)).abs()[small]
        assert gap.max() <= 1e-13


@pytest.mark.parametrize("rho", **NAMES)
def test_balls_enclose(rho: Activation) -> None:
    """A wide ball's image holds the images of its points, also across a kink; so does its slope."""
    for centre in (-41.0, -3.0, -0.25, 0.0, 0.125, 2.0, 30.0):
        for radius in (1e-3, 0.5, 4.0):
            wide = arb(centre, radius)
            for part in (-1.0, -0.5, 0.0, 0.25, 1.0):
                point = arb(centre + part * radius)
                assert rho.ball(wide).overlaps(rho.ball(point))
                assert rho.ball_derivative(wide).overlaps(rho.ball_derivative(point))
    assert not rho.ball(arb.nan()).is_finite()
    assert not rho.ball_derivative(arb.nan()).is_finite()


@pytest.mark.parametrize("rho", **NAMES)
def test_constants_bound(rho: Activation) -> None:
    """Slope, curvature, bound and the value at zero are upper bounds, and nearly attained."""
    points = [i / 64 for i in range(-64 * 45, 64 * 45 + 1)]
    slopes = [rho.ball_derivative(arb(x)) for x in points]
    assert all(abs(slope) <= rho.slope for slope in slopes)
    assert max(float(abs(slope)) for slope in slopes) >= rho.slope * (1 - 1e-3)
    assert rho.ball(arb(0)) <= rho.at_zero <= float(rho.ball(arb(0))) + 1e-15
    if rho.curvature < math.inf:
        bends = [64 * abs(b - a) for a, b in pairwise(slopes)]
        assert all(bend <= rho.curvature for bend in bends)
        assert max(map(float, bends)) >= rho.curvature * (1 - 3e-2)
    values = [abs(rho.ball(arb(x))) for x in [*points, 1e300, -1e300]]
    assert not any(value > rho.bound for value in values)
    if rho.bound < math.inf:
        assert max(map(float, values)) >= rho.bound * (1 - 1e-3)


def test_slope_of_silu() -> None:
    """The bound of SiLU's slope stands on a point just above the root of z tanh(z/2) = 2."""
    z = arb(4 * ACTIVATIONS["silu"].slope - 2)
    assert z * (z / 2).tanh() >= 2
    below = arb(4 * ACTIVATIONS["silu"].slope - 2 - 1e-14)
    assert below * (below / 2).tanh() < 2


def test_errors_vanish_at_zero() -> None:
    """Nothing is lost at Z = 0 where ρ(0) = 0, and something is allowed where it is not."""
    Z = torch.zeros(3, dtype=torch.float64)
    assert ACTIVATIONS["tanh"].error(4, Z).tolist() == [0.0] * 3
    assert (ACTIVATIONS["sigmoid"].error(4, Z) > 0).all()
    for rho in ALL:
        assert rho.at_zero > 0 or rho(Z).tolist() == [0.0] * 3


def test_functions_of_kernels():
    """σ = 1/(1 + exp(−z)) with an exp off by up to 2.5 ulp, and by 2|z| units more where it is that
    of 2 by a rounded z log₂e, and with an approximate division of 2 ulp: within 8 units."""
    sigma = activation("sigmoid")
    room = float(sigma.dtype_error(U, 1, torch.ones(1, dtype=torch.float64))[0]) / U
    assert room == pytest.approx(8)
    z = np.linspace(-30, 30, 20_001)
    exponential = np.exp(-z)
    value = 1 / (1 + exponential)
    for units, division, most in ((5.0, 1.0, 2.5), (5.0 + 2 * np.abs(z), 5.0, 6.3)):
        error = value * (1 - value) * units + value * (1 + division)
        assert error.max() <= most < room
    for sign in (-5 * U, 5 * U):
        e = (exponential * (1 + sign)).astype(np.float32)
        computed = (np.float32(1) / (np.float32(1) + e)).astype(np.float64)
        assert (np.abs(computed - value) <= 2.6 * U).all()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("name", ["tanh", "sigmoid"])
def test_functions_of_a_card(name):
    """CUDA's own, by way of torch, within their error model in float32."""
    far = np.geomspace(1e-30, 80, 4000)
    z = torch.from_numpy(np.concatenate([far, -far])).float().double()
    assert worst_error(activation(name), z, "cuda", "float32")[1]


HALVES = (torch.float16, torch.bfloat16)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", ["tanh", "sigmoid"])
def test_every_argument(name: str, dtype: torch.dtype) -> None:
    """Of all 65,536: torch's value is within the error that is assumed of the exact one, and among
    the numbers of the dtype that boxes hold for it."""
    z = torch.arange(2**16, dtype=torch.int32).to(torch.int16).view(dtype)
    rho, found = ACTIVATIONS[name], ACTIVATIONS[name](z)
    assert bool(torch.equal(found.isnan(), z.isnan()))
    ends = z.isinf()
    assert torch.equal(found[ends].double(), rho(z[ends].double()))
    z, found = (part[z.isfinite()].double() for part in (z, found))
    run = DtypeRun(dtype)
    with ctx.workprec(80):
        exact = [rho.ball(arb(v)) for v in z.tolist()]
        off = [float(abs(arb(v) - e).upper()) for v, e in zip(found.tolist(), exact, strict=True)]
        low, high = (
            torch.tensor([float(end) for end in ends], dtype=torch.float64)
            for ends in ([e.lower() for e in exact], [e.upper() for e in exact])
        )
    allowed = rho.dtype_error(run.unit, 1, z.abs()) + run.tiny
    assert bool((torch.tensor(off, dtype=torch.float64) <= allowed).all())
    lost = run.function_error * torch.maximum(low.abs(), high.abs())
    box = run.round_within(Interval(low - lost, high + lost), 0.0)
    assert bool(((box.low <= found) & (found <= box.high)).all())
    # Nearly all of it is the one rounding: with less than that of float32 allowed it fails.
    assert not bool((torch.tensor(off, dtype=torch.float64) <= allowed / 2).all())


@pytest.mark.parametrize("unit", [2.0**-24, 2.0**-11, 2.0**-8])
def test_the_checker_assumes_the_same(unit: float) -> None:
    """In balls, of every activation, at several sizes."""
    for name, rho in ACTIVATIONS.items():
        told = BALL_ACTIVATIONS[{"identity": "linear"}.get(name, f"rnn-{name}")]
        for n, size in ((1, 0.0), (3, 0.25), (5, 40.0)):
            here = float(rho.dtype_error(unit, n, torch.tensor(size, dtype=torch.float64)))
            there = checker._function(told, n, arb(size), unit)
            assert here * (1 - 1e-12) <= float(there.mid()) <= here


KNOWN = ACTIVATIONS | LIBRARY_ACTIVATIONS
DTYPES = (torch.float64, torch.float32, *HALVES)


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", KNOWN)
def test_values_of_a_run(name: str, dtype: torch.dtype, fused: bool) -> None:
    """GELU returns 0 where it is small beside its argument; erf keeps to no model in bfloat16, of
    which `step_error` knows nothing then."""
    if not keeps_to_its_model(name, dtype=str(dtype).removeprefix("torch.")):
        assert (name, dtype) == ("erf", torch.bfloat16)
        return
    near = torch.logspace(-12, 0, 25)
    z = torch.cat([torch.linspace(-42, 42, 85), near, -near]).to(dtype)[None]
    run = DtypeRun(dtype, fused)
    at = IntervalVector(Interval(z.double(), z.double()), run)
    told = IntervalArithmetic({}, run=run).activate(name, at).range
    found = KNOWN[name](z).double()
    assert bool(((told.low <= found) & (found <= told.high)).all())
