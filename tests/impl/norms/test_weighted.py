import math
from fractions import Fraction

import pytest
import torch
from draws import doubles, normal
from flint import arb_mat, ctx
from torch import Tensor

from rnnbounds.impl.norms.weighted import diagonal_scaling, perron_vector, quadratic_norm
from rnnbounds.impl.numbers.spectra.exact_norm import ball_norm, positive_semidefinite
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm


def systems() -> Tensor:
    """Gaussian, skewed, triangular, non-negative, rotating, nilpotent and zero matrices, n = 4."""
    G = normal(4, 4, 4)
    skew = torch.tensor([1.0, 30.0, 0.01, 5.0], dtype=torch.float64)
    zero = torch.zeros(4, 4, dtype=torch.float64)
    nilpotent = zero.clone()
    nilpotent[:2, :2] = torch.tensor([[2.0, 4.0], [-1.0, -2.0]])
    kinds = [G[0] / 4, skew[:, None] * G[1] / skew / 4, G[2].triu(1) * 9, G[3].abs() / 9]
    return torch.stack([*kinds, torch.linalg.qr(G[0])[0] * 0.75, nilpotent, zero])


def gram_gap(Q: Tensor, W: Tensor, factor: float) -> list[list[int]]:
    """(s²QᵀQ − WᵀQᵀQW) in exact integers, times a common denominator."""
    q, w = ([[Fraction(v) for v in row] for row in M.tolist()] for M in (Q, W))

    def product(a: list[list[Fraction]], b: list[list[Fraction]]) -> list[list[Fraction]]:
        return [[sum(map(Fraction.__mul__, row, col)) for col in zip(*b, strict=True)] for row in a]

    def gram(a: list[list[Fraction]]) -> list[list[Fraction]]:
        return product([list(col) for col in zip(*a, strict=True)], a)

    left, right = gram(q), gram(product(q, w))
    gap = [
        [Fraction(factor) ** 2 * a - b for a, b in zip(x, y, strict=True)]
        for x, y in zip(left, right, strict=True)
    ]
    scale = math.lcm(*(v.denominator for row in gap for v in row))
    return [[int(v * scale) for v in row] for row in gap]


@pytest.mark.parametrize("find", [quadratic_norm, diagonal_scaling])
def test_factor_is_certified(find: object) -> None:
    """‖QWQ⁻¹‖₂ ≤ factor for the exact float weights, decided in rationals."""
    W = systems()
    found = find(W)  # type: ignore[operator]
    for w, Q, factor in zip(W, found.weights, found.factor.tolist(), strict=True):
        assert positive_semidefinite(gram_gap(Q, w, factor))
        if factor > 0:  # and not much smaller: the check can fail
            assert not positive_semidefinite(gram_gap(Q, w, 0.999 * factor))


@pytest.mark.parametrize("find", [quadratic_norm, diagonal_scaling])
def test_condition_is_certified(find: object) -> None:
    """‖Q‖₂‖Q⁻¹‖₂ ≤ condition, found in balls, and nearly equal."""
    found = find(systems())  # type: ignore[operator]
    with ctx.workprec(200):
        for Q, condition in zip(found.weights, found.condition.tolist(), strict=True):
            exact = ball_norm(Q) * ball_norm(arb_mat(Q.tolist()).inv())
            assert exact <= condition
            assert condition <= float(exact) * (1 + 1e-8)


def test_quadratic_norm_contracts() -> None:
    """Every system of spectral radius below 1 contracts in the quadratic norm found for it."""
    W = systems()
    radius = torch.linalg.eigvals(W).abs().amax(1)
    factor = quadratic_norm(W).factor
    assert (factor < 1).all()
    assert (factor >= radius - 1e-12).all()
    assert (factor <= (1 + radius) / 2).all()


def test_quadratic_norm_fails_closed() -> None:
    """No factor where the spectral radius is 1 or more, or the matrix is not finite."""
    W = torch.stack([torch.eye(2), 2 * torch.eye(2), torch.full((2, 2), math.nan)]).double()
    found = quadratic_norm(torch.cat([W, 0.5 * torch.eye(2, dtype=torch.float64)[None]]))
    assert found.factor[:3].tolist() == [math.inf] * 3
    assert found.factor[3].item() == pytest.approx(0.5, rel=1e-13)
    assert not torch.isnan(found.weights).any()


def test_perron_vector() -> None:
    """(|W| v)_i ≤ factor v_i in exact rationals, and close to the spectral radius of |W|."""
    W = systems()
    found = perron_vector(W)
    radius = torch.linalg.eigvals(W.abs()).abs().amax(1)
    assert (found.factor <= radius + 5e-3 * certified_norm(W)).all()
    for w, v, factor in zip(W, found.weights, found.factor.tolist(), strict=True):
        weights = [Fraction(x) for x in v.tolist()]
        assert all(x > 0 for x in weights)
        ratios = []
        for row, own in zip(w.tolist(), weights, strict=True):
            total = sum(abs(Fraction(x)) * y for x, y in zip(row, weights, strict=True))
            ratios.append(total / own)
        assert max(ratios) <= Fraction(factor)
        assert Fraction(factor) <= max(ratios) * Fraction(1 + 1e-12)
    assert perron_vector(torch.full((1, 2, 2), math.nan).double()).factor.item() == math.inf
    assert (found.condition >= 1).all()


def test_weighted_norms_outlive_lapack(monkeypatch: pytest.MonkeyPatch) -> None:
    """If LAPACK does not converge on one matrix, that one is not certified; the others are."""
    W = doubles([[[0.5, 4.0], [0.0, 0.5]], [[7.0, 1.0], [0.0, 0.5]]])

    def failing(A: Tensor, before: object) -> object:
        if (A[:, 0, 0] == 7).any():
            raise torch.linalg.LinAlgError("does not converge")
        return before(A)  # type: ignore[operator]

    plain = quadratic_norm(W[:1]), diagonal_scaling(W[:1])
    for name in ("eigvals", "svd"):
        before = getattr(torch.linalg, name)
        monkeypatch.setattr(torch.linalg, name, lambda A, before=before: failing(A, before))
    quadratic, diagonal = quadratic_norm(W), diagonal_scaling(W)
    torch.testing.assert_close(quadratic.factor[0], plain[0].factor[0], rtol=1e-12, atol=0)
    assert quadratic.factor[1] == torch.inf
    torch.testing.assert_close(diagonal.factor[0], plain[1].factor[0], rtol=1e-12, atol=0)
    assert torch.equal(diagonal.weights[1], torch.eye(2, dtype=torch.float64))
    assert diagonal.factor[1] >= 7


def test_perron_factors_are_rounded_up() -> None:
    """max_i (|W| v)_i/v_i of 1,000 matrices, in rationals: at least, and hardly more."""
    W = torch.randn(1000, 2, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
    found = perron_vector(W)
    numbers = zip(W.tolist(), found.weights.tolist(), found.factor.tolist(), strict=True)
    for rows, weights, factor in numbers:
        v = [*map(Fraction, weights)]
        moved = (sum(abs(Fraction(w)) * b for w, b in zip(row, v, strict=True)) for row in rows)
        exact = max(size / a for size, a in zip(moved, v, strict=True))
        assert exact <= Fraction(factor) <= exact * (1 + Fraction(1, 2**50))
