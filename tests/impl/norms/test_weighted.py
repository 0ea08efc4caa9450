"""Weighted norms, their inverses and duals, decided in rationals and balls."""

import math
from fractions import Fraction

import pytest
import torch
from draws import doubles, normal
from flint import arb_mat, ctx, fmpz_mat
from torch import Tensor

from rnnbounds.impl.cells.vanilla import norm_data_of
from rnnbounds.impl.norms.metric import METRIC_SDP, available_norms
from rnnbounds.impl.norms.norm_data import NormData
from rnnbounds.impl.norms.readout_norms import WeightedMaximumDual, absolute_difference
from rnnbounds.impl.norms.state_norms import NORMS, state_norm
from rnnbounds.impl.norms.weighted import (
    certified_inverse,
    diagonal_scaling,
    perron_vector,
    quadratic_norm,
)
from rnnbounds.impl.numbers.outward import UNIT, gamma
from rnnbounds.impl.numbers.spectra.exact_norm import ball_norm, positive_semidefinite
from rnnbounds.impl.numbers.spectra.spectral_norm import certified_norm
from rnnbounds.impl.reading.adapters import load_model


def systems() -> Tensor:
    """Gaussian, skewed, triangular, non-negative, rotating, nilpotent and zero matrices, n = 4."""
    G = normal(4, 4, 4)
    skew = torch.tensor([1.0, 30.0, 0.01, 5.0], dtype=torch.float64)
    zero = torch.zeros(4, 4, dtype=torch.float64)
    nilpotent = zero.clone()
    nilpotent[:2, :2] = torch.tensor([[2.0, 4.0], [-1.0, -2.0]])
    kinds = [G[0] / 4, skew[:, None] * G[1] / skew / 4, G[2].triu(1) * 9, G[3].abs() / 9]
    return torch.stack([*kinds, torch.linalg.qr(G[0])[0] * 0.75, nilpotent, zero])


def gram_gap(Q: Tensor, W: Tensor, factor: float) -> fmpz_mat:
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
    return fmpz_mat([[int(v * scale) for v in row] for row in gap])


@pytest.mark.parametrize("find", [quadratic_norm, diagonal_scaling])
def test_factor_and_condition_are_certified(find: object) -> None:
    """‖QWQ⁻¹‖₂ ≤ factor for the exact float weights, decided in rationals, and hardly less;
    ‖Q‖₂‖Q⁻¹‖₂ ≤ condition, found in balls, and nearly equal."""
    W = systems()
    found = find(W)  # type: ignore[operator]
    for w, Q, factor in zip(W, found.weights, found.factor.tolist(), strict=True):
        assert positive_semidefinite(gram_gap(Q, w, factor))
        if factor > 0:  # and not much smaller: the check can fail
            assert not positive_semidefinite(gram_gap(Q, w, 0.999 * factor))
    with ctx.workprec(200):
        for Q, condition in zip(found.weights, found.condition.tolist(), strict=True):
            exact = ball_norm(Q) * ball_norm(arb_mat(Q.tolist()).inv())
            assert exact <= condition <= float(exact) * (1 + 1e-8)


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
    """max_i (|W| v)_i/v_i of a thousand matrices, in rationals: at least, and hardly more; near
    the spectral radius of |W|."""
    draw = torch.Generator().manual_seed(5)
    for W in (systems(), torch.randn(1000, 2, 2, dtype=torch.float64, generator=draw)):
        found = perron_vector(W)
        radius = torch.linalg.eigvals(W.abs()).abs().amax(1)
        assert (found.factor <= radius + 5e-3 * certified_norm(W)).all()
        numbers = zip(W.tolist(), found.weights.tolist(), found.factor.tolist(), strict=True)
        for rows, weights, factor in numbers:
            v = [*map(Fraction, weights)]
            assert all(a > 0 for a in v)
            moved = (sum(abs(Fraction(w)) * b for w, b in zip(row, v, strict=True)) for row in rows)
            exact = max(size / a for size, a in zip(moved, v, strict=True))
            assert exact <= Fraction(factor) <= exact * (1 + Fraction(1, 2**50))
        assert (found.condition >= 1).all()
    assert perron_vector(torch.full((1, 2, 2), math.nan).double()).factor.item() == math.inf


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


def test_biases_are_added_in_balls():
    """1 + 2⁻⁶⁰ rounds to 1 in float64, but the offset of the exact model is above it."""
    weights = {
        "weight_hh": torch.zeros(1, 1, dtype=torch.float64),
        "weight_ih": torch.zeros(1, 1, dtype=torch.float64),
        "bias_ih": torch.ones(1, dtype=torch.float64),
        "bias_hh": torch.full((1,), 2.0**-60, dtype=torch.float64),
    }
    model = load_model(weights, "linear")
    assert float(model.cell.b) == 1.0
    assert float(norm_data_of(model, 0.0).offset) > 1.0


