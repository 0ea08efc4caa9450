"""Spectral norms: certified in floats, exact in rationals, enclosed in balls."""

import math

import pytest
import torch
from flint import arb, arb_mat, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from rnnbounds.impl.errors import ShapeError
from rnnbounds.impl.numbers.spectra import spectral_norm as norm_module
from rnnbounds.impl.numbers.spectra.exact_norm import ball_norm, rational_norm_at_most
from rnnbounds.impl.numbers.spectra.spectral_norm import (
    certified_norm,
    frobenius_bound,
    is_norm_below,
)

HADAMARD = torch.tensor(
    [[1.0, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]], dtype=torch.float64
)  # norm 2
KNOWN = [
    (torch.eye(3, dtype=torch.float64) * 0.75, 0.75),
    (HADAMARD, 2.0),
    (torch.tensor([[3.0], [4.0]], dtype=torch.float64), 5.0),
    (torch.tensor([[3.0, 4.0]], dtype=torch.float64), 5.0),
    (torch.tensor([[3.0, 0.0], [4.0, 0.0]], dtype=torch.float64), 5.0),
    (torch.tensor([[0.0, 2.0], [0.0, 0.0]], dtype=torch.float64), 2.0),
    (torch.tensor([[-0.3]], dtype=torch.float64), 0.3),
    (torch.zeros(2, 3, dtype=torch.float64), 0.0),
]


@pytest.mark.parametrize("scale", [1.0, 2.0**-1000, 2.0**1000])
@pytest.mark.parametrize(("W", "norm"), KNOWN)
def test_known_norms(W: torch.Tensor, norm: float, scale: float) -> None:
    """At the exact norm the rationals say yes, one unit in the last place below they say no."""
    assert rational_norm_at_most(scale * W, scale * norm)
    if norm:
        assert not rational_norm_at_most(scale * W, math.nextafter(scale * norm, 0.0))
    ball = ball_norm(scale * W)
    assert ball.contains(arb(scale * norm))
    assert ball.rad() <= 1e-12 * scale * norm


def test_clusters() -> None:
    """Repeated and zero eigenvalues that flint does not isolate are enclosed all the same."""
    half = torch.full((2, 2), 0.5, dtype=torch.float64)
    blocks = torch.block_diag(half, half, half)
    singular = torch.tensor([[0.0, 1.0, 2.0]] * 3, dtype=torch.float64)
    stairs = torch.diag(torch.tensor([1.0, 0.0, 2.0, 2.0, 0.0, -1.0], dtype=torch.float64))
    for W, norm in ((blocks, arb(1)), (singular, arb(15).sqrt()), (stairs, arb(2))):
        for bits in (53, 128):
            with ctx.workprec(bits):
                ball = ball_norm(W)
                assert ball.overlaps(norm)
                assert ball.rad() <= arb(2) ** (8 - bits)


def test_wide_balls() -> None:
    """The norm of wide balls is the midpoints' give or take the radii's; NaN stays NaN."""
    middle, wide = (
        arb_mat([[arb(0), 1], [1, arb(0)]]),
        arb_mat([[arb(0, 0.5), 1], [1, arb(0, 0.5)]]),
    )
    ball = ball_norm(wide)
    assert ball.contains(ball_norm(middle))
    assert ball.contains(arb(1.5))
    assert ball.contains(arb(0.5))
    assert ball.rad() <= 0.8
    assert ball_norm(arb_mat(3, 3, [arb(0, 1)] * 9)).contains(arb(3))
    assert ball_norm(arb_mat([[arb(0, 1)], [arb(2)]])).contains(arb(5).sqrt())
    assert ball_norm(arb_mat([[arb(0, 1)]])).contains(arb(0))
    for entry in (math.nan, math.inf):
        assert not ball_norm(torch.tensor([[entry, 1.0]])).is_finite()
    assert ball_norm(torch.zeros(3, 3)) == 0


def test_rational_bounds() -> None:
    """A bound may be any rational; what is negative or not finite never holds."""
    third = torch.tensor([[1 / 3]], dtype=torch.float64)
    assert rational_norm_at_most(third, fmpq(1, 3))  # the float is just below
    assert not rational_norm_at_most(third, fmpq(1, 3) - fmpq(1, 10**16))
    for bad in (-1.0, math.nan, math.inf):
        assert not rational_norm_at_most(third, bad)
    assert not rational_norm_at_most(torch.tensor([[math.nan]]), 1.0)
    with pytest.raises(ShapeError):
        rational_norm_at_most(torch.zeros(2), 1.0)


SIZES = [(1, 1), (1, 4), (2, 2), (3, 5), (8, 8), (16, 16)]


def matrices(m: int, n: int, count: int = 6) -> Tensor:
    """Gaussian, orthogonal, rank-one, graded, integer and sparse matrices."""
    draw = torch.Generator().manual_seed(100 * m + n)
    kinds = []
    for _ in range(count):
        G = torch.randn(m, n, dtype=torch.float64, generator=draw)
        left, _, right = torch.linalg.svd(G, full_matrices=False)
        grades = torch.logspace(0, -30, n, dtype=torch.float64)
        sparse = torch.where(torch.rand(m, n, generator=draw) < 0.3, G, 0.0)
        kinds += [G, left @ right, G[:, :1] @ G[:1], G * grades, (3 * G).round(), sparse]
    return torch.stack(kinds)


