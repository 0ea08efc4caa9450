"""Iterated maps: what several steps contract, against orbits, products and published formulas."""

import itertools
import math

import pytest
import torch
from draws import normal
from flint import arb_mat, ctx

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.certificate.certify import certify
from rnnbounds.impl.gradients.windows.rollout import truncations
from rnnbounds.impl.norms import iterated as module
from rnnbounds.impl.norms.iterated import (
    STEPS,
    VERTICES,
    StepFamily,
    _vertex_norms,
    iterated_norms,
    step_factors,
)
from rnnbounds.impl.numbers.spectra.exact_norm import ball_norm
from rnnbounds.impl.reading.adapters import load_model

SLOPES = ((0.0, 1.0), (-0.13, 1.13), (-1.0, 1.0), (0.01, 1.0))


def steps(W, slopes=(0.0, 1.0), kept=None):
    """The steps of a cell."""
    return StepFamily(W, *slopes, torch.zeros_like(W[0]) if kept is None else kept)


def products(V, kept, chosen):
    """J_m ⋯ J_1 for m = 1, …, with slopes (count, steps, n): (steps, count, n, n)."""
    found = [torch.eye(len(V), dtype=V.dtype).expand(len(chosen), -1, -1)]
    for slopes in chosen.unbind(1):
        found.append((kept.diag() + slopes[:, :, None] * V) @ found[-1])
    return torch.stack(found[1:])


@pytest.mark.slow
@pytest.mark.parametrize("leak", [1.0, 0.3])
@pytest.mark.parametrize("n", [1, 3, 9, 20])
def test_factors_bound_products(n, leak):
    """‖D J_m ⋯ J_1 D⁻¹‖₂ ≤ λ_m for random, extreme and alternating slopes, all m."""
    for seed, (least, most) in enumerate(SLOPES):
        kept = torch.linspace(0.9 * (1 - leak), 1 - leak, n, dtype=torch.float64)
        W = 0.8 * (1 - kept)[:, None] * normal(n, n, seed=seed) / n**0.5
        d = normal(n, seed=seed + 9).exp()
        factors = torch.tensor(step_factors(steps(W, (least, most), kept), d), dtype=torch.float64)
        chosen = torch.rand(
            300, STEPS, n, generator=torch.Generator().manual_seed(seed), dtype=torch.float64
        )
        chosen[100:] = chosen[100:].round()
        chosen[-2:] = torch.tensor([0.0, 1.0])[:, None, None]
        chosen = least + (most - least) * chosen
        seen = torch.linalg.matrix_norm(products(d[:, None] * W / d, kept, chosen), 2).amax(1)
        assert (seen <= factors * (1 + 1e-12)).all()


@pytest.mark.parametrize("slopes", SLOPES)
def test_two_steps_are_exact(slopes):
    """λ_2 = M max ‖WEW‖₂ over the vertices, in balls: no less, and hardly more."""
    W = normal(4, 4, seed=3) / 2
    factor = step_factors(steps(W, slopes), torch.ones(4, dtype=torch.float64))[1]
    size = max(map(abs, slopes))
    with ctx.workprec(200):
        norms = [
            size * ball_norm(arb_mat((W @ torch.tensor(E, dtype=W.dtype).diag() @ W).tolist()))
            for E in itertools.product(slopes, repeat=4)
        ]
    worst = max(map(float, norms))
    assert worst * (1 - 1e-13) <= factor <= worst * (1 + 1e-12)


def test_linear_cells_are_exact():
    """For slopes that are all 1, λ_m is ‖W^m‖₂, and ‖(κI + W)^m‖₂ for a cell that keeps κ."""
    W, one = normal(16, 16) / 5, torch.ones(16, dtype=torch.float64)
    factors = step_factors(steps(W, (1.0, 1.0)), one)
    for m, factor in enumerate(factors, 1):
        exact = float(torch.linalg.matrix_norm(torch.linalg.matrix_power(W, m), 2))
        assert exact <= factor <= exact * (1 + 1e-9)
    G = 0.7 * one.diag() + 0.3 * W
    factors = step_factors(steps(0.3 * W, (1.0, 1.0), 0.7 * one), one)
    for m, factor in enumerate(factors, 1):
        exact = float(torch.linalg.matrix_norm(torch.linalg.matrix_power(G, m), 2))
        assert exact * (1 - 1e-12) <= factor <= exact * (1 + 1e-9)


def test_expansion():
    """Beyond the vertices λ_2 is the least of M(c‖W²‖ + ρ‖W‖²) and M²‖W‖²."""
    W, one = normal(30, 30) / 6, torch.ones(30, dtype=torch.float64)
    p = [float(torch.linalg.matrix_norm(torch.linalg.matrix_power(W, m), 2)) for m in (1, 2)]
    expected = min(0.375 * p[1] + 0.625 * p[0] ** 2, p[0] ** 2)
    assert step_factors(steps(W, (-0.25, 1.0)), one)[1] == pytest.approx(expected, rel=1e-12)


