"""Functions of numbers that are off, at any scale, against balls."""

from fractions import Fraction

import pytest
import torch
from flint import arb, ctx

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.arithmetic.running import Running, RunningError

FUNCTIONS = {
    "exp": lambda t: t.exp(),
    "reciprocal": lambda t: 1 / t,
    "sqrt": lambda t: t.sqrt() if t > 0 else arb(0),
    "sin": lambda t: t.sin(),
    "cos": lambda t: t.cos(),
    "tanh": lambda t: t.tanh(),
    "sigmoid": lambda t: 1 / (1 + (-t).exp()),
    "softplus": lambda t: (1 + t.exp()).log() if t < 800 else t,
}
BIG = 2.0**513


@pytest.mark.parametrize("v", [BIG, -(2.0**1000), 1e154])
@pytest.mark.parametrize("off", [0.5, 0.999, 2.0**-40])
def test_reciprocals_of_large_numbers_keep_the_error_that_was_carried_in(v, off):
    """|v| (|v| − e) is beyond float64; 1/(|v| − e) − 1/|v| is not."""
    at = torch.tensor([[v]], dtype=torch.float64)
    error = at.abs() * off
    told = RunningError(at, error).function("reciprocal")
    with ctx.workprec(200):
        least = arb(v) - arb(error.item()) * (1 if v > 0 else -1)
        lost = abs(1 / least - arb(told.value.item()))
        assert lost <= arb(told.error.item())


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_functions_at_any_scale_lie_within_their_bounds(name):
    """Scales of values and errors from underflow to overflow, at both ends of what is known."""
    draw = torch.Generator().manual_seed(0)
    scale, part, sign = (torch.rand(1, 400, generator=draw).double() for _ in range(3))
    sizes = 10 ** torch.cat([scale[:, :200] * 627 - 320, scale[:, 200:] * 8 - 4], dim=1)
    v = torch.where(sign < 0.5, -sizes, sizes)
    v[0, :40] = -744 - 10 * part[0, :40]  # where eᵛ underflows
    e = torch.where(sign * 7 % 1 < 0.5, v.abs() * 10 ** (20 * part - 18), 10 ** (330 * part - 320))
    e[0, :40] = part[0, :40]
    told = RunningError(v, e).function(name)
    looked = 0
    with ctx.workprec(2300):
        for at, off, value, error in zip(
            *(x[0].tolist() for x in (v, e, told.value, told.error)), strict=True
        ):
            if error == float("inf") or (abs(at) + off > 1e6 and name in ("exp", "sigmoid")):
                continue
            for end in (arb(at) - arb(off), arb(at), arb(at) + arb(off)):
                if name != "reciprocal" or end != 0:
                    looked += 1
                    assert abs(FUNCTIONS[name](end) - arb(value)) <= arb(error), (at, off)
    assert looked > 300


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", ["gelu", "silu", "erf"])
def test_the_largest_slope_is_not_rounded_to_the_default_dtype(name, dtype):
    """What is carried in grows by sup |ρ′| where it is taken: in float32 GELU's is too small."""
    rho = activation(name)
    v = torch.tensor([[{"gelu": 2**0.5, "silu": 2.399357280515468, "erf": 0.0}[name]]]).double()
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        told = RunningError(v, torch.full_like(v, 2.0**-20)).through(rho)
    finally:
        torch.set_default_dtype(before)
    with ctx.workprec(200):
        at = arb(v.item())
        for end in (at - arb(2) ** -20, at + arb(2) ** -20):
            assert abs(rho.ball(end) - arb(told.value.item())) <= arb(told.error.item())


@pytest.mark.parametrize("count", [1, 2, 300])
def test_a_norm_of_many_parts_is_rounded_up(count):
    """One unit that stands for many is joined as often: no rounding of the sum is left out."""
    unit = RunningError.off(torch.ones(1, 1, 1).double(), torch.full((1, 1, 1), 3e-9).double(),
                    torch.full((1, 1, 1), 1e-9).double())  # fmt: skip
    joined = Running({}).join(*[unit] * count)
    assert joined.size == count
    assert Fraction(float(joined.r)) ** 2 >= count * Fraction(float(unit.r)) ** 2
    assert float(joined.r) <= float(unit.r) * count**0.5 * (1 + 1e-10)
    lost = RunningError.off(torch.full((1, 1, 1), torch.inf).double(), unit.error, unit.norm)
    assert float(Running({}).join(unit, lost).r) == torch.inf
