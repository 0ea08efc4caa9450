"""What is assumed of functions in half precision, at every number that there is."""

import pytest
import torch
from flint import arb, ctx

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.arithmetic.intervals import Interval
from rnnbounds.impl.arithmetic.roundings import DtypeRun
from rnnbounds.impl.checker.cells import rounding as checker
from rnnbounds.impl.checker.cells.activations import BALL_ACTIVATIONS

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
