"""What a sum loses in any order: against every tree of additions, and sums in half precision."""

import math
from functools import cache

import pytest
import torch
from torch import Tensor

from rnnbounds.impl.arithmetic.roundings import DtypeRun

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
