import math
from fractions import Fraction

import pytest
import torch
from draws import normal
from flint import arb_mat, ctx

from rnnbounds.impl.norms.weighted import certified_inverse
from rnnbounds.impl.numbers.outward import UNIT, gamma
from rnnbounds.impl.numbers.spectra.exact_norm import ball_norm


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
