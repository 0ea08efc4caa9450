import math

import pytest
import torch
from flint import arb_mat, ctx

from impl.numbers.spectra.exact_norm import ball_norm
from impl.numbers.spectra.inverse import certified_inverse


def test_norm_is_certified() -> None:
    """‖Q⁻¹‖₂ in balls is below the bound, and close to it."""
    draw = torch.Generator().manual_seed(0)
    Q = torch.randn(6, 5, 5, dtype=torch.float64, generator=draw)
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