def test_norms_at_their_ends():
    """A scalar dyadic model has exactly its constants, in every norm; weights that overflow give
    infinite bounds, never NaN."""
    weights = {"weight_hh": torch.tensor([[0.5]]), "weight_ih": torch.tensor([[2.0]])}
    for name in available_norms(NORMS, 1):
        norm = state_norm(name, norm_data_of(load_model(weights, "linear"), 1.0))
        off = {"quadratic": 2e-15, METRIC_SDP: 1e-6}.get(name, 0)
        assert math.isclose(norm.lam, 0.5, rel_tol=off)
        assert math.isclose(norm.drive * norm.equivalence, 2.0, rel_tol=1e-12)
    huge = torch.full((3, 3), 1e308, dtype=torch.float64)
    for name in NORMS:
        norm = state_norm(name, NormData(huge[None], huge, huge[0], 1.0, 1e10))
        assert norm.lam > 1e300
        assert norm.drive > 1e300
        assert not math.isnan(norm.equivalence)


COUNT = 4096  # of numbers, so that every rounding goes the wrong way in some
c, w = normal(COUNT, 1, 1, seed=1), normal(COUNT, 1, 1, seed=2)
v = normal(COUNT, 1, seed=3).abs()


def exactly(x: torch.Tensor) -> list[Fraction]:
    """Rationals."""
    return [Fraction(one) for one in x.flatten().tolist()]


def at_least(found: torch.Tensor, wanted: list[Fraction]) -> bool:
    """True if all are at least what is wanted, within four units in the last place."""
    pairs = zip(exactly(found), wanted, strict=True)
    return all(right <= left <= right * (1 + Fraction(1, 2**50)) for left, right in pairs)


def test_the_dual_of_a_weighted_maximum() -> None:
    """√(v c² v) is |c| v for one unit, and v|c − w| the distance of two rows."""
    dual, one = WeightedMaximumDual(v), exactly(v)
    sizes = [abs(a) * b for a, b in zip(exactly(c), one, strict=True)]
    assert at_least(dual.operator(c), sizes)
    apart = [abs(a - b) for a, b in zip(exactly(c), exactly(w), strict=True)]
    assert at_least(absolute_difference(c, w), apart)
    assert at_least(dual.distance(c, w), [a * b for a, b in zip(apart, one, strict=True)])


def test_mixed_signs_are_bounded_by_the_matrix_of_moduli() -> None:
    """√(vᵀ|CᵀC|v) is 3 for C = (1, −2) and v of ones."""
    C, ones = torch.tensor([[[1.0, -2.0]]]).double(), torch.ones(1, 2).double()
    assert float(WeightedMaximumDual(ones).operator(C)) == 3.0


def test_norm_is_certified() -> None:
    """‖Q⁻¹‖₂ in balls is below the bound, and close to it."""
    Q = normal(6, 5, 5)
    with ctx.workprec(200):
        for M, bound in zip(Q, certified_inverse(Q).norm.tolist(), strict=True):
            exact = ball_norm(arb_mat(M.tolist()).inv())
            assert exact <= bound
            assert bound <= float(exact) * (1 + 1e-8)


def test_singular_matrices() -> None:
    """A matrix that may be singular has no certified inverse."""
    nearly = [[1.0, 1.0], [1.0, 1.0 + 2.0**-52]]
    broken = [[math.nan, 0.0], [0.0, 1.0]]
    Q = torch.tensor([[[0.0, 0.0], [0.0, 0.0]], nearly, broken], dtype=torch.float64)
    found = certified_inverse(Q)
    assert found.norm.tolist() == [math.inf] * 3
    assert found.room.tolist() == [0.0] * 3
    quarter = torch.eye(2, dtype=torch.float64)[None] / 4
    assert certified_inverse(quarter).norm.item() == pytest.approx(4.0)


@pytest.mark.parametrize("seed", range(20))
def test_an_inaccurate_inverse(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Whatever X a library returns: the room of Q = 1 is at most X, ‖Q⁻¹‖ ≤ X/room at least 1, and
    |X − 1|, which is rounded itself, counts four roundings more beside those of QX."""
    draw = torch.Generator().manual_seed(seed)
    X = torch.rand(50, 1, 1, dtype=torch.float64, generator=draw) * 10.0 ** -(seed % 8)
    monkeypatch.setattr(torch.linalg, "inv_ex", lambda Q: (X, torch.zeros(len(Q))))
    found = certified_inverse(torch.ones_like(X))
    assert bool((found.norm >= 1).all())
    for x, room in zip(X.flatten().tolist(), found.room.tolist(), strict=True):
        residual = Fraction(abs(x - 1.0)) * (1 + 4 * Fraction(UNIT)) + Fraction(
            gamma(2)
        ) * Fraction(x)
        assert Fraction(room) <= max(Fraction(0), min(Fraction(x), 1 - residual))
