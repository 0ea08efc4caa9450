"""Numbers that are off, and runs in a dtype: functions, sums in any order, weights of a set."""

import math
from fractions import Fraction
from functools import cache

import pytest
import torch
from flint import arb, ctx
from program_draws import cells
from torch import Tensor

from rnnbounds.impl.arithmetic.activation import activation
from rnnbounds.impl.arithmetic.base import Floats, Rows
from rnnbounds.impl.arithmetic.interval_arithmetic import IntervalArithmetic
from rnnbounds.impl.arithmetic.invariance import saturating_gates
from rnnbounds.impl.arithmetic.roundings import DtypeRun
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


STEPS = {  # of v, an arithmetic m and its product W v
    "gates": lambda m, v, a: a.part(0, 3).sigmoid() * a.part(3, 6).tanh() + v.part(1, 4),
    "twice": lambda m, v, a: a + a,
    "squared": lambda m, v, a: a * a,
    "overlapping": lambda m, v, a: a.part(0, 4) + a.part(1, 5) + a.part(2, 6),
    "against": lambda m, v, a: a.part(0, 3) - a.part(3, 6),
    "mixed": lambda m, v, a: m.mix(a.sigmoid(), v, m.affine("W", None, a.tanh())),
    "joined": lambda m, v, a: m.join(a.part(0, 2).tanh(), v * v, a).part(1, 9),
    "state": lambda m, v, a: m.affine("V", None, m.join(m.join(a.part(3, 6), v), a)),
}


@pytest.mark.parametrize("name", STEPS)
def test_the_norm_holds_the_worst_error_that_is_carried(name):
    """Along the direction that a step moves most, and others, its norm holds what is moved: each
    entry of ξ is in it as often as it is met. Where none is met twice it says no more than that."""
    draw = torch.Generator().manual_seed(2)
    W = torch.linalg.qr(torch.randn(1, 6, 6, generator=draw).double())[0]
    V = torch.randn(1, 5, 15, generator=draw).double()
    at, size = torch.rand(1, 1, 6, generator=draw).double(), 2.0**-20
    off = torch.full_like(at, size)
    v = RunningError.off(at, off, off[..., :1])

    def run(m, number):
        return STEPS[name](m, number, m.affine("W", None, number))

    def plain(h):
        return run(Floats({"W": W, "V": V}), Rows(h[None, None])).value[0, 0]

    told = run(Running({"W": W, "V": V}), v)
    J = torch.autograd.functional.jacobian(plain, at[0, 0])
    worst = torch.linalg.svd(J)[2][:1] * size
    most = 0.0
    for way in (*worst, *-worst, *torch.nn.functional.normalize(J) * size):
        moved = plain(at[0, 0] + way) - told.value[0, 0]
        assert float(moved.norm()) <= float(told.r)
        assert bool((moved.abs() <= told.error[0, 0]).all())
        most = max(most, float(moved.norm()))
    if name in ("twice", "against"):
        assert float(told.r) <= most * (1 + 1e-6)


HALVES = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])


def lost_in_any_tree(terms: list[float], unit: float) -> float:
    """The most that additions of these terms lose, each u 2ᵉ of a result in [2ᵉ, 2ᵉ⁺¹)."""

    @cache
    def lost(chosen: frozenset[int]) -> float:
        if len(chosen) == 1:
            return 0.0
        first, *others = sorted(chosen)
        parts = (
            frozenset([first, *(o for k, o in enumerate(others) if mask >> k & 1)])
            for mask in range(2 ** len(others) - 1)
        )
        return binade(sum(terms[i] for i in chosen)) + max(
            lost(part) + lost(chosen - part) for part in parts
        )

    def binade(size: float) -> float:
        return unit * 2.0 ** math.floor(math.log2(size))

    return lost(frozenset(range(len(terms))))