def test_norm_of_all_steps():
    """The adapted norm: μ^r ≥ λ_r and K ≥ λ_m μ^{−m}, so that λ_r^q λ_m ≤ Kμ^k for every k."""
    W = normal(6, 6, seed=1) / 2
    for one in iterated_norms(steps(W), torch.ones(6, dtype=torch.float64)):
        r, lam = len(one.factors), (1.0, *one.factors)
        for k in range(40):
            whole, rest = divmod(k, r)
            assert lam[r] ** whole * lam[rest] <= one.condition * one.rate**k * (1 + 1e-12)


def test_beyond_every_single_step():
    """A cell that no diagonal norm certifies in one step is certified, with its window."""
    W = torch.tensor([[0.2, 1.4], [-0.2, -0.7]], dtype=torch.float64)
    log_d = torch.linspace(-6, 6, 2001, dtype=torch.float64)
    entries = W * torch.exp(torch.stack([log_d * 0, log_d, -log_d, log_d * 0], 1).view(-1, 2, 2))
    assert float(torch.linalg.matrix_norm(entries, 2).min()) > 1.03
    loaded = load_model({"weight_hh": W, "weight_ih": torch.ones(2, 1).double()}, "rnn-tanh")
    certificate = certify(loaded, 1.0, (1e-2,), "iterated")
    assert (certificate.verdict, certificate.norm) == ("certified", "iterated")
    assert certificate.constants["steps"] > 1
    k = certificate.window(1e-2)
    full, short = truncations(loaded.cell, torch.ones(1, 80, 1, 1, dtype=torch.float64), k)
    assert float((full - short[:, :, k]).norm()) <= 1e-2


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_least_slope(name):
    """No secant slope of an activation is below its `least`, and some come near."""
    rho = ACTIVATIONS[name]
    z = torch.linspace(-12, 12, 200_001, dtype=torch.float64)
    slopes = rho(z).diff() / z.diff()
    assert float(slopes.min()) >= rho.least - 1e-9
    assert float(slopes.min()) <= rho.least + 1e-2


def test_fails_closed():
    """Weights that overflow or are not finite give infinite factors, zero ones vanish."""
    one = torch.ones(3, dtype=torch.float64)
    for value in (1e308, math.inf, math.nan):
        W = torch.full((3, 3), value, dtype=torch.float64)
        for found in iterated_norms(steps(W), one):
            assert not found.rate < 1
            assert found.condition >= 1
    zero = iterated_norms(steps(torch.zeros(3, 3, dtype=torch.float64)), one)
    assert all(found.rate < 1e-17 and found.condition == 1 for found in zero)
    tiny = iterated_norms(steps(torch.full((3, 3), 1e-308, dtype=torch.float64)), one)
    assert all(found.factors[-1] > 0 for found in tiny)


@pytest.mark.parametrize("slopes", SLOPES)
def test_every_vertex_counts(slopes):
    """w_1, …, w_5 are the largest ‖W J_m ⋯ J_1‖₂ of all 2^{2m} corners: no less, hardly more."""
    W = normal(2, 2, seed=5)
    at = steps(W, slopes, torch.tensor([0.25, 0.5], dtype=torch.float64))
    found, level = _vertex_norms(at, 5), [W]
    assert len(found) == 5
    for told in found:
        corners = [torch.tensor(E, dtype=W.dtype) for E in itertools.product(slopes, repeat=2)]
        level = [product @ at.jacobian(E) for product in level for E in corners]
        worst = max(float(torch.linalg.matrix_norm(product, 2)) for product in level)
        assert worst * (1 - 1e-13) <= told <= worst * (1 + 1e-11)


def test_maps_of_every_number_of_steps():
    """r = 2, …, STEPS, each with the factors of as many steps."""
    W, one = normal(2, 2, seed=5) / 2, torch.ones(2, dtype=torch.float64)
    factors = step_factors(steps(W), one)
    assert len(factors) == STEPS
    found = iterated_norms(steps(W), one)
    assert [told.factors for told in found] == [factors[:r] for r in range(2, STEPS + 1)]
    for told, exact in zip(found, factors[1:], strict=True):
        r = len(told.factors)
        assert exact ** (1 / r) * (1 - 1e-12) <= told.rate <= exact ** (1 / r) * (1 + 1e-12)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_all_vertices_that_are_few_are_taken(n, monkeypatch):
    """λ_{m+1} is at most M w_m for each m of which the 2^{nm} ≤ VERTICES corners are certified one
    by one, and that of the last m is larger without its corners."""
    most = int(math.log2(VERTICES)) // n
    assert 2 ** (n * most) <= VERTICES < 2 ** (n * (most + 1))
    at, one = steps(normal(n, n, seed=5), (-1.0, 1.0)), torch.ones(n, dtype=torch.float64)
    factors, corners = step_factors(at, one), _vertex_norms(at, most)
    assert all(lam <= w * (1 + 1e-12) for lam, w in zip(factors[1:], corners, strict=False))
    monkeypatch.setattr(module, "VERTICES", 2 ** (n * (most - 1)))
    assert step_factors(at, one)[most] > factors[most] * (1 + 1e-6)