def sound(W: Tensor, bounds: Tensor) -> list[bool]:
    """True if each bound is at least the norm, decided in rationals."""
    return [rational_norm_at_most(w, s) for w, s in zip(W, bounds.tolist(), strict=True)]


@pytest.mark.parametrize(("m", "n"), SIZES)
def test_sound_and_tight(m: int, n: int) -> None:
    """The bound is never below the norm and above it by 0.7 (m+4)(n+1) u at most."""
    W = matrices(m, n, count=1 if n == 16 else 6)
    bounds = certified_norm(W)
    assert all(sound(W, bounds))
    tightness = 0.7 * (max(m, n) + 4) * (min(m, n) + 1) * 2.0**-53
    assert not any(sound(W[bounds > 0], bounds[bounds > 0] * (1 - tightness)))


ENTRIES = st.floats(-(2.0**1000), 2.0**1000) | st.sampled_from([0.0, 1.0, -1.0, 2.0**-1074])


@settings(max_examples=60)
@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(ENTRIES, min_size=n, max_size=n), min_size=1, max_size=4)
    )
)
def test_never_below_the_norm(rows: list[list[float]]) -> None:
    """Whatever floats a matrix has, decided in rationals; and so is what the gate passes below."""
    W = torch.tensor([rows], dtype=torch.float64)
    bound = certified_norm(W)
    assert bound.isinf().all() or all(sound(W, bound))
    less = bound * (1 - 2.0**-30)
    assert not is_norm_below(W, less).any() or all(sound(W, less))


@pytest.mark.parametrize("exponent", [-1060, -540, 500, 1000])
def test_any_scale(exponent: int) -> None:
    """Tiny, subnormal and huge matrices are certified as tightly."""
    W = matrices(4, 4, count=2) / 64
    for factor in (exponent // 2, exponent - exponent // 2):
        W = W * 2.0**factor
    bounds = certified_norm(W)
    assert all(sound(W, bounds))
    if exponent > -1000:
        assert not any(sound(W[bounds > 0], bounds[bounds > 0] * (1 - 1e-13)))


def test_not_finite() -> None:
    """NaN and infinity give the bound infinity, without harm to the rest of the batch; bounds carry
    no gradient, and a single matrix must be put into a batch."""
    W = matrices(3, 3, count=1)
    clean = certified_norm(W.clone().requires_grad_())
    assert not clean.requires_grad
    W[0, 1, 1], W[2, 0, 2] = math.nan, math.inf
    bounds = certified_norm(W)
    assert bounds[0] == bounds[2] == math.inf
    assert torch.equal(bounds[3:], clean[3:])
    assert not is_norm_below(W, torch.full((len(W),), 100.0, dtype=torch.float64))[[0, 2]].any()
    with pytest.raises(ShapeError):
        certified_norm(W[0])


@pytest.mark.parametrize("n", [1, 4, 40, 150])
def test_gate(n: int) -> None:
    """The gate passes just above the norm and never at it, its predecessor, or for nonsense."""
    draw = torch.Generator().manual_seed(n)
    W = torch.zeros(3, n, n, dtype=torch.float64)
    W[:, torch.arange(n), torch.randperm(n, generator=draw)] = 0.75  # of norm 3/4 exactly
    ones = torch.ones(3, dtype=torch.float64)
    assert is_norm_below(W, 0.75 * ones * (1 + 1e-10)).all()
    for s in (0.75, math.nextafter(0.75, 0), 0.5, 0.0, -1.0, math.nan):
        assert not is_norm_below(W, s * ones).any()


@pytest.mark.parametrize("scale", [2.0**-1070, 2.0**-538, 2.0**390, 2.0**1000])
def test_gate_at_any_scale(scale: float) -> None:
    """The gate neither passes what underflow hides nor stops at what would overflow."""
    W = scale * torch.tensor([[[3.0, 1.0], [1.0, 2.0]]], dtype=torch.float64)
    for factor in (3.0, 3.5, 3.6, 3.7, 4.0):
        s = torch.tensor([factor * scale], dtype=torch.float64)
        assert is_norm_below(W, s).item() == rational_norm_at_most(W[0], s.item())


def test_gate_is_sound_around_the_norm() -> None:
    """Whatever the gate passes in steps of one unit around the norm is true."""
    for W in matrices(5, 5, count=2):
        estimate = torch.linalg.matrix_norm(W, 2).item()
        steps = estimate * (1 + torch.arange(-40, 200, 4, dtype=torch.float64) * 2.0**-53)
        passed = is_norm_below(W.expand(len(steps), -1, -1), steps)
        assert all(sound(W.expand(len(steps), -1, -1)[passed], steps[passed]))


def test_fallback(monkeypatch: pytest.MonkeyPatch) -> None:
    """If no factorisation completes, the Frobenius or Schur bound stands in, soundly."""
    monkeypatch.setattr(norm_module, "_factorises", lambda gram, square, c: square < 0)
    W = matrices(4, 4, count=2)
    bounds = certified_norm(W)
    assert all(sound(W, bounds))
    torch.testing.assert_close(bounds, frobenius_bound(W), rtol=1e-14, atol=0)