@HALVES
@pytest.mark.parametrize("seed", range(8))
def test_every_tree(dtype: torch.dtype, seed: int) -> None:
    """No tree loses more; the one that adds the largest first loses all but growth and products."""
    run, draw = DtypeRun(dtype), torch.Generator().manual_seed(seed)
    terms = 2.0 ** (4 * torch.rand(6, generator=draw).double() - 2)
    bound = float(run.terms_error(terms[None, None]))
    most = lost_in_any_tree(terms.tolist(), run.unit)
    assert most <= bound
    grown = (1 + 12 * run.unit) * terms.sum()
    assert bound <= 2 * (1 + 2.0**-9) * (most + run.unit * float(grown))


def in_some_order(terms: Tensor, draw: torch.Generator) -> Tensor:
    """Sums (S,) of columns of terms (K, S) of a dtype, in a tree that is drawn."""
    parts = list(terms)
    while len(parts) > 1:
        i, j = torch.randperm(len(parts), generator=draw)[:2].tolist()
        total = parts[i] + parts[j]
        parts = [part for k, part in enumerate(parts) if k not in (i, j)] + [total]
    return parts[0]


@HALVES
@pytest.mark.parametrize("K", [3, 12, 40])
def test_sums_of_half_precision(dtype: torch.dtype, K: int) -> None:
    """Of terms of any signs and sizes, and of the worst that are known: 1 and halves of its last
    place, one after another, which all are lost."""
    run, draw = DtypeRun(dtype), torch.Generator().manual_seed(K)
    used = 0.0
    for spread in (0.0, 1.0, 2.0):
        terms = torch.randn(K, 512, generator=draw) * 2 ** (
            spread * torch.randn(K, 512, generator=draw)
        )
        terms = terms.to(dtype)
        exact, bound = terms.double().sum(0), run.terms_error(terms.double().abs().mT[None])[0]
        for _ in range(8):
            lost = (in_some_order(terms, draw).double() - exact).abs()
            assert bool((lost <= bound).all())
            used = max(used, float((lost / bound).amax()))
    assert used > 0.05
    half = float(torch.tensor(0.99 * run.unit).to(dtype))
    total = torch.ones((), dtype=dtype)
    for _ in range(K - 1):
        total = total + torch.tensor(half, dtype=dtype)
    lost = abs(float(total) - 1 - (K - 1) * half)
    bound = float(run.terms_error(torch.tensor([[[1.0, *[half] * (K - 1)]]]).double()))
    assert 0.6 * bound < lost <= bound


def test_ends() -> None:
    """Zeros lose nothing, nothing is known of long sums of coarse numbers and of infinite terms;
    at extreme sizes the bound scales with them."""
    run = DtypeRun(torch.bfloat16)
    terms = torch.tensor([[[1.0, 0.5, 0.0], [0.0, 0.0, 0.0], [1.0, torch.inf, 0.0]]]).double()
    found = run.terms_error(terms)[0].tolist()
    assert (found[1], found[2]) == (0.0, math.inf)
    assert run.terms_error(torch.ones(1, 1, 200).double()).item() == math.inf
    for size in (2.0**-900, 2.0**900):
        assert run.terms_error(size * terms)[0, 0].item() == size * found[0]


def test_a_cell_that_keeps_nothing_as_it_is() -> None:
    """A deep transition has no gate that could round to 1."""
    cell = cells("deep-tanh", 1)
    assert saturating_gates(cell, torch.bfloat16, cell.proved_box(1.0).box, 1.0) is None


@pytest.mark.parametrize("of_inputs", [False, True])
def test_a_run_with_weights_of_the_set_is_not_rounded_further(of_inputs: bool) -> None:
    """Of all weights near 0 sums are off by what those at the edge are off by."""
    run, still = DtypeRun(torch.float16, fused=True), torch.zeros(1, 1, 1, dtype=torch.float64)
    edge = {"W": still + 1, "b": still[0] + 1}
    radii = {name: torch.ones(1, dtype=torch.float64) for name in edge}
    box = still[0] + 1
    whole = IntervalArithmetic({name: 0 * value for name, value in edge.items()}, run, radii=radii)
    v = whole.inputs(1.0, box, 1) if of_inputs else whole.box(box)
    told, one = (m.affine("W", "b", v).range for m in (whole, IntervalArithmetic(edge, run)))
    assert told.high >= one.high
